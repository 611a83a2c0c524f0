import { ticksToMs } from '#server/media/time-base.ts';
import type { Finding } from '../analyse/analysis.ts';
import { lengthsSpeakForLosses } from '../analyse/packets/picture-surplus.ts';
import { cutBetween, lastGood, nextGood } from './repair-cuts.ts';
import type { PlanContext, Planned } from './plan-repair.ts';
import { UNPLACED } from './picture-task.ts';

/** Plans the repair of one gap (dropped frames) or one damaged section. */
export function planFrames(finding: Finding, context: PlanContext): Planned {
  const { detail } = finding;
  if (detail.kind === 'corrupted_section') return planDamage(finding, context);
  if (detail.kind !== 'dropped_frames') return { reason: 'Left as it is: no repair fits it.' };
  const before = finding.firstFrame;
  if (before === null) return { reason: UNPLACED };
  if (detail.acrossCut || cutBetween(context, before, before + 1)) {
    return {
      reason: 'Left as it is: the scene changes in the gap, so the last frame stays until the cut.',
    };
  }
  // A repeat in the place of the lost picture is replaced, and no time is added.
  if (detail.placement === 'instead') return planDamage(finding, context);
  return detail.history === 'timestamp_gap'
    ? planGap(finding, before, context)
    : planHiddenHole(finding, before, context);
}

/** Fills a gap in the times with new pictures at the times of the missing ones. */
function planGap(finding: Finding, before: number, context: PlanContext): Planned {
  const { ptsTicks } = context.pictures;
  const start = ptsTicks[before];
  const end = ptsTicks[before + 1];
  if (start === undefined || end === undefined) return { reason: 'Left as it is: nothing follows the gap.' };
  const step = (end - start) / (finding.count + 1);
  return insertion(finding, before, context, {
    slotTicks: Array.from({ length: finding.count }, (_, index) => Math.round(start + step * (index + 1))),
    resumeTicks: end,
    shiftAfterTicks: 0,
  });
}

/**
 * Plans pictures that were lost without a gap in the times. Putting them back makes the clip longer, which is only
 * right if the sound shows that this time is missing: it must be longer than the pictures by about as much.
 */
function planHiddenHole(finding: Finding, before: number, context: PlanContext): Planned {
  const { ptsTicks, medianIntervalTicks, timeBase } = context.pictures;
  const start = ptsTicks[before];
  const end = ptsTicks[before + 1];
  if (start === undefined || end === undefined) return { reason: 'Left as it is: nothing follows the gap.' };
  const addedTicks = finding.count * medianIntervalTicks;
  const addedMs = ticksToMs(addedTicks, timeBase);
  if (!lengthsSpeakForLosses(context.surplusMs, addedMs)) {
    return {
      contradicted: true,
      reason:
        'Left as it is: the motion jumps here, but there is no time for more frames in the sound: putting them back would bring sound and picture out of sync.',
    };
  }
  return insertion(finding, before, context, {
    slotTicks: Array.from({ length: finding.count }, (_, index) => start + medianIntervalTicks * (index + 1)),
    resumeTicks: end + addedTicks,
    shiftAfterTicks: addedTicks,
  });
}

interface Slots {
  readonly slotTicks: readonly number[];
  readonly resumeTicks: number;
  readonly shiftAfterTicks: number;
}

function insertion(finding: Finding, before: number, context: PlanContext, slots: Slots): Planned {
  return {
    task: {
      kind: 'rebuild',
      finding,
      firstFrame: before + 1,
      endFrame: before + 1,
      ...slots,
      before: lastGood(context, before),
      after: nextGood(context, before + 1),
      acrossCut: false,
    },
  };
}

/** Replaces damaged pictures by new ones at the same times, between the last good picture and the next. */
function planDamage(finding: Finding, context: PlanContext): Planned {
  const { firstFrame, lastFrame } = finding;
  const { ptsTicks } = context.pictures;
  if (firstFrame === null || lastFrame === null) return { reason: UNPLACED };
  const before = lastGood(context, firstFrame - 1);
  const after = nextGood(context, lastFrame + 1);
  // Damaged pictures without any intact one nearby are kept as the decoder conceals them.
  if (before === null && after === null && finding.kind !== 'corrupted_section')
    return { reason: 'No intact frame is left to rebuild it from.' };
  return {
    task: {
      kind: 'rebuild',
      finding,
      firstFrame,
      endFrame: lastFrame + 1,
      slotTicks: ptsTicks.slice(firstFrame, lastFrame + 1),
      resumeTicks: ptsTicks[lastFrame + 1] ?? null,
      before,
      after,
      // Damage itself can look like a cut at its edges; the pictures will show whether both sides belong to one shot.
      acrossCut: false,
      shiftAfterTicks: 0,
    },
  };
}
