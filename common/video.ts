import { z } from 'zod';

export { HERO_EXTENSIONS } from './limits.ts';

/** Status values named in the specification (section 3); any other value is shown neutrally. */
export const VIDEO_STATUSES = ['processing', 'completed', 'failed'] as const;
export type VideoStatus = (typeof VIDEO_STATUSES)[number];

/**
 * The processing steps in order, with the exact label shown to people (specification section 4). Worker, status answer
 * and client labels all read this table.
 */
export const PROCESSING_STEPS = [
  { id: 'analyzing', label: 'Analyzing video issues...' },
  { id: 'fixing_cuts', label: 'Fixing stuttered cuts...' },
  { id: 'fixing_audio', label: 'Repairing audio sync...' },
  { id: 'recovering_frames', label: 'Recovering dropped frames...' },
  { id: 'adding_captions', label: 'Adding captions...' },
  { id: 'exporting', label: 'Exporting video...' },
] as const;
export type ProcessingStepId = (typeof PROCESSING_STEPS)[number]['id'];
export const processingStepId = z.enum([
  'analyzing',
  'fixing_cuts',
  'fixing_audio',
  'recovering_frames',
  'adding_captions',
  'exporting',
]);

/** State of one step; `not_needed` is shown honestly instead of pretending to run (design of the screens, 2). */
export const stepState = z.enum(['waiting', 'running', 'done', 'not_needed', 'failed']);
export type StepState = z.infer<typeof stepState>;

/** Defects found in a clip, in the shape that the specification names (section 3, entity Video). */
export const videoIssues = z.object({
  stutteredCuts: z.number().int().nonnegative().default(0),
  audioSyncIssues: z.boolean().default(false),
  droppedFrames: z.number().int().nonnegative().default(0),
  corruptedSections: z.number().int().nonnegative().default(0),
  windNoise: z.boolean().default(false),
  shakyFootage: z.boolean().default(false),
  poorLighting: z.boolean().default(false),
  blurrySection: z.boolean().default(false),
});
export type VideoIssues = z.infer<typeof videoIssues>;

export const NO_ISSUES: VideoIssues = {
  stutteredCuts: 0,
  audioSyncIssues: false,
  droppedFrames: 0,
  corruptedSections: 0,
  windNoise: false,
  shakyFootage: false,
  poorLighting: false,
  blurrySection: false,
};

/** Map of fix name to a count or a yes/no (specification section 3). */
export const fixesApplied = z.record(z.string(), z.union([z.boolean(), z.number().int()]));
export type FixesApplied = z.infer<typeof fixesApplied>;

/** Name of a fix that counts the corrupted sections which were only made playable: traces may be visible. */
export const MADE_PLAYABLE = 'corruptedSectionsMadePlayable';

/**
 * Sum of all fixes: a count counts as itself, `true` as one; sections made playable are included in the
 * corrupted ones.
 */
export function countFixes(fixes: FixesApplied): number {
  return Object.entries(fixes).reduce<number>(
    (sum, [name, value]) => sum + (name === MADE_PLAYABLE ? 0 : Number(value)),
    0,
  );
}
