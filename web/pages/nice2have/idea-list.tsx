import { useState } from 'react';
import styled from 'styled-components';
import type { IdeaDto } from '#common/api/ideas.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { useIdeas } from '../../data/ideas.ts';
import { ideaTexts } from '../../texts/ideas.ts';
import { colour, radius, space, text } from '../../theme.ts';
import { IdeaCard } from './idea-card.tsx';

const { list: texts } = ideaTexts;
const PAGE = 50;
type Sort = keyof typeof texts.sorts;
const SORTS: readonly Sort[] = ['wanted', 'newest', 'mine'];

const Head = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  justify-content: space-between;
  gap: ${space(1)};
  h2 {
    font-size: ${text.xl};
  }
`;
const Filters = styled.div`
  display: flex;
  flex-wrap: wrap;
  gap: ${space(1, 2)};
  margin-top: ${space(2)};
  label {
    display: flex;
    align-items: center;
    gap: ${space(1)};
    font-size: ${text.s};
    color: ${colour.inkSoft};
  }
  select {
    min-height: 40px;
    padding: 0 ${space(1)};
    border: 1px solid ${colour.lineStrong};
    border-radius: ${radius.s};
    background: ${colour.cloth};
  }
`;
const Quiet = styled.div`
  display: grid;
  justify-items: center;
  gap: ${space(1)};
  padding: ${space(5, 2)};
  color: ${colour.inkSoft};
  text-align: center;
`;
const Stale = styled.p`
  display: flex;
  align-items: center;
  gap: ${space(1)};
  margin-top: ${space(1)};
  color: ${colour.warn};
  font-size: ${text.s};
`;

/** The ideas as chosen: most wanted and newest of all, or one's own. */
export function sortIdeas(ideas: readonly IdeaDto[], sort: Sort, status: string): IdeaDto[] {
  const shown = ideas.filter(
    (idea) => (sort !== 'mine' || idea.mine) && (status === '' || (idea.status ?? '') === status),
  );
  const newest = (a: IdeaDto, b: IdeaDto): number => b.createdAt.localeCompare(a.createdAt);
  return shown.sort(sort === 'wanted' ? (a, b) => b.votes - a.votes || newest(a, b) : newest);
}

/** Middle column: count, filters, the list and its quiet states. */
export function IdeaList() {
  const { data, isError, isPending, refetch } = useIdeas();
  const [sort, setSort] = useState<Sort>('wanted');
  const [status, setStatus] = useState('');
  const [shown, setShown] = useState(PAGE);
  const ideas = data ?? [];
  const statuses = [...new Set(ideas.flatMap((idea) => (idea.status ? [idea.status] : [])))].sort();
  const sorted = sortIdeas(ideas, sort, status);
  return (
    <Card>
      <Head>
        <h2>{texts.title}</h2>
        <Badge>{texts.count(ideas.length)}</Badge>
      </Head>
      {isError && (
        <Stale role="status">
          {texts.refreshFailed}
          <Button look="secondary" size="s" icon="retry" onClick={() => void refetch()}>
            {texts.retry}
          </Button>
        </Stale>
      )}
      {ideas.length > 0 && (
        <Filters>
          <label>
            {texts.sort}
            <select
              value={sort}
              onChange={(event) => setSort(SORTS.find((name) => name === event.target.value) ?? 'wanted')}
            >
              {SORTS.map((name) => (
                <option key={name} value={name}>
                  {texts.sorts[name]}
                </option>
              ))}
            </select>
          </label>
          {statuses.length > 0 && (
            <label>
              {texts.status}
              <select value={status} onChange={(event) => setStatus(event.target.value)}>
                <option value="">{texts.allStatuses}</option>
                {statuses.map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            </label>
          )}
        </Filters>
      )}
      {isPending && <Quiet>{texts.loading}</Quiet>}
      {data?.length === 0 && (
        <Quiet>
          <strong>{texts.empty}</strong>
          {texts.emptyHint}
        </Quiet>
      )}
      {ideas.length > 0 && sorted.length === 0 && <Quiet>{texts.noMatch}</Quiet>}
      <ul>
        {sorted.slice(0, shown).map((idea) => (
          <IdeaCard key={idea.id} idea={idea} />
        ))}
      </ul>
      {sorted.length > shown && (
        <Button look="secondary" onClick={() => setShown(shown + PAGE)}>
          {texts.more(Math.min(PAGE, sorted.length - shown))}
        </Button>
      )}
    </Card>
  );
}
