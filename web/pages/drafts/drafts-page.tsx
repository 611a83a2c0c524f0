import styled from 'styled-components';
import { NoteLine } from '../../components/note-line.tsx';
import { StaleNote } from '../../components/stale-note.tsx';
import { BackLink } from '../../components/back-link.tsx';
import { Button, ButtonLink } from '../../components/button.tsx';
import { Icon } from '../../components/icons.tsx';
import { PageColumn, PageHeading, PageLead } from '../../components/page.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { useDrafts } from '../../data/videos/drafts.ts';
import { useLoadMore } from '../../data/paged.ts';
import { draftTexts as texts } from '../../texts/drafts.ts';
import { colour, space } from '../../theme.ts';
import { DraftRow } from './draft-row.tsx';

const List = styled.ul`
  display: grid;
  gap: ${space(2)};
`;
const Quiet = styled.div`
  display: grid;
  justify-items: center;
  gap: ${space(1.5)};
  padding: ${space(8, 2)};
  text-align: center;
`;
const Stale = styled.p`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(1)};
  color: ${colour.warn};
`;

/** Cloud Backup: the untouched originals, how long they are kept, and how to restore them. */
export function DraftsPage() {
  const list = useDrafts('drafts');
  const { data, isError, isPending, refetch, hasNextPage, isFetchingNextPage } = list;
  const loadMore = useLoadMore(list);
  return (
    <PageColumn>
      <div>
        <NoteLine>
          <BackLink to="/videos">{texts.back}</BackLink>
          {isError && data && <StaleNote onRetry={() => void refetch()} />}
        </NoteLine>
        <PageHeading title={texts.title}>{texts.title}</PageHeading>
        <PageLead>{texts.lead}</PageLead>
      </div>
      {isError && !data && (
        <Stale role="status">
          {texts.failed}
          <Button look="secondary" size="s" icon="retry" onClick={() => void refetch()}>
            {texts.retry}
          </Button>
        </Stale>
      )}
      {isPending && (
        <div role="status">
          <p>{texts.loading}</p>
          <Skeleton $height="128px" />
        </div>
      )}
      {data?.length === 0 && (
        <Quiet>
          <Icon name="cloud" size={36} />
          <strong>{texts.emptyTitle}</strong>
          <p>{texts.emptyText}</p>
          <ButtonLink to="/#upload">{texts.emptyAction}</ButtonLink>
        </Quiet>
      )}
      <List>
        {(data ?? []).map((draft) => (
          <DraftRow key={draft.id} draft={draft} />
        ))}
      </List>
      {hasNextPage && (
        <Button look="secondary" disabled={isFetchingNextPage} onClick={() => void loadMore()}>
          {isFetchingNextPage ? texts.loadingMore : texts.more}
        </Button>
      )}
    </PageColumn>
  );
}
