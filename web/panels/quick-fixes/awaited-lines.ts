import { useState } from 'react';
import type { FixOutcome, FixRunDto } from '#common/api/quick-fixes.ts';
import { type ChangeId, isPlatformFix } from '#common/fixes.ts';
import { isAtWork } from '#common/is-at-work.ts';
import { quickFixTexts as texts } from '../../texts/quick-fixes.ts';

/**
 * Whether the newest request is, or was, followed here. An older one is told by its fixes alone; of one that was seen
 * at work the room stays when it ends, so that nothing below it moves.
 */
export function useFollowed(run: FixRunDto | null): boolean {
  const [followed, setFollowed] = useState<string | null>(null);
  const atWork = isAtWork(run);
  if (run && atWork && followed !== run.jobId) setFollowed(run.jobId);
  return run !== null && (atWork || run.jobId === followed);
}

export interface AwaitedLines {
  /** Platform files that are not there: which, and what became of them. */
  readonly files: readonly { readonly fix: ChangeId; readonly words: string }[];
  /** What becomes, or became, of the version that is not there; null when none is awaited. */
  readonly version: string | null;
}

const NONE: AwaitedLines = { files: [], version: null };

/** Lines for what a followed request makes, and for what it did not make in the end. */
export function awaitedLines(run: FixRunDto | null): AwaitedLines {
  if (!run) return NONE;
  const made = (fixes: readonly FixOutcome[]): boolean =>
    run.state === 'done' && fixes.some(({ state }) => state === 'applied');
  const changes = run.fixes.filter(({ id }) => !isPlatformFix(id));
  const files = run.fixes.filter((fix) => isPlatformFix(fix.id) && !made([fix]));
  return {
    files: files.map((fix) => ({ fix: fix.id, words: wordsFor(run, [fix]) })),
    version: changes.length === 0 || made(changes) ? null : wordsFor(run, changes),
  };
}

function wordsFor(run: FixRunDto, fixes: readonly FixOutcome[]): string {
  if (run.state === 'cancelled') return texts.notMade.cancelled;
  if (run.state === 'failed') return texts.notMade.failed;
  if (fixes.some(({ state }) => state !== 'unchanged' && state !== 'failed')) return texts.beingMade;
  return fixes.every(({ state }) => state === 'unchanged') ? texts.notMade.unchanged : texts.notMade.failed;
}
