import type { Ref } from 'react';
import { buildPath } from '#common/api/endpoint.ts';
import { mediaPaths, type VideoDto } from '#common/api/videos.ts';
import type { RepairReport } from '#common/report.ts';
import { marksOf } from '../components/thread-strip.tsx';
import { type PlayerHandle, VideoPlayer } from '../components/video-player.tsx';

interface StoredVideoPlayerProps {
  readonly video: VideoDto;
  /** Its defects become marks on the time axis; undefined while it is read or where there is none. */
  readonly report: RepairReport | undefined;
  readonly ref?: Ref<PlayerHandle>;
}

/** Player of a finished video of the library: its stream, poster, captions and the marks of its report. */
export function StoredVideoPlayer({ video, report, ref }: StoredVideoPlayerProps) {
  const { id } = video;
  const path = (template: string): string => buildPath(template, { id });
  return (
    <VideoPlayer
      ref={ref}
      title={video.originalFileName}
      src={path(mediaPaths.stream)}
      downloadHref={path(mediaPaths.download)}
      downloadName={`video-${id}.mp4`}
      poster={video.hasPoster ? path(mediaPaths.poster) : undefined}
      captionsSrc={video.hasCaptions ? path(mediaPaths.captions) : undefined}
      durationMs={video.durationMs}
      width={video.width}
      height={video.height}
      frameRate={report?.result.media.frameRate ?? null}
      marks={report ? marksOf(report.defects) : []}
    />
  );
}
