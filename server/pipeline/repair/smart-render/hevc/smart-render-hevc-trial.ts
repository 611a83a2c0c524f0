import { everyPicture } from '#server/media/ffmpeg/every-picture.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { HEVC_WARM_UP } from '#server/media/hevc/restart.ts';
import type { TimedPicture } from '../../conceal-picture/conceal-picture-guess.ts';
import { picturesOnceFrom, streamPictures } from '../smart-render-decode.ts';
import { writeTrialPart, type Part, type TrialPart } from '../smart-render-part.ts';
import type { HevcSource } from './smart-render-hevc-source.ts';

export interface PlacesTrial extends TrialPart {
  /** What the run is for. */
  readonly label: string;
  /** Places in display order. */
  readonly wanted: ReadonlySet<number>;
  readonly pixelFormat: string;
  /** Size of one picture in that format. */
  readonly pictureBytes: number;
  readonly tools: ToolPaths;
}

/** A part, extended to an earlier key picture that warms up the decoder. */
export function withWarmUp(source: HevcSource, part: Part): Part {
  const from = source.samples.findLastIndex(({ sync }, at) => sync && at <= part.from - HEVC_WARM_UP);
  return { ...part, from: Math.max(0, from) };
}

/**
 * Writes a part of an HEVC clip like `writeTrialPart` and decodes some of its pictures, with one thread so that damage
 * looks as in one decode of the clip.
 * @returns by place; a picture that does not decode is missing
 * @throws MediaToolError when ffmpeg fails or the run is cancelled; Mp4Error when the file ends before its media
 */
export async function decodePlaces(trial: PlacesTrial): Promise<Map<number, TimedPicture>> {
  const { label, wanted, pixelFormat, outputPath } = trial;
  const placeAt = await writeTrialPart(trial);
  const ticks = [...placeAt].flatMap(([pts, place]) => (wanted.has(place) ? [pts] : []));
  const options = ['-threads', '1', '-noautorotate', ...everyPicture('hevc')];
  const shown = ['-map', '0:v:0', ...picturesOnceFrom(Math.min(...ticks)), '-pix_fmt', pixelFormat];
  const plan = {
    label,
    logLevel: 'info',
    globalOptions: ['-copyts'],
    inputs: [{ path: outputPath, format: 'mov', options }],
    outputs: [{ path: 'pipe:1', options: shown }],
    expectedDurationMs: null,
  };
  const pictures = new Map<number, TimedPicture>();
  for await (const { pts, pixels } of streamPictures(plan, trial)) {
    const place = pts === null ? undefined : placeAt.get(pts);
    if (pts !== null && place !== undefined && wanted.has(place)) pictures.set(place, { pixels, ticks: pts });
  }
  return pictures;
}
