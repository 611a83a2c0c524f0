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
const PLATFORM_FIXES: ReadonlySet<FixId> = new Set(
  FIXES.filter(({ category }) => category === 'platform').map(({ id }) => id),
);
/** Whether a fix makes a separate file for a platform and leaves the clip unchanged. */
export const isPlatformFix = (id: FixId): boolean => PLATFORM_FIXES.has(id);
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
