import type { StreamTreatment } from '#common/report.ts';
import type { Finding } from '../analyse/analysis.ts';
import { playsAsIs, type PlaybackNeeds } from '../publish/playback.ts';
import type { Verification } from '../publish/verify-result.ts';
import type { Verdict } from '../repair/picture-task.ts';
import type { PictureRepair } from '../repair/repair-pictures.ts';
import { UNTOUCHED_SOUND, type SoundRepair } from './sound-step.ts';

/** The repairs that one attempt to write the clip still makes. */
export interface Attempt {
  readonly pictures: readonly PictureRepair[];
  readonly sound: SoundRepair;
  /** Encode all pictures, because the gentle way did not pass its checks. */
  readonly encodeAll: boolean;
  /** Verdicts of repairs that were dropped. */
  readonly dropped: readonly Verdict[];
  readonly notes: readonly string[];
}

/** A result, and what its checks found. */
export interface Judged {
  readonly outcome: { readonly video: Pick<StreamTreatment, 'treatment'> };
  readonly verification: Pick<Verification, 'failed' | 'checks'>;
}

/** The parts of the work that matter here. */
export interface GentlerWork {
  readonly needs: PlaybackNeeds;
  readonly opened: { readonly rebuilt: unknown; readonly putBack?: unknown };
}

/** The note when kept pictures around damage did not decode as they should with the new ones among them. */
const LEFT_DAMAGED = 'Re-encoding only the damaged frames left damage in the result, so all were re-encoded.';

export function changesSound({ audio }: SoundRepair): boolean {
  return audio.kind === 'file' || audio.shiftMs !== 0;
}

/**
 * What to try after a result that did not pass: the same without the repairs that are to blame, or with all pictures
 * encoded, or without all repairs of the pictures, or without those of the sound. Null if it passed, or if nothing is
 * left to give up.
 */
export function gentler(attempt: Attempt, done: Judged, work: GentlerWork): Attempt | null {
  const { failed, checks } = done.verification;
  const blamed = new Map(failed.map(({ finding, reason }) => [finding, reason]));
  const isPartly = done.outcome.video.treatment === 'smart_render';
  if (isPartly && failed.some(({ finding }) => finding.kind === 'corrupted_section')) {
    return { ...attempt, encodeAll: true, notes: [...attempt.notes, LEFT_DAMAGED] };
  }
  if (blamed.size > 0) {
    return drop(attempt, (finding) => blamed.get(finding) ?? null);
  }
  const broken = checks.filter((check) => !check.passed);
  if (broken.length === 0) return null;
  const onlySound = broken.every((check) => check.name.startsWith('sound'));
  const why = broken.map((check) => `${check.name} (${check.detail})`).join('; ');
  if (onlySound && changesSound(attempt.sound)) return dropSound(attempt, why);
  if (isPartly) {
    const note = `Re-encoding only the damaged frames did not pass these checks, so all were re-encoded: ${why}`;
    return { ...attempt, encodeAll: true, notes: [...attempt.notes, note] };
  }
  const carried = done.outcome.video.treatment === 'copied' && work.needs.container !== null;
  if (carried && !attempt.encodeAll) {
    const note = `Keeping the frames as they are did not pass these checks, so all were re-encoded: ${why}`;
    return { ...attempt, encodeAll: true, notes: [...attempt.notes, note] };
  }
  if (attempt.pictures.length > 0) {
    return { ...drop(attempt, () => droppedFor(why)), encodeAll: false };
  }
  if (changesSound(attempt.sound)) return dropSound(attempt, why);
  // Only a conversion, a rebuilt index or bytes put back are left. The clip does not play without them, and the report
  // shows the failed checks.
  const { rebuilt, putBack } = work.opened;
  return rebuilt === null && putBack === undefined && playsAsIs(work.needs) ? attempt : null;
}

const droppedFor = (why: string): string =>
  `The repair was dropped, because the result did not pass its checks: ${why}`;

function dropSound(attempt: Attempt, why: string): Attempt {
  const verdicts = attempt.sound.verdicts.map((verdict) => toDropped(verdict, droppedFor(why)));
  return { ...attempt, sound: UNTOUCHED_SOUND, dropped: [...attempt.dropped, ...verdicts] };
}

/**
 * Leaves out picture repairs.
 * @param reasonOf why the repair of a finding is left out; null if it stays
 */
function drop(attempt: Attempt, reasonOf: (finding: Finding) => string | null): Attempt {
  const dropped: Verdict[] = [];
  const pictures = attempt.pictures.filter(({ verdict }) => {
    const reason = reasonOf(verdict.finding);
    if (reason !== null) dropped.push(toDropped(verdict, reason));
    return reason === null;
  });
  return { ...attempt, pictures, dropped: [...attempt.dropped, ...dropped] };
}

export function toDropped(verdict: Verdict, reason: string): Verdict {
  return { ...verdict, outcome: 'left_alone', action: 'none', after: null, explanation: reason };
}
