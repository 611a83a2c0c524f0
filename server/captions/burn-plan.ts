import path from 'node:path';
import type { MediaInfo, VideoStreamInfo } from '#server/media/probe/probe.ts';
import type { CopyRecipe } from '#server/pipeline/encode/copy-plans.ts';
import { shownSize, squareSize, type Size } from '#server/pipeline/encode/picture-size.ts';
import {
  colourOptions,
  isFullRange,
  isHdr,
} from '#server/pipeline/repair/full-encode/full-encode-pictures.ts';
import { filterValue, LEAN_GRAPH } from '#server/pipeline/repair/quick-fixes/encode-plans.ts';
import { coderOptions } from '#server/pipeline/repair/quick-fixes/picture-coder.ts';
import type { MediaLimits } from '#server/pipeline/worker-protocol.ts';
import type { TextWhite } from './ass-file.ts';

export interface CaptionedCopyInput {
  readonly inputPath: string;
  readonly info: MediaInfo;
  readonly stream: VideoStreamInfo;
  readonly assPath: string;
  readonly fontPath: string;
  readonly limits: MediaLimits;
}

/** The filter that draws a script with the fonts in our folder and no others of the machine. */
export function drawFilter(assPath: string, fontPath: string): string {
  return `subtitles=filename=${filterValue(assPath)}:fontsdir=${filterValue(path.dirname(fontPath))}`;
}

/**
 * Size of the file with captions: the displayed picture with even sides and square samples, so that letters keep their
 * shape.
 */
export function burnedSize(stream: VideoStreamInfo): Size {
  const { width, height } = squareSize(stream);
  const even = (side: number) => Math.max(2, 2 * Math.floor(Math.round(side) / 2));
  return { width: even(width), height: even(height) };
}

/** The white level for text in this stream. */
export function whiteOf({ colorTransfer }: VideoStreamInfo): TextWhite {
  if (colorTransfer === 'smpte2084') return 'pq';
  return colorTransfer === 'arib-std-b67' ? 'hlg' : 'sdr';
}

/**
 * Plans a copy of the clip with captions drawn into every picture, each at its own time; the sound is copied unchanged.
 */
export function captionedCopy({
  inputPath,
  info,
  stream,
  assPath,
  fontPath,
  limits,
}: CaptionedCopyInput): CopyRecipe {
  const size = burnedSize(stream);
  const shown = shownSize(stream);
  const same = size.width === shown.width && size.height === shown.height;
  const scale = same ? '' : `scale=${size.width}:${size.height}:flags=lanczos,setsar=1,`;
  return {
    what: 'the clip with captions',
    inputPath,
    info,
    stream,
    // High dynamic range takes twice the memory, which leaves no room for a second decoder thread.
    decoderThreads: isHdr(stream) ? 1 : limits.threads,
    filters: `${scale}${drawFilter(assPath, fontPath)}`,
    coding: [...coderOptions(stream, limits), ...colourOptions(stream, isFullRange(stream))],
    graphOptions: LEAN_GRAPH,
  };
}
