import { ticksToMs } from '#server/media/time-base.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { measurePictures } from '../../analyse/analyse-picture.ts';
import { detectCuts } from '../../analyse/detect-cuts.ts';
import { shakeOf } from '../../analyse/picture-flags/detect-shake.ts';
import { judgePictures, type PictureAnalysis } from '../../analyse/judge-pictures.ts';

/** The result of one strict decode of a clip. */
export interface LookedAt {
  readonly pictures: number;
  /** Number of stretches that are damaged or that a decoder complained about. */
  readonly damaged: number;
  /** Whether every picture has a later time than the one before. */
  readonly rising: boolean;
  readonly shake: number | null;
  /** Time of a picture fit for a poster, ms. */
  readonly posterMs: number | null;
  readonly judged: PictureAnalysis;
  /** How far somebody moved the sound by hand before, ms; absent if nobody did. */
  readonly soundMovedMs?: number;
}

export interface LookInput {
  readonly inputPath: string;
  readonly info: MediaInfo;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
  /** See `shakeOf`. */
  readonly leastExplained?: number;
  readonly onProgress?: (share: number) => void;
}

/**
 * Decodes all pictures strictly and measures them with the engine's own detectors.
 * @returns null when the clip shows no picture
 * @throws MediaToolError when it cannot be decoded or the run is cancelled
 */
export async function lookAtClip(input: LookInput): Promise<LookedAt | null> {
  const { measured, soundMovedMs } = await measurePictures(input);
  if (!measured) return null;
  const judged = judgePictures(measured, 0);
  const { times } = measured.index;
  const fps = 1000 / Math.max(1, ticksToMs(times.medianIntervalTicks, times.timeBase));
  const poster = judged.posterFrame === null ? undefined : times.ptsTicks[judged.posterFrame];
  return {
    pictures: times.ptsTicks.length,
    damaged: measured.damage.length,
    rising: times.ptsTicks.every((ticks, at) => at === 0 || ticks > (times.ptsTicks[at - 1] ?? 0)),
    shake: shakeOf(measured.series, detectCuts(measured.series), fps, input.leastExplained),
    posterMs: poster === undefined ? null : ticksToMs(poster, times.timeBase),
    judged,
    ...(soundMovedMs && { soundMovedMs }),
  };
}
