import type { Finding } from '../analyse/analysis.ts';
import type { PlanContext, Planned } from './plan-repair.ts';
import { UNPLACED } from './picture-task.ts';

/**
 * Plans the repair of one stuttered cut. Repeats that made the clip longer are removed and the rest moves forward, so
 * that the sound fits again. Repeats in the place of lost pictures are rebuilt between the last true picture and the
 * next. Before a cut nothing shows what was lost: the repeats are removed unless sound depends on the time.
 */
export function planCut(finding: Finding, context: PlanContext): Planned {
  const { detail, firstFrame, lastFrame } = finding;
  const { ptsTicks, medianIntervalTicks, variableByNature } = context.pictures;
  if (detail.kind !== 'stuttered_cut' || firstFrame === null || lastFrame === null) {
    return { reason: UNPLACED };
  }
  const start = ptsTicks[firstFrame];
  const resume = ptsTicks[lastFrame + 1];
  if (start === undefined || firstFrame === 0)
    return { reason: 'Left as it is: no good frame comes before it.' };
  const usualEnd = (ptsTicks[lastFrame] ?? start) + medianIntervalTicks;
  // A gap after the copies is repaired separately: only the time of the copies is removed.
  const isHole = !variableByNature && resume !== undefined && resume > usualEnd + medianIntervalTicks / 2;
  const end = resume === undefined || isHole ? usualEnd : resume;
  const removal: Planned = {
    task: { kind: 'remove', finding, firstFrame, endFrame: lastFrame + 1, shiftAfterTicks: start - end },
  };
  if (detail.history === 'inserted') return removal;
  if (resume === undefined) return { reason: 'Left as it is: no good frame follows the repeated ones.' };
  const after = nextGood(context, lastFrame + 1);
  const before = lastGood(context, firstFrame - 1);
  const acrossCut = detail.endsAtCut || cutBetween(context, before ?? firstFrame - 1, after ?? lastFrame + 1);
  if (acrossCut) {
    // Nothing else depends on the time of the pictures.
    const { audio, others } = context.info;
    if (audio.length === 0 && others.length === 0) return removal;
    return {
      reason: 'Left as it is: the scene changes right after the repeats, so nothing shows what was lost.',
    };
  }
  return {
    task: {
      kind: 'rebuild',
      finding,
      firstFrame,
      endFrame: lastFrame + 1,
      slotTicks: ptsTicks.slice(firstFrame, lastFrame + 1),
      resumeTicks: resume,
      before,
      after,
      acrossCut,
      shiftAfterTicks: 0,
    },
  };
}

/** Nearest picture at or before `frame` that no finding names; null if there is none. */
export function lastGood(context: PlanContext, frame: number): number | null {
  for (let at = frame; at >= 0; at -= 1) if (!context.isBad(at)) return at;
  return null;
}

/** Nearest picture at or after `frame` that no finding names; null if there is none. */
export function nextGood(context: PlanContext, frame: number): number | null {
  for (let at = frame; at < context.pictures.ptsTicks.length; at += 1) if (!context.isBad(at)) return at;
  return null;
}

/** True if a new shot begins after picture `before` and no later than picture `after`. */
export function cutBetween(context: PlanContext, before: number, after: number): boolean {
  return context.sceneCuts.some((cut) => cut > before && cut <= after);
}
