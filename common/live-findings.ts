import { z } from 'zod';
import { defectKind, repairAction } from './report.ts';

/** Defects that a running repair tells about at most: enough for a list, small in every push and row. */
export const MAX_LIVE_DEFECTS = 100;

/** What became of a defect so far: `repaired` is made, but checked once more before the clip is published. */
export const liveState = z.enum(['found', 'repaired', 'left_alone', 'flagged']);
export type LiveState = z.infer<typeof liveState>;

export const liveDefect = z.object({
  /** The same as in the report that follows, e.g. "stuttered_cut-1". */
  id: z.string(),
  kind: defectKind,
  /** On the time axis of the original. */
  startMs: z.number(),
  endMs: z.number(),
  /** Repeated, missing or damaged pictures; 1 for a stretch. */
  count: z.number().int().nonnegative(),
  state: liveState,
  /** What was done, once something was. */
  action: repairAction.optional(),
});
export type LiveDefect = z.infer<typeof liveDefect>;

/** What a running repair has found and mended so far; the report takes its place when the clip is published. */
export const liveFindings = z.object({
  /** Length of the original. */
  durationMs: z.number().positive(),
  /** All defects, also those that the list leaves out. */
  total: z.number().int().nonnegative(),
  /** In order of time. */
  defects: z.array(liveDefect).max(MAX_LIVE_DEFECTS),
});
export type LiveFindings = z.infer<typeof liveFindings>;
