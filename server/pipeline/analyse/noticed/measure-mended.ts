import { type NoticedKind, seenAs } from '#common/noticed.ts';
import type { Defect } from '#common/report.ts';
import { toResultMs } from '#common/time-axis.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { quantile } from '#server/media/statistics.ts';
import { measurePictures } from '../analyse-picture.ts';
import { sharesOfMotion, toNoticedClip } from './find-noticed.ts';
import { isMarked } from './judge-noticed.ts';

/** A mended place, measured before and after: change of its pictures as a share of what moves around it. */
export interface MendedPlace {
  readonly kind: NoticedKind;
  readonly before: number;
  /** Null where the result shows too little motion to tell. */
  readonly after: number | null;
}

export interface MeasureMendedInput {
  readonly clip: { readonly path: string; readonly info: MediaInfo };
  /** All defects of the repair: those in front of a place move it. */
  readonly defects: readonly Defect[];
  readonly task: { readonly tools: ToolPaths };
  readonly signal: AbortSignal;
  readonly onProgress: (share: number) => void;
}

/** A freeze counts as mended if its pictures move by this much more of the usual motion, a jump if it is so much shorter. */
const LEAST_GAIN = 0.1;
/** Most of the pictures that stand where a freeze was must move. */
const FREEZE_SHARE = 0.25;

/**
 * Measures the marked places of a mended clip again.
 * @returns by id of the defect; defects that were not mended are absent
 * @throws MediaToolError when it cannot be decoded or the run is cancelled
 */
export async function measureMended(input: MeasureMendedInput): Promise<Map<string, MendedPlace>> {
  const { clip, defects, task, signal, onProgress } = input;
  const places = new Map<string, MendedPlace>();
  const look = {
    inputPath: clip.path,
    info: clip.info,
    tools: task.tools,
    signal,
    onProgress,
    looksAtEnds: false,
  };
  const { measured } = await measurePictures(look);
  if (!measured) return places;
  const seen = toNoticedClip(measured);
  const { series, timesMs } = seen;
  const intervalMs = 1000 / seen.fps;
  for (const defect of defects) {
    if (!isMarked(defect) || defect.outcome !== 'repaired') continue;
    const [kind, before] = [seenAs(defect), defect.measure.before ?? 0];
    const [startMs, endMs] = [defect.startMs, defect.endMs].map((ms) => toResultMs(ms, defects));
    // The step behind the new pictures shows whether they lead to it.
    const [first, last] = [
      firstFrom(timesMs, startMs ?? 0, intervalMs),
      firstFrom(timesMs, endMs ?? 0, intervalMs),
    ];
    const shares = sharesOfMotion(
      seen,
      Math.max(1, first),
      Math.min(series.count - 1, Math.max(first, last)),
    );
    const after =
      shares === null ? null : kind === 'freeze' ? quantile(shares, FREEZE_SHARE) : Math.max(...shares);
    places.set(defect.id, { kind, before, after });
  }
  return places;
}

/** Whether a place came closer to the motion around it; one that cannot be measured is believed. */
export function looksMended({ kind, before, after }: MendedPlace): boolean {
  if (after === null) return true;
  return kind === 'freeze' ? after >= before + LEAST_GAIN : after <= before - LEAST_GAIN;
}

function firstFrom(timesMs: readonly number[], ms: number, intervalMs: number): number {
  const at = timesMs.findIndex((time) => time >= ms - intervalMs / 2);
  return at < 0 ? timesMs.length - 1 : at;
}
