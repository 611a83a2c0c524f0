import { type Ref, useEffect, useImperativeHandle, useRef, useState } from 'react';
import styled from 'styled-components';
import { buildPath } from '#common/api/endpoint.ts';
import { mediaPaths, type VideoDto } from '#common/api/videos.ts';
import type { RepairReport } from '#common/report.ts';
import { toResultMs } from '#common/time-axis.ts';
import { Choices } from '../components/choices.tsx';
import type { ComparisonHandle } from '../components/comparison/comparison-player.tsx';
import { marksOf } from '../components/defect-marks.ts';
import type { ThreadMark } from '../components/thread-strip.tsx';
import { type PlayerHandle, VideoPlayer } from '../components/video-player.tsx';
import { comparisonTexts as texts } from '../texts/comparison.ts';
import { space } from '../theme.ts';
import { ComparisonPanel } from './comparison-panel.tsx';

const Box = styled.div`
  display: grid;
  grid-template-columns: minmax(0, 1fr);
  gap: ${space(1.5)};
`;

const VIEWS = [
  { value: 'clip', label: texts.close },
  { value: 'compare', label: texts.open },
] as const;

/** `seek` takes ms of the original, as used in the report; the other functions use the clip being played. */
export interface StoredPlayerHandle extends PlayerHandle {
  seekResult(ms: number): void;
}

interface StoredVideoPlayerProps {
  readonly video: VideoDto;
  /** Its defects become marks on the timeline; undefined while it loads or if there is none. */
  readonly report: RepairReport | undefined;
  /** Revision and axis of the captions; when they change, the captions are loaded again. */
  readonly captionsMark?: string | undefined;
  /** Called with the position of the clip, ms, a few times a second while it plays. */
  readonly onTime?: ((ms: number) => void) | undefined;
  /** Starts with the comparison, if there is one. */
  readonly compare?: boolean;
  /** Called with whether the comparison is shown, which has a time of its own, instead of the clip. */
  readonly onCompared?: ((isCompared: boolean) => void) | undefined;
  readonly ref?: Ref<StoredPlayerHandle>;
}

/**
 * Player of a finished video of the library: its stream, poster, captions and the marks of its report and, if something
 * was repaired, the comparison with the original. Jumps are given on the time axis of the original, as used in the
 * report.
 */
export function StoredVideoPlayer({
  video,
  report,
  captionsMark,
  onTime,
  compare = false,
  onCompared,
  ref,
}: StoredVideoPlayerProps) {
  const { id } = video;
  const [view, setView] = useState<'clip' | 'compare'>(compare ? 'compare' : 'clip');
  const [byKey, setByKey] = useState(false);
  const player = useRef<PlayerHandle>(null);
  const comparison = useRef<ComparisonHandle>(null);
  const pendingMs = useRef<number | null>(null);
  const defects = report?.defects ?? [];
  // Used until the report has loaded, so that nothing moves then: a changed clip must have had a repair.
  const comparable = report
    ? defects.some(({ outcome }) => outcome === 'repaired')
    : video.hasReport && !video.unchanged;
  const isCompared = view === 'compare' && comparable;
  useEffect(() => onCompared?.(isCompared), [onCompared, isCompared]);
  const path = (template: string): string => buildPath(template, { id });
  const captions = `${path(mediaPaths.captions)}${captionsMark ? `?of=${captionsMark}` : ''}`;

  useImperativeHandle(ref, () => {
    const seekResult = (ms: number): void => {
      if (player.current) player.current.seek(ms);
      else pendingMs.current = ms;
      setView('clip');
    };
    return {
      seekResult,
      seek(ms) {
        if (comparison.current?.seekOriginal(ms)) return;
        seekResult(toResultMs(ms, report?.defects ?? []));
      },
      nowMs: () => player.current?.nowMs() ?? 0,
    };
  }, [report]);
  useEffect(() => {
    if (view === 'clip' && pendingMs.current !== null) player.current?.seek(pendingMs.current);
    pendingMs.current = null;
  }, [view]);
  const choose = (next: 'clip' | 'compare', withKey: boolean): void => {
    setByKey(withKey);
    setView(next);
  };

  return (
    <Box>
      {comparable && (
        <div>
          <Choices
            label={texts.choose}
            options={VIEWS}
            value={view}
            onChange={(next) => choose(next, false)}
          />
        </div>
      )}
      {isCompared ? (
        <ComparisonPanel ref={comparison} video={video} defects={defects} takeFocus={byKey} />
      ) : (
        <VideoPlayer
          ref={player}
          title={video.originalFileName}
          src={path(mediaPaths.stream)}
          downloadHref={path(mediaPaths.download)}
          downloadName={`video-${id}.mp4`}
          poster={video.hasPoster ? path(mediaPaths.poster) : undefined}
          captionsSrc={video.hasCaptions ? captions : undefined}
          durationMs={video.durationMs}
          width={video.width}
          height={video.height}
          frameRate={report?.result.media.frameRate ?? null}
          marks={report ? resultMarks(report) : []}
          onTime={onTime}
          onCompare={comparable ? () => choose('compare', true) : undefined}
        />
      )}
    </Box>
  );
}

/** The report's marks on the axis of the clip being played, because repairs may have moved what follows them. */
function resultMarks({ defects }: RepairReport): ThreadMark[] {
  return marksOf(defects).map((mark) => ({
    ...mark,
    startMs: toResultMs(mark.startMs, defects),
    endMs: toResultMs(mark.endMs, defects),
  }));
}
