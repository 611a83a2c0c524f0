import type { RepairAction } from '#common/report.ts';
import type { Finding } from '../../analyse/analysis.ts';
import { JUDGE_LIMITS, type WindJudgement } from './repair-audio-judge.ts';
import { movedCurve } from './repair-audio-place.ts';
import type { SyncDetail, SyncPlan } from './repair-audio-sync.ts';

export interface AudioVerdict {
  readonly finding: Finding;
  /** The finding's value measured again; null if nothing was changed. */
  readonly after: number | null;
  /** The finding's curve measured again. */
  readonly curveAfter?: readonly (number | null)[];
  readonly outcome: 'repaired' | 'left_alone';
  readonly action: RepairAction;
  /** One sentence for people. */
  readonly explanation: string;
}

/** The verdict on packets that keep their bytes and are moved as planned; the move is checked in the finished clip. */
export function movedVerdict(sync: { finding: Finding; detail: SyncDetail }, plan: SyncPlan): AudioVerdict {
  const curveAfter = sync.finding.curve && movedCurve(sync.finding.curve, plan.shiftMs);
  return syncVerdict(sync.finding, plan, Math.abs(sync.detail.offsetMs + plan.shiftMs), curveAfter);
}

/**
 * The verdict on a sync that was measured again; a repair that brought it no closer is dropped.
 * @param after largest remaining distance between sound and picture, ms
 */
export function syncVerdict(
  finding: Finding,
  plan: SyncPlan,
  after: number,
  curveAfter: readonly number[] | undefined,
): AudioVerdict {
  const rounded = Math.round(after * 100) / 100;
  const better = rounded < Math.abs(finding.measure.value);
  return {
    finding,
    after: rounded,
    ...(better && curveAfter ? { curveAfter } : {}),
    outcome: better ? 'repaired' : 'left_alone',
    action: better ? plan.action : 'none',
    explanation: better
      ? plan.explanation
      : 'Moving the sound did not bring it closer, so it was left as it is.',
  };
}

/** A sound from which wind was removed, measured again. */
export interface MendedSound {
  readonly judgement: WindJudgement;
  /** Absent if the new sound has another time axis. */
  readonly curveAfter: readonly number[] | undefined;
}

/** The verdict on wind; `mended` is null if no repair was tried. */
export function windVerdict(finding: Finding, mended: MendedSound | null): AudioVerdict {
  const judgement = mended?.judgement;
  const isHeard = finding.detail.kind === 'wind_noise' && finding.detail.isHeard === true;
  if (!judgement?.helped) {
    const lowersLittle = judgement && judgement.beforeDb - judgement.afterDb < JUDGE_LIMITS.leastGainDb;
    const little = isHeard
      ? 'no wind that could be taken out was heard'
      : 'the wind could not be lowered enough';
    const why = lowersLittle ? little : 'the voice would have lost too much';
    return {
      finding,
      after: null,
      outcome: 'left_alone',
      action: 'none',
      explanation: `Left as it is: ${why}.`,
    };
  }
  const lowered = Math.round(judgement.beforeDb - judgement.afterDb);
  const what = isHeard ? 'What you hear as wind was lowered' : 'Wind lowered';
  const where = finding.count === 1 ? 'one stretch' : `${finding.count} stretches`;
  return {
    finding,
    after: Math.round(judgement.afterDb * 10) / 10,
    ...(mended?.curveAfter ? { curveAfter: mended.curveAfter } : {}),
    outcome: 'repaired',
    action: 'suppressed_wind',
    explanation: `${what} by ${lowered} dB in ${where}${judgement.gone ? '' : '; some of it is still there'}.`,
  };
}
