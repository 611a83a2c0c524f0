import { ODDS_OF_A_LOSS } from '#common/report.ts';
import type { Finding, PictureTimes } from './analysis.ts';
import type { CorruptedSpan } from './damage/detect-corruption.ts';
import type { TimestampGap } from './dropped-frames/detect-dropped-frames.ts';
import type { HiddenDrop } from './dropped-frames/detect-hidden-drops.ts';
import { PLAIN_MEAN_RATIO } from './dropped-frames/detect-hidden-drops-step.ts';
import { MAX_QUIET, type StutterRun } from './stutter/detect-stutter.ts';
import type { PictureFlag } from './picture-flags/picture-flag.ts';
import { frameEndMs, frameStartMs } from './packets/picture-times.ts';

/** What the picture detectors need to place a finding. */
export interface FindingContext {
  readonly times: PictureTimes;
  /** Display number of each decoded picture. */
  readonly frameOfDecoded: readonly number[];
  /** Display numbers of the first pictures of new shots. */
  readonly sceneCuts: readonly number[];
}

/** A run of repeats: the copies are `firstFrame` to `lastFrame`, the true picture stands right before them. */
export function stutterFinding(run: StutterRun, context: FindingContext): Finding {
  const firstFrame = displayed(run.first, context);
  const lastFrame = displayed(run.last, context);
  const count = lastFrame - firstFrame + 1;
  return {
    kind: 'stuttered_cut',
    ...span(firstFrame, lastFrame, context.times),
    count,
    confidence: run.confidence,
    detector: 'detect-stutter',
    measure: {
      name: 'change inside the run against its sides',
      unit: 'ratio',
      threshold: MAX_QUIET,
      value: round(run.quietness),
    },
    detail: {
      kind: 'stuttered_cut',
      history: run.history,
      startsAtCut: run.startsAtCut,
      endsAtCut: run.endsAtCut,
    },
  };
}

/** One repeat followed by a jump: the repeat stands in the place of a lost picture. */
export function singleHoldFinding(run: StutterRun, context: FindingContext): Finding {
  const frame = displayed(run.first, context);
  return {
    kind: 'dropped_frames',
    ...span(frame, frame, context.times),
    count: 1,
    confidence: run.confidence,
    detector: 'detect-stutter',
    measure: {
      name: 'change inside the run against its sides',
      unit: 'ratio',
      threshold: MAX_QUIET,
      value: round(run.quietness),
    },
    detail: { kind: 'dropped_frames', history: 'hidden', acrossCut: run.endsAtCut, placement: 'instead' },
  };
}

/** The figure that a loss was claimed by: what jumps is longer than the steps around it, or all parts go too far. */
function measureOf({ ratio, threshold = PLAIN_MEAN_RATIO, odds }: HiddenDrop): Finding['measure'] {
  if (ratio >= threshold || !odds)
    return { name: 'step against the steps around it', unit: 'ratio', threshold, value: round(ratio) };
  const { value, least } = odds;
  return { name: ODDS_OF_A_LOSS, unit: 'to 1', threshold: round(least), value: round(value) };
}

/** A jump of the motion: `firstFrame` is the last picture before it, `lastFrame` the first after it. */
export function hiddenDropFinding(drop: HiddenDrop, context: FindingContext): Finding {
  const lastFrame = displayed(drop.after, context);
  return {
    kind: 'dropped_frames',
    startMs: frameStartMs(context.times, lastFrame - 1),
    endMs: frameStartMs(context.times, lastFrame),
    firstFrame: lastFrame - 1,
    lastFrame,
    count: drop.missing,
    confidence: drop.confidence,
    detector: 'detect-hidden-drops',
    measure: measureOf(drop),
    detail: { kind: 'dropped_frames', history: 'hidden', acrossCut: false, placement: 'between' },
  };
}

/** A gap in the times: `firstFrame` is the last picture before it, `lastFrame` the first after it. */
export function gapFinding(gap: TimestampGap, context: FindingContext): Finding {
  const { times } = context;
  const lastFrame = gap.frameBefore + 1;
  return {
    kind: 'dropped_frames',
    startMs: frameStartMs(times, gap.frameBefore),
    endMs: frameStartMs(times, lastFrame),
    firstFrame: gap.frameBefore,
    lastFrame,
    count: gap.missing,
    confidence: gap.confidence,
    detector: 'detect-dropped-frames',
    measure: {
      name: 'interval against its neighbours',
      unit: 'ratio',
      threshold: 1.5,
      value: round(gap.ratio),
    },
    detail: {
      kind: 'dropped_frames',
      history: 'timestamp_gap',
      acrossCut: context.sceneCuts.includes(lastFrame),
      placement: 'between',
    },
  };
}

export function corruptionFinding(bad: CorruptedSpan, context: FindingContext): Finding {
  return {
    kind: 'corrupted_section',
    ...span(bad.first, bad.last, context.times),
    count: bad.last - bad.first + 1,
    confidence: bad.confidence,
    detector: 'detect-corruption',
    measure: { name: 'damaged pictures', unit: 'frames', threshold: 0, value: bad.last - bad.first + 1 },
    detail: {
      kind: 'corrupted_section',
      evidence: bad.evidence,
      undecodedFrames: bad.undecoded,
      damagedDataFrames: bad.damagedData,
      ...(bad.hiddenData && { hiddenDataFrames: bad.hiddenData }),
      ...(bad.besideOnly && { besideOnly: true }),
    },
  };
}

const FLAG_MEASURES: Record<PictureFlag['kind'], { name: string; unit: string }> = {
  shaky_footage: { name: 'fast part of the camera motion per picture', unit: 'share of the width' },
  poor_lighting: { name: 'brightness of the brightest tenth', unit: 'grey levels of 255' },
  blurry_section: { name: 'softness of the sharpest edges', unit: 'ratio' },
};

export function flagFinding(flag: PictureFlag, context: FindingContext): Finding {
  const { kind } = flag;
  return {
    kind,
    ...span(displayed(flag.first, context), displayed(flag.last, context), context.times),
    count: 1,
    confidence: flag.confidence,
    detector: 'detect-picture-flags',
    measure: { ...FLAG_MEASURES[kind], threshold: flag.threshold, value: round(flag.value) },
    detail: { kind },
  };
}

function span(firstFrame: number, lastFrame: number, times: PictureTimes) {
  return {
    startMs: frameStartMs(times, firstFrame),
    endMs: frameEndMs(times, lastFrame),
    firstFrame,
    lastFrame,
  };
}

function displayed(decoded: number, { frameOfDecoded, times }: FindingContext): number {
  return frameOfDecoded[decoded] ?? Math.min(decoded, times.ptsTicks.length - 1);
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
