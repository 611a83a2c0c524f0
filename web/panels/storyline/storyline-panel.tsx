import { useEffect, useRef } from 'react';
import type { VideoDto } from '#common/api/videos.ts';
import { Button } from '../../components/button.tsx';
import { Icon, type IconName } from '../../components/icons.tsx';
import { ThreadProgress } from '../../components/thread-progress.tsx';
import { useAnalyzeStoryline, useStoryline } from '../../data/videos/storyline.ts';
import { useShowToast } from '../../data/toasts.ts';
import { resultMark } from '../../data/videos/videos.ts';
import { storylineTexts as texts } from '../../texts/storyline.ts';
import { Failure, Note, Panel, Reading, Unread } from '../panel-parts.tsx';
import { StorylineStory } from './storyline-story.tsx';

function Title({ icon, children }: { readonly icon: IconName; readonly children: string }) {
  return (
    <h3>
      <Icon name={icon} />
      {children}
    </h3>
  );
}

interface StorylinePanelProps {
  readonly video: VideoDto;
  /** Omitted if there is no player to jump in. */
  readonly onJump?: (ms: number) => void;
}

/** The storyline of a finished video: requested by a button, followed while it is made, then shown. */
export function StorylinePanel({ video, onJump }: StorylinePanelProps) {
  const version = resultMark(video);
  const { state, storyline } = useStoryline(video.id, version);
  const analyze = useAnalyzeStoryline(video.id, version);
  const showToast = useShowToast();
  // Without a state of the analysis, only the storyline decides what is shown.
  const stands = state.data?.state ?? (state.isError ? 'none' : undefined);
  const atWork = stands === 'waiting' || stands === 'working';
  // Announces only a failure that was awaited; an older one is shown in the panel.
  const waited = useRef(false);
  const message = state.data?.message ?? texts.failedDetail;
  useEffect(() => {
    if (waited.current && stands === 'failed')
      showToast({ title: texts.failed, description: message, tone: 'destructive' });
    waited.current = atWork;
  }, [stands, atWork, message, showToast]);
  const isCut = atWork && state.isError;
  // While an analysis is followed, the reading goes on by itself.
  const unread = !atWork && 'isError' in storyline && storyline.isError;
  const percent = state.data?.progress ?? 0;
  const reread = (): void => {
    void state.refetch();
    if ('refetch' in storyline) void storyline.refetch();
  };
  return (
    <Panel aria-label={texts.title}>
      <Title icon="film">{texts.title}</Title>
      <Note>{texts.note}</Note>
      {unread && (
        <Unread retry={texts.retry} onRetry={reread}>
          {texts.fetchFailed}
        </Unread>
      )}
      {!unread && !atWork && (storyline.data === undefined || stands === undefined) && (
        <Reading height="72px">{texts.loading}</Reading>
      )}
      {!unread && storyline.data === null && stands === 'none' && <p>{texts.none}</p>}
      {stands === 'failed' && (
        <Failure>
          {texts.failed}: {message}
        </Failure>
      )}
      {atWork && (
        <div>
          <p>{stands === 'working' ? texts.working(percent) : texts.waiting}</p>
          <ThreadProgress label={texts.progress} percent={percent} valueText={texts.working(percent)} />
          <Note role="status">{isCut ? texts.cut : ''}</Note>
        </div>
      )}
      {storyline.data && state.data?.earlier && <Note>{texts.earlier}</Note>}
      {storyline.data && <StorylineStory storyline={storyline.data} onJump={onJump} />}
      {!unread && stands !== undefined && storyline.data !== undefined && !atWork && (
        <div>
          <Button
            look={storyline.data ? 'secondary' : 'primary'}
            size="s"
            icon={storyline.data ? 'retry' : 'spark'}
            disabled={analyze.isPending}
            onClick={() => analyze.mutate()}
          >
            {storyline.data ? texts.again : texts.analyze}
          </Button>
        </div>
      )}
    </Panel>
  );
}
