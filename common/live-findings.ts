import { z } from 'zod';
import { defectKind, repairAction } from './report.ts';

/** Maximum of defects that a running repair reports: enough for a list, small in every push and row. */
export const MAX_LIVE_DEFECTS = 100;

/** State of a defect so far; `repaired` is done, but checked again before the clip is published. */
export const liveState = z.enum(['found', 'repaired', 'left_alone', 'flagged']);
export type LiveState = z.infer<typeof liveState>;

export const liveDefect = z.object({
  /** The same id as in the later report, e.g. "stuttered_cut-1". */
  id: z.string(),
  kind: defectKind,
  /** Times on the axis of the original. */
  startMs: z.number(),
  endMs: z.number(),
  /** Repeated, missing or damaged pictures; 1 for a stretch. */
  count: z.number().int().nonnegative(),
  state: liveState,
  /** What was done, once something was done. */
  action: repairAction.optional(),
});
export type LiveDefect = z.infer<typeof liveDefect>;

/** What a running repair has found and repaired so far; the report replaces it when the clip is published. */
export const liveFindings = z.object({
  /** Length of the original. */
  durationMs: z.number().positive(),
  /** Number of all defects, including those left out of the list. */
  total: z.number().int().nonnegative(),
  /** In order of time. */
  defects: z.array(liveDefect).max(MAX_LIVE_DEFECTS),
});
export type LiveFindings = z.infer<typeof liveFindings>;
