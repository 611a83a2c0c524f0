import styled from 'styled-components';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { StaleNote } from '../../components/stale-note.tsx';
import { SelectBox } from '../../components/select-box.tsx';
import { type IdeaSort, useIdeaChoice, useIdeaCounts, useIdeas } from '../../data/ideas/ideas.ts';
import { useLoadMore } from '../../data/paged.ts';
import { ideaTexts } from '../../texts/ideas.ts';
import { colour, screen, space, text } from '../../theme.ts';
import { IdeaCard } from './idea-card.tsx';

const { list: texts } = ideaTexts;
const SORTS: readonly IdeaSort[] = ['wanted', 'newest', 'mine'];

const Head = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  justify-content: space-between;
  gap: ${space(0, 1)};
  h2 {
    font-size: ${text.xl};
  }
`;
/* As high as the note that replaces the count. */
const Beside = styled.div`
  display: flex;
  align-items: center;
  min-height: 36px;
  /* Aligns the heading with those of the other columns. */
  ${screen.desktop} {
    margin: -6px 0;
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
`;
const Quiet = styled.div`
  display: grid;
  justify-items: center;
  gap: ${space(1)};
  padding: ${space(5, 2)};
  color: ${colour.inkSoft};
  text-align: center;
`;
/** Middle column: count, filters, the list and its quiet states. */
export function IdeaList() {
  const list = useIdeas();
  const { data, isError, isPending, refetch, hasNextPage, isFetchingNextPage } = list;
  const loadMore = useLoadMore(list);
  const { choice, choose } = useIdeaChoice();
  const counts = useIdeaCounts();
  const ideas = data ?? [];
  const plain = choice.sort !== 'mine' && choice.status === '';
  const all = choice.status === '' && choice.sort !== 'mine' && !hasNextPage;
  const total = (all ? data?.length : undefined) ?? counts?.total ?? data?.length;
  const listed = ideas.flatMap((idea) => (idea.status ? [idea.status] : []));
  const statuses = counts?.statuses.map(({ status }) => status) ?? [...new Set(listed)].sort();
  return (
    <Card>
      <Head>
        <h2>{texts.title}</h2>
        <Beside>
          {isError ? (
            <StaleNote onRetry={() => void refetch()}>{texts.refreshFailed}</StaleNote>
          ) : (
            total !== undefined && <Badge>{texts.count(total)}</Badge>
          )}
        </Beside>
      </Head>
      {(ideas.length > 0 || !plain) && (
        <Filters>
          <label>
            {texts.sort}
            <SelectBox
              $heightPx={40}
              value={choice.sort}
              onChange={(event) =>
                choose({ ...choice, sort: SORTS.find((name) => name === event.target.value) ?? 'wanted' })
              }
            >
              {SORTS.map((name) => (
                <option key={name} value={name}>
                  {texts.sorts[name]}
                </option>
              ))}
            </SelectBox>
          </label>
          {statuses.length > 0 && (
            <label>
              {texts.status}
              <SelectBox
                $heightPx={40}
                value={choice.status}
                onChange={(event) => choose({ ...choice, status: event.target.value })}
              >
                <option value="">{texts.allStatuses}</option>
                {statuses.map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </SelectBox>
            </label>
          )}
        </Filters>
      )}
      {isPending && <Quiet>{texts.loading}</Quiet>}
      {data?.length === 0 && plain && (
        <Quiet>
          <strong>{texts.empty}</strong>
          <span>{texts.emptyHint}</span>
        </Quiet>
      )}
      {data?.length === 0 && !plain && <Quiet>{texts.noMatch}</Quiet>}
      <ul>
        {ideas.map((idea) => (
          <IdeaCard key={idea.id} idea={idea} />
        ))}
      </ul>
      {hasNextPage && (
        <Button look="secondary" disabled={isFetchingNextPage} onClick={() => void loadMore()}>
          {isFetchingNextPage ? texts.loadingMore : texts.more}
        </Button>
      )}
    </Card>
  );
}
