import type { VideoStreamInfo } from '#server/media/probe/probe.ts';
import { isHdr } from './full-encode-pictures.ts';

/** Pixel formats with transparency, by ffmpeg's names. */
const WITH_ALPHA = /^(yuva|gbrap|rgba|bgra|argb|abgr|ya)/;
/** Formats with more than one colour sample for each block of four pixels, including RGB. */
const FINE_COLOUR = /^(yuv[aj]?4(22|4[04])|gbr|rgb|bgr|argb|abgr|pal8)/;

/**
 * What re-encoding all pictures gives up, in words for the report. The result has 4:2:0 chroma, ten bits for high
 * dynamic range and eight otherwise (which is what browsers and platforms show), and even sides.
 * @returns null when nothing is given up
 */
export function lostByCoding(
  stream: Pick<VideoStreamInfo, 'pixelFormat' | 'colorTransfer' | 'width' | 'height'> | undefined,
): string | null {
  const name = stream?.pixelFormat ?? '';
  const bits = Number(/(\d\d)(?:le|be)$/.exec(name)?.[1] ?? 8);
  const kept = stream && isHdr(stream) ? 10 : 8;
  const lost = [
    WITH_ALPHA.test(name) ? 'transparency' : '',
    FINE_COLOUR.test(name) ? 'colour finer than 4:2:0' : '',
    bits > kept ? `${bits} bits a sample (${kept} are left)` : '',
  ].filter(Boolean);
  const { width = 0, height = 0 } = stream ?? {};
  const cropped = [width % 2 === 1 ? 'column' : '', height % 2 === 1 ? 'row' : ''].filter(Boolean);
  const sentences = [
    lost.length === 0
      ? ''
      : `Re-encoding the clip gave up ${lost.join(' and ')}, which browsers do not show. The original keeps it.`,
    cropped.length === 0
      ? ''
      : `Re-encoding the clip left out the last ${cropped.join(' and ')} of pixels, as their sides must be even: ${width} x ${height} became ${width - (width % 2)} x ${height - (height % 2)}.`,
  ].filter(Boolean);
  return sentences.length === 0 ? null : sentences.join(' ');
}
