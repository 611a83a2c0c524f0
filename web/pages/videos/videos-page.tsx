import { useCallback, useMemo, useState } from 'react';
import styled from 'styled-components';
import type { VideoDto } from '#common/api/videos.ts';
import { planAllows } from '#common/plans.ts';
import { NoteLine } from '../../components/note-line.tsx';
import { StaleNote } from '../../components/stale-note.tsx';
import { BackLink } from '../../components/back-link.tsx';
import { Button, ButtonLink } from '../../components/button.tsx';
import { PageHeading, PageMain } from '../../components/page.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { ThreadStrip } from '../../components/thread-strip.tsx';
import { PLAIN_ARRANGEMENT, useArrangement } from '../../data/videos/arrange-videos.ts';
import { useLoadMore } from '../../data/paged.ts';
import { useSession } from '../../data/account/session.ts';
import { useDrafts } from '../../data/videos/drafts.ts';
import { useStats } from '../../data/videos/stats.ts';
import { useVideos } from '../../data/videos/videos.ts';
import { ConnectionLine } from '../../panels/connection-line.tsx';
import { videoTexts } from '../../texts/videos.ts';
import { colour, figures, radius, screen, space, text } from '../../theme.ts';
import { LibraryToolbar } from './library-toolbar.tsx';
import { SelectionBar } from './selection-bar.tsx';
import { VideoGrid } from './video-grid.tsx';

const { library: texts } = videoTexts;

const Page = styled(PageMain)`
  display: grid;
  align-content: start;
  gap: ${space(2)};
  ${screen.tablet} {
    gap: ${space(3)};
  }
`;
const Head = styled.header`
  display: flex;
  flex-wrap: wrap;
  align-items: end;
  justify-content: space-between;
  gap: ${space(2, 4)};
  p {
    margin-top: ${space(1)};
    color: ${colour.inkSoft};
  }
  /* A phone has room either for the clips or for the introduction. */
  ${screen.belowTablet} {
    gap: ${space(1)};
    p {
      display: none;
    }
  }
`;
const Stats = styled.dl`
  display: grid;
  grid-template-columns: repeat(3, auto);
  gap: ${space(1, 4)};
  dt {
    font-size: ${text.s};
    color: ${colour.inkSoft};
  }
  dd {
    ${figures}
    min-width: 3ch;
    height: 1.5em;
    font-size: ${text.xxl};
    font-weight: 600;
  }
  ${screen.belowTablet} {
    gap: ${space(2.5)};
    & > div {
      display: flex;
      align-items: baseline;
      gap: ${space(0.75)};
    }
    dd {
      min-width: 1ch;
      font-size: ${text.m};
    }
  }
`;
const Banner = styled.aside`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(1.5, 3)};
  padding: ${space(2, 3)};
  border: 2px dashed ${colour.chalk};
  border-radius: ${radius.m};
  div {
    flex: 1 1 280px;
  }
  h2 {
    font-size: ${text.l};
  }
  p {
    color: ${colour.inkSoft};
  }
  ${screen.belowTablet} {
    padding: ${space(1, 1.5)};
    div {
      flex: 1 1 130px;
    }
    h2 {
      font-size: ${text.m};
    }
    p {
      display: none;
    }
  }
`;
const Empty = styled.div`
  display: grid;
  place-content: center;
  justify-items: center;
  gap: ${space(2)};
  min-height: 46vh;
  text-align: center;
  & > div {
    width: min(360px, 70vw);
    --strip-ground: ${colour.cloth};
  }
  p {
    color: ${colour.inkSoft};
    max-width: 44ch;
  }
`;
const Stale = styled.p`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(1)};
  color: ${colour.defect};
`;

const TORN = [
  { id: 'gap', kind: 'dropped_frames', startMs: 38, endMs: 60, outcome: 'left_alone', label: '' },
] as const;

interface StatCardsProps {
  readonly videos: readonly VideoDto[] | undefined;
  /** Whether this list is complete: no search, no filter, nothing left to load. */
  readonly all: boolean;
}

/** Counts of the whole library: from the list if it is complete, else from the server. */
function StatCards({ videos, all }: StatCardsProps) {
  const told = useStats().data;
  const stats = all ? undefined : told;
  const count = (status: string): number => videos?.filter((video) => video.status === status).length ?? 0;
  const cards = [
    { title: texts.stats.total, value: stats?.videosTotal ?? videos?.length ?? 0 },
    { title: texts.stats.completed, value: stats?.videosProcessed ?? count('completed') },
    { title: texts.stats.processing, value: stats?.videosProcessing ?? count('processing') },
  ];
  return (
    <Stats>
      {cards.map(({ title, value }) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd>{videos || stats ? value : <Skeleton $width="2ch" />}</dd>
        </div>
      ))}
    </Stats>
  );
}

