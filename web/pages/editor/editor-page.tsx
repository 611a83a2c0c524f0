import { useParams, useSearchParams } from 'react-router-dom';
import styled from 'styled-components';
import type { VideoDto } from '#common/api/videos.ts';
import { BackLink } from '../../components/back-link.tsx';
import { Button, ButtonLink } from '../../components/button.tsx';
import { Icon } from '../../components/icons.tsx';
import { PageColumn, PageHeading, PageLead } from '../../components/page.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { useLoadMore } from '../../data/paged.ts';
import { useSession } from '../../data/account/session.ts';
import { useVideo } from '../../data/videos/video-by-id.ts';
import { useVideos } from '../../data/videos/videos.ts';
import { editorTexts as texts } from '../../texts/editor.ts';
import { failureOf } from '../../texts/failures.ts';
import { colour, radius, screen, space } from '../../theme.ts';
import { VideoChooser } from './video-chooser.tsx';
import { Workbench } from './workbench.tsx';

const Columns = styled.div`
  display: grid;
  grid-template-columns: minmax(0, 1fr);
  gap: ${space(3)};
  align-items: start;
  ${screen.desktop} {
    grid-template-columns: 300px minmax(0, 1fr);
  }
`;
const Quiet = styled.div`
  display: grid;
  justify-items: center;
  gap: ${space(1.5)};
  padding: ${space(8, 2)};
  border: 1px dashed ${colour.chalk};
  border-radius: ${radius.m};
  text-align: center;
`;
const Notice = styled.p`
  display: flex;
  gap: ${space(1)};
  padding: ${space(1.5)};
  border-radius: ${radius.s};
  background: ${colour.warnSoft};
  span {
    min-width: 0;
    overflow-wrap: anywhere;
  }
`;

function whyNot(video: VideoDto | null | undefined): string {
  if (!video) return texts.notFound;
  const name = video.originalFileName;
  if (video.status !== 'failed') return texts.notReady(name);
  return texts.cannotBe(name, failureOf(video).what);
}

/** Choose a completed video and work on it; an unknown or unfinished id shows the list again. */
export function EditorPage() {
  const { videoId } = useParams();
  const [search] = useSearchParams();
  const { user } = useSession();
  const list = useVideos('editor');
  const { data, isError, refetch, hasNextPage, isFetchingNextPage } = list;
  const loadMore = useLoadMore(list);
  const video = useVideo(videoId ?? '');
  const completed = (data ?? []).filter(({ status }) => status === 'completed');
  const chosen = video?.status === 'completed' ? video : null;
  const unfinished = chosen ? null : video;
  return (
    <PageColumn>
      <div>
        <BackLink to="/videos">{texts.back}</BackLink>
        <PageHeading title={texts.title}>{texts.title}</PageHeading>
        {!chosen && <PageLead>{texts.lead}</PageLead>}
      </div>
      {isError && !data && (
        <p role="alert">
          {texts.failed}{' '}
          <Button look="secondary" size="s" icon="retry" onClick={() => void refetch()}>
            {texts.retry}
          </Button>
        </p>
      )}
      {!data && !isError && (
        <div role="status">
          <p>{texts.loading}</p>
          <Skeleton $height="240px" />
        </div>
      )}
      {data && videoId !== undefined && video !== undefined && !chosen && (
        <Notice role="status">
          <Icon name="alert" />
          <span>{whyNot(unfinished)}</span>
        </Notice>
      )}
      {data && completed.length === 0 && !hasNextPage && (
        <Quiet>
          <Icon name="editor" size={36} />
          <strong>{texts.emptyTitle}</strong>
          <p>{texts.emptyText}</p>
          <ButtonLink to="/#upload">{texts.emptyAction}</ButtonLink>
        </Quiet>
      )}
      {(completed.length > 0 || hasNextPage) && (
        <Columns>
          <VideoChooser
            videos={completed}
            current={chosen?.id}
            more={
              hasNextPage && (
                <Button look="secondary" disabled={isFetchingNextPage} onClick={() => void loadMore()}>
                  {isFetchingNextPage ? texts.loadingMore : texts.more}
                </Button>
              )
            }
          />
          {chosen && user ? (
            <Workbench
              key={chosen.id}
              video={chosen}
              plan={user.plan}
              compare={search.get('view') === 'compare'}
            />
          ) : (
            <Quiet>
              <Icon name="film" size={36} />
              <p>{texts.pick}</p>
            </Quiet>
          )}
        </Columns>
      )}
    </PageColumn>
  );
}
