import { type LiveDefect, type LiveFindings, MAX_LIVE_DEFECTS } from '#common/live-findings.ts';
import type { Finding } from '../analyse/analysis.ts';
import { numberDefects } from '../publish/build-report.ts';
import type { Verdict } from '../repair/picture-task.ts';

/** What the owner of a clip sees during the repair: each defect when it is found, each repair when it is made. */
export interface LiveFindingsTeller {
  /** All findings of the analysis; `durationMs` is the duration of the original. */
  found(findings: readonly Finding[], durationMs: number): void;
  /** Verdicts on some of them; only told when something changes. */
  settle(verdicts: readonly Verdict[]): void;
}

/** After a kill, findings are new objects, but their places are the same. */
const placeOf = ({ kind, startMs, endMs }: Finding): string => `${kind} ${startMs} ${endMs}`;

/** @param tell called with the whole state after every change */
export function createLiveFindings(tell: (findings: LiveFindings) => void): LiveFindingsTeller {
  const defects = new Map<string, LiveDefect>();
  let durationMs = 0;

  function tellAll(): void {
    if (durationMs <= 0) return;
    const listed = [...defects.values()].slice(0, MAX_LIVE_DEFECTS);
    tell({ durationMs, total: defects.size, defects: listed });
  }

  function settleOne({ finding, outcome: state, action }: Verdict): boolean {
    const place = placeOf(finding);
    const known = defects.get(place);
    if (!known || (known.state === state && known.action === action)) return false;
    defects.set(place, { ...known, state, action });
    return true;
  }

  return {
    found(findings, lengthMs) {
      durationMs = lengthMs;
      for (const { id, of: finding } of numberDefects(findings, (one) => one)) {
        const { kind, startMs, endMs, count } = finding;
        defects.set(placeOf(finding), { id, kind, startMs, endMs, count, state: 'found' });
      }
      tellAll();
    },
    settle(verdicts) {
      if (verdicts.filter(settleOne).length > 0) tellAll();
    },
  };
}
