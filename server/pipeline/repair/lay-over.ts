import type { ChangedSpan } from './picture-edit.ts';
import type { Verdict } from './picture-task.ts';
import type { PictureRepair } from './repair-pictures.ts';

export interface LaidOver {
  /** They do not overlap. */
  readonly spans: readonly ChangedSpan[];
  /** Verdicts of the repairs that remain. */
  readonly verdicts: readonly Verdict[];
  /**
   * Verdicts of repairs whose place is rebuilt together with the damage around it, so that nothing is left to do for
   * them.
   */
  readonly dropped: readonly Verdict[];
}

/**
 * Settles repairs that lie inside damage. If the damaged pictures are kept as decoded, repeats and gaps among them are
 * repaired there, and the damage's span is cut around them. If they are rebuilt, only what lies outside remains.
 * Repeats that made the clip longer are removed in any case, and gaps are filled where everything around is rebuilt the
 * same way.
 */
export function layOver(repairs: readonly PictureRepair[]): LaidOver {
  const dropped: Verdict[] = [];
  const verdicts: Verdict[] = [];
  const above: ChangedSpan[] = [];
  const beside: ChangedSpan[] = [];
  for (const { span, verdict } of repairs.filter((repair) => repair.span.underDamage)) {
    const rebuilt = repairs
      .filter((other) => isDamage(other) && !keepsAround(other.span, span))
      .map((other) => other.span);
    if (span.pictures.length === 0 || rebuilt.length === 0 || span.underDamage === 'whole') {
      above.push(span);
      verdicts.push(verdict);
      continue;
    }
    const left = isReplaced(span) ? cutAround(span, rebuilt) : [];
    beside.push(...left);
    (left.length > 0 ? verdicts : dropped).push(verdict);
  }
  const spans = [...above, ...beside];
  for (const repair of repairs) {
    if (repair.span.underDamage) continue;
    const parts = cutAround(repair.span, isDamage(repair) ? [...above, ...beside] : []);
    spans.push(...parts);
    verdicts.push(without(repair, parts));
  }
  return { spans, verdicts, dropped };
}

/** Whether a span replaces pictures one by one, so that some of them can be left out. */
const isReplaced = ({ firstFrame, endFrame, pictures }: ChangedSpan) =>
  pictures.length === endFrame - firstFrame;

const isDamage = ({ span }: PictureRepair) => span.mendsDamage === true && !span.underDamage;

/** Whether the pictures of a damaged stretch are kept as decoded at another span and right next to it. */
function keepsAround(damage: ChangedSpan, { firstFrame, endFrame }: ChangedSpan): boolean {
  return damage.pictures.every(({ pixels }, at) => {
    const frame = damage.firstFrame + at;
    if (frame < firstFrame - 1 || frame > endFrame) return true;
    return pixels.kind === 'original' && pixels.frame === frame;
  });
}

/** The parts of a span that other spans leave; it must have a picture for each of its places. */
function cutAround(span: ChangedSpan, others: readonly ChangedSpan[]): ChangedSpan[] {
  return others.reduce((parts, other) => parts.flatMap((part) => besides(part, other)), [span]);
}

function besides(span: ChangedSpan, { firstFrame, endFrame }: ChangedSpan): ChangedSpan[] {
  if (span.endFrame <= firstFrame || span.firstFrame >= endFrame) return [span];
  const sides = [
    { from: span.firstFrame, end: firstFrame },
    { from: endFrame, end: span.endFrame },
  ];
  return sides.flatMap(({ from, end }) => {
    if (end <= from) return [];
    const pictures = span.pictures.slice(from - span.firstFrame, end - span.firstFrame);
    return [{ ...span, firstFrame: from, endFrame: end, pictures }];
  });
}

/** The verdict on damage, with the number of its pictures that another repair has taken. */
function without({ span, verdict }: PictureRepair, parts: readonly ChangedSpan[]): Verdict {
  const left = parts.reduce((sum, { pictures }) => sum + pictures.length, 0);
  const taken = span.pictures.length - left;
  if (taken === 0) return verdict;
  const which = taken === 1 ? '1 of them repeats' : `${taken} of them repeat`;
  return { ...verdict, explanation: `${verdict.explanation} ${which} the picture before; see that defect.` };
}
