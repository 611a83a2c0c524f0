import { z } from 'zod';

/** The nine quick fixes with their category (specification section 3). */
export const FIXES = [
  { id: 'wind-noise', category: 'audio', label: 'Remove Wind Noise' },
  { id: 'audio-sync', category: 'audio', label: 'Fix Audio Sync' },
  { id: 'voice-enhance', category: 'audio', label: 'Enhance Voice' },
  { id: 'stabilize', category: 'visual', label: 'Stabilize Footage' },
  { id: 'color-correct', category: 'visual', label: 'Color Correction' },
  { id: 'sharpen', category: 'visual', label: 'Sharpen Video' },
  { id: 'tiktok-optimize', category: 'platform', label: 'Optimize for TikTok' },
  { id: 'instagram-optimize', category: 'platform', label: 'Optimize for Instagram' },
  { id: 'youtube-optimize', category: 'platform', label: 'Optimize for YouTube' },
] as const;
export type FixId = (typeof FIXES)[number]['id'];
const PLATFORM_FIXES: ReadonlySet<ChangeId> = new Set(
  FIXES.filter(({ category }) => category === 'platform').map(({ id }) => id),
);
/** Whether a fix makes a separate file for a platform and leaves the clip unchanged. */
export const isPlatformFix = (id: ChangeId): boolean => PLATFORM_FIXES.has(id);
export const fixId = z.enum([
  'wind-noise',
  'audio-sync',
  'voice-enhance',
  'stabilize',
  'color-correct',
  'sharpen',
  'tiktok-optimize',
  'instagram-optimize',
  'youtube-optimize',
]);

/** What is mended because somebody pointed at it; asked for by `noticed`, beside the nine quick fixes. */
export const HAND_FIXES = [
  { id: 'freeze-here', label: 'Freezes you marked' },
  { id: 'jump-here', label: 'Jumps you marked' },
  { id: 'sound-moved', label: 'Sound you moved' },
] as const;
export type HandFixId = (typeof HAND_FIXES)[number]['id'];
const handFixId = z.enum(['freeze-here', 'jump-here', 'sound-moved']);
/** Whatever a version may be changed by. */
export const changeId = z.union([fixId, handFixId]);
export type ChangeId = z.infer<typeof changeId>;
/** Whether a change is one of the nine quick fixes. */
export const isQuickFix = (id: ChangeId): id is FixId => fixId.safeParse(id).success;
