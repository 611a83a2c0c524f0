import { remainingMinutes } from '#common/format.ts';
import { type ChangeId, FIXES, type FixId, HAND_FIXES } from '#common/fixes.ts';
import { MESSAGES } from '#common/messages.ts';

const HINTS: Readonly<Record<FixId, string>> = {
  'wind-noise': 'Takes out the wind that you hear, faint wind too; the voice stays.',
  'audio-sync': 'Brings sound and picture back into sync.',
  'voice-enhance': 'Removes rumble, clears up the voice and sets the loudness that platforms use.',
  stabilize: 'Takes the hand shake out of the picture.',
  'color-correct': 'Brightens dark clips, removes a colour cast, converts HDR (high dynamic range).',
  sharpen: 'Makes edges gently clearer.',
  'tiktok-optimize': 'A separate upright file for TikTok.',
  'instagram-optimize': 'A separate upright file for Instagram.',
  'youtube-optimize': 'A separate upright file for YouTube Shorts.',
};

const LABELS: ReadonlyMap<ChangeId, string> = new Map(
  [...FIXES, ...HAND_FIXES].map(({ id, label }) => [id, label]),
);

const number = (value: number | null) => (value === null ? '–' : String(value).replace('-', '−'));

/** Loudness at which the platforms play clips, LUFS. */
const PLAYED_LUFS = -14;

/** What a figure of a fix means for listeners and viewers; null for one that is self-explanatory. */
function meaningOfFigure(name: string, before: number | null, after: number | null): string | null {
  const now = after ?? before;
  if (now === null) return null;
  switch (name) {
    case 'loudness': {
      const apart = now - PLAYED_LUFS;
      if (Math.abs(apart) <= 1) return 'As loud as the platforms play clips.';
      const side = apart < 0 ? 'quieter' : 'louder';
      return `${Math.abs(apart) < 6 ? 'A little' : 'Clearly'} ${side} than the platforms play clips.`;
    }
    case 'true peak':
      return now <= -0.5
        ? 'The loudest moment stays clear of crackling.'
        : 'The loudest moment is close to crackling.';
    case 'shake':
      return after === null || before === null || before <= 0
        ? null
        : `What is left of the shake: ${Math.round((after / before) * 100)} %.`;
    case 'edge contrast':
      return after === null || before === null || before <= 0
        ? null
        : `Edges are ${Math.abs(Math.round((after / before - 1) * 100))} % ${after >= before ? 'clearer' : 'softer'}.`;
    case 'middle brightness':
      return after === null || before === null || after === before
        ? null
        : `The picture is ${after > before ? 'brighter' : 'darker'} in the middle tones.`;
    case 'colour cast':
      return after === null || before === null || after >= before
        ? null
        : 'Whites and greys are less tinted.';
    default:
      return name.startsWith('motion at ') ? meaningOfMotion(before, after) : null;
  }
}

/** Frames that stand still move by a small share of what moves around them, those behind a jump by far more than all. */
function meaningOfMotion(before: number | null, after: number | null): string | null {
  if (before === null || after === null) return null;
  return before < 100
    ? `The frames there move ${Math.round(after)} % as much as those around them; it was ${Math.round(before)} %.`
    : `The longest step there is ${(after / 100).toFixed(1)} times as long as those around it; it was ${(before / 100).toFixed(1)} times.`;
}

/** Texts of the AI Quick Fixes panel. */
export const quickFixTexts = {
  title: 'AI Quick Fixes',
  note: 'Each fix is measured before and after; one that does not help is dropped. Every version can be restored.',
  loading: 'Loading the quick fixes...',
  fetchFailed: 'The quick fixes could not be loaded.',
  retry: 'Retry',
  categories: { audio: 'Audio', visual: 'Visual', platform: 'Platform' },
  hints: HINTS,
  /** Name of a change: of a quick fix, or of what somebody pointed at. */
  label: (id: ChangeId) => LABELS.get(id) ?? id,
  recommended: 'Recommended',
  states: {
    waiting: 'Waiting',
    working: 'Working',
    applied: 'Applied',
    made: 'File made',
    unchanged: 'No change needed',
    failed: 'Not possible',
    notApplied: 'Not applied',
    settled: 'Being checked',
  },
  measured: 'What was measured',
  measuredLabel: (fix: string) => `What was measured: ${fix}`,
  ended: (what: string, detail: string) => `${what}: ${detail}.`,
  beingMade: 'Being made',
  notMade: {
    unchanged: 'Nothing had to be made',
    failed: 'Could not be made',
    cancelled: 'Cancelled, so it was not made',
  },
  apply: (n: number) => (n === 0 ? 'Apply fixes' : n === 1 ? 'Apply 1 fix' : `Apply ${n} fixes`),
  asking: 'Applying...',
  busyElsewhere: 'What you marked is being mended first.',
  none: 'No fixes selected',
  noneDetail: 'Please select at least one enhancement to apply.',
  failed: 'Failed to apply fixes',
  failedDetail: 'Please try again later.',
  again: 'Try again',
  againLabel: 'Try again with the same fixes',
  progress: 'Quick fixes',
  working: (percent: number) => `Applying the fixes, ${percent} percent`,
  workingFor: (percent: number, secondsLeft: number | null) =>
    `Applying the fixes, ${percent} percent${secondsLeft === null ? '' : `, ${remainingMinutes(secondsLeft)} min remaining`}`,
  estimated: (percent: number) => `No news from the server; about ${percent} percent, judging by the time`,
  waiting: 'The fixes wait for their turn.',
  done: 'Fixes applied',
  cancelLabel: 'Cancel the fixes',
  cancelled: 'Fixes cancelled',
  cancelledDetail: MESSAGES.clipKept,
  cancelFailed: 'The fixes could not be cancelled',
  doneDetail: (applied: number, unchanged: number, failed: number) =>
    [
      `${applied} applied`,
      ...(unchanged > 0 ? [`${unchanged} needed no change`] : []),
      ...(failed > 0 ? [`${failed} not possible`] : []),
    ].join(', '),
  nothingDone: 'Nothing had to be changed',
  figure: (name: string, before: number | null, after: number | null, unit: string) => {
    const of = unit === '' ? '' : ` ${unit}`;
    if (after === null) return `${name}: ${number(before)}${of}`;
    return before === null
      ? `${name}: ${number(after)}${of}`
      : `${name}: ${number(before)} → ${number(after)}${of}`;
  },
  figureMeaning: meaningOfFigure,
  versions: 'Versions of the clip',
  kinds: { original: 'Original, as uploaded', repair: 'Mended', fixes: 'With quick fixes' },
  /** A version that holds nothing but what somebody pointed at. */
  mendedAgain: 'Mended again',
  current: 'current',
  restore: 'Restore',
  restoreLabel: (name: string) => `Restore: ${name}`,
  restored: 'Version restored',
  restoredDetail: 'It is what plays and downloads now; all others are kept.',
  restoreFailed: 'The version could not be restored',
  tryAgain: 'Please try again.',
  exports: 'Files for platforms',
  exportNames: {
    'tiktok-optimize': 'TikTok',
    'instagram-optimize': 'Instagram',
    'youtube-optimize': 'YouTube',
  } satisfies Partial<Record<FixId, string>>,
  older: 'from an earlier version',
  download: 'Download',
  downloadLabel: (name: string) => `Download the file for ${name}`,
  remove: (name: string) => `Delete the file for ${name}`,
  confirmRemove: (name: string) => `Delete the file for ${name}? The clip stays; the file can be made again.`,
  removed: 'File deleted',
  removeFailed: 'The file could not be deleted',
} as const;
