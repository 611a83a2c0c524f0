import type { FrameSeries } from '#server/media/grey/grey-series.ts';
import type { PictureTimes } from '../analysis.ts';
import { explained, explainedByRuns, type Trust } from '../explained-steps.ts';
import type { PictureIndex } from '../packets/picture-times.ts';
import { surplusForLosses, type StreamSpans } from '../packets/picture-surplus.ts';
import { putIn, type StutterRun } from '../stutter/stutter-history.ts';
import { clockedKeys } from './clocked-keys.ts';
import { lostPictures, type CopiesAndLosses } from './copies-and-losses.ts';
import type { TimestampGap } from './detect-dropped-frames.ts';
import { detectHiddenDrops } from './detect-hidden-drops.ts';
import { withLossesBeside } from './loss-beside-copies.ts';

export interface LossInput {
  readonly series: FrameSeries;
  /** First pictures of new shots. */
  readonly cuts: readonly number[];
  readonly index: { readonly times: PictureTimes } & Pick<PictureIndex, 'frameOfDecoded'>;
  /** Holes in the times. */
  readonly listed: readonly TimestampGap[];
  readonly trust: Trust;
  /** Null without sound. */
  readonly spans: StreamSpans | null;
  /** By how much the picture outlasts the sound, as evidence for copies, ms; null without sound. */
  readonly surplusMs: number | null;
  /** Pictures per second. */
  readonly fps: number;
}

/** Losses without a trace in the times, and the runs updated by what the losses say about them. */
export interface Losses extends CopiesAndLosses {
  /** Decoded pictures whose step is explained by any of these. */
  readonly taken: ReadonlySet<number>;
}

/** Finds pictures lost without a trace in the times of a clip with these runs of copies. */
export function findLosses(given: readonly StutterRun[], input: LossInput): Losses {
  const { series, cuts, index, listed, trust, spans, surplusMs, fps } = input;
  const inPictures = (ms: number) => (ms * fps) / 1000;
  const isVariable = index.times.variableByNature;
  const plain = explained(series.count, listed, index, trust);
  const surplusWith = surplusMs === null ? null : inPictures(surplusMs);
  const isExplained = (at: number) => plain.has(at);
  const { runs, losses } = isVariable
    ? { runs: given, losses: [] }
    : withLossesBeside(given, { series, cuts, isExplained, surplus: surplusWith });
  const removed = putIn(runs);
  const removedMs = (removed * 1000) / fps;
  const surplus = spans && inPictures(surplusForLosses(spans, removedMs, surplusMs ?? undefined));
  const taken = new Set([...plain, ...explainedByRuns(runs), ...losses.map(({ after }) => after)]);
  if (isVariable) return { runs, surplus, hidden: [], taken };
  const known = lostPictures(losses);
  const others = detectHiddenDrops(series, {
    cuts,
    fps,
    taken,
    clocked: clockedKeys(index.times, index.frameOfDecoded),
    pictureSurplus: surplus === null ? null : surplus + known,
    excessMs: spans?.excessMs,
    putIn: removed - known,
  });
  return { runs, surplus, hidden: [...others, ...losses], taken };
}
