import type { VideoStreamInfo } from '#server/media/probe/probe.ts';

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Displayed size of the picture: rotated, in stored pixels. */
export function shownSize({ width, height, rotation }: VideoStreamInfo): Size {
  return rotation % 180 === 90 ? { width: height, height: width } : { width, height };
}

/** The same in square samples; may be fractional. */
export function squareSize(stream: VideoStreamInfo): Size {
  const { width, height } = shownSize(stream);
  const [num = 1, den = 1] = (stream.sampleAspectRatio ?? '1:1').split(':').map(Number);
  const aspect = num > 0 && den > 0 ? num / den : 1;
  return stream.rotation % 180 === 90
    ? { width, height: height * aspect }
    : { width: width * aspect, height };
}

/**
 * Size of an export whose shorter side is at most `shortSide` pixels: same shape, even sides, never larger than the
 * picture itself.
 */
export function limitedSize({ width, height }: Size, shortSide: number): Size {
  const factor = Math.min(1, shortSide / Math.min(width, height));
  const even = (side: number) => Math.max(2, Math.round((side * factor) / 2) * 2);
  return { width: even(width), height: even(height) };
}