/** End of the newest backup of each video, by video id. */
function useBackups(): ReadonlyMap<string, string> {
  const { data: drafts } = useDrafts('library');
  return useMemo(
    () =>
      new Map(
        drafts
          ?.toReversed()
          .flatMap(({ videoId, expiresAt }) => (expiresAt === null ? [] : [[videoId, expiresAt] as const])),
      ),
    [drafts],
  );
}

/** The library: all videos of the account with all their actions. */
export function VideosPage() {
  const { user } = useSession();
  const list = useVideos('library');
  const { data: videos, isError, refetch, hasNextPage, isFetchingNextPage } = list;
  const { arrangement, arrange, chosen: searching } = useArrangement();
  const loadMore = useLoadMore(list);
  const backups = useBackups();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const reachEnd = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void loadMore();
  }, [hasNextPage, isFetchingNextPage, loadMore]);
  const chosen = (videos ?? []).filter(({ id }) => selected.has(id));
  const toggle = useCallback((id: string): void => {
    setSelected((known) => {
      const next = new Set(known);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  }, []);
  const aiTools = user !== null && planAllows(user.plan, 'ai_tools');
  return (
    <Page>
      <div>
        <NoteLine>
          <BackLink to="/">{texts.back}</BackLink>
          {isError && videos && <StaleNote onRetry={() => void refetch()} />}
        </NoteLine>
        <Head>
          <div>
            <PageHeading title={texts.title}>{texts.title}</PageHeading>
            <p>{texts.lead}</p>
          </div>
          <StatCards videos={videos} all={!hasNextPage && !searching} />
        </Head>
      </div>
      {!aiTools && (
        <Banner>
          <div>
            <h2>{texts.bannerTitle}</h2>
            <p>{texts.bannerText}</p>
          </div>
          <ButtonLink to="/upgrade" look="secondary">
            {texts.bannerAction}
          </ButtonLink>
        </Banner>
      )}
      {isError && !videos && (
        <Stale role="status">
          {texts.loadFailed}
          <Button size="s" look="quiet" icon="retry" onClick={() => void refetch()}>
            {texts.retry}
          </Button>
        </Stale>
      )}
      {!videos && !isError && <p role="status">{texts.loading}</p>}
      {videos?.length === 0 && !searching && (
        <Empty>
          <div>
            <ThreadStrip marks={TORN} durationMs={100} size="l" />
          </div>
          <h2>{texts.emptyTitle}</h2>
          <p>{texts.emptyText}</p>
          <ButtonLink to="/" icon="upload">
            {texts.emptyAction}
          </ButtonLink>
        </Empty>
      )}
      {videos !== undefined && (videos.length > 0 || searching) && (
        <div>
          <Tools>
            <LibraryToolbar arrangement={arrangement} onArrange={arrange} />
            <ConnectionLine />
          </Tools>
          {videos.length === 0 ? (
            <Empty>
              <h2>{texts.noMatchTitle}</h2>
              <p>{texts.noMatchText}</p>
              <Button look="secondary" onClick={() => arrange(PLAIN_ARRANGEMENT)}>
                {texts.clearFilters}
              </Button>
            </Empty>
          ) : (
            <VideoGrid
              videos={videos}
              backups={backups}
              aiTools={aiTools}
              selected={selected}
              onSelect={toggle}
              onReachEnd={reachEnd}
            />
          )}
          {hasNextPage && (
            <More>
              <Button look="secondary" disabled={isFetchingNextPage} onClick={() => void loadMore()}>
                {isFetchingNextPage ? texts.loadingMore : texts.more}
              </Button>
            </More>
          )}
          {chosen.length > 0 && <SelectionBar videos={chosen} onClear={() => setSelected(new Set())} />}
        </div>
      )}
    </Page>
  );
}

const More = styled.div`
  display: grid;
  justify-items: center;
  margin-top: ${space(2)};
`;
const Tools = styled.div`
  display: grid;
  gap: ${space(1)};
  margin-bottom: ${space(2)};
  ${screen.desktop} {
    display: flex;
    align-items: center;
    justify-content: space-between;
  }
`;
