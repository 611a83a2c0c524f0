import type { RepairReport } from '#common/report.ts';
import { outcomeOf } from '../../texts/outcomes.ts';
import { reportTexts as texts } from '../../texts/report.ts';

/**
 * The outcome of the clip, and of each defect that was not repaired; "nothing was wrong" is said only without defects.
 */
export function summarise({ outcome, defects, lostEnds }: RepairReport): string {
  const all = defects.map((defect) => outcomeOf(defect.outcome, defect.action));
  const count = (wanted: ReturnType<typeof outcomeOf>) => all.filter((one) => one === wanted).length;
  const mended = count('repaired');
  // A clip that was cut off is told by what it lacks.
  const cutOff = defects.filter(({ action }) => action === 'rebuilt_rest').length;
  const playable = count('concealed') - cutOff;
  const left = count('left_alone');
  const noted = count('flagged');
  const unchanged = outcome === 'unchanged';
  if (unchanged && left + noted === 0) return texts.unchanged;
  return [
    lostEnds ? texts.cutOff(Math.max(lostEnds.pictureMs, lostEnds.soundMs) / 1000) : '',
    unchanged ? texts.notChanged : '',
    mended > 0 ? texts.repaired(mended) : '',
    playable > 0 ? texts.playable(playable) : '',
    !unchanged && !lostEnds && mended + playable === 0 ? texts.converted : '',
    left > 0 ? texts.leftAlone(left) : '',
    noted > 0 ? texts.noted(noted) : '',
  ]
    .filter((sentence) => sentence !== '')
    .join(' ');
}
