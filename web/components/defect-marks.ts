import type { LiveDefect } from '#common/live-findings.ts';
import type { Defect } from '#common/report.ts';
import { meaningOf } from '../texts/meanings.ts';
import { outcomeWord } from '../texts/outcomes.ts';
import { videoTexts } from '../texts/videos.ts';
import type { ThreadMark } from './thread-strip.tsx';
import { formatMark } from './time-text.ts';

/** The marks of a repair report. */
export function marksOf(defects: readonly Defect[]): ThreadMark[] {
  return defects.map((defect) => {
    const { id, kind, startMs, endMs, outcome, action } = defect;
    const label = `${videoTexts.defects[kind]}, ${formatMark(startMs)}: ${outcomeWord(outcome, action)}`;
    return { id, kind, startMs, endMs, outcome, label, meaning: meaningOf(defect) };
  });
}

/** The marks of a repair that is still running. */
export function liveMarksOf(defects: readonly LiveDefect[]): ThreadMark[] {
  return defects.map(({ id, kind, startMs, endMs, state, action }) => ({
    id,
    kind,
    startMs,
    endMs,
    outcome: state,
    label: `${videoTexts.defects[kind]}, ${formatMark(startMs)}: ${outcomeWord(state, action)}`,
  }));
}
