import { MESSAGES } from '#common/messages.ts';

const NAMED = 3;

/** The first names of a list, and the number of the others. */
function someOf(names: readonly string[]): string {
  const more = names.length - NAMED;
  return more > 0 ? `${names.slice(0, NAMED).join(', ')} and ${more} more` : names.join(', ');
}

/** Texts of the landing page, section by section. */
export const landingTexts = {
  title: 'Mend broken short clips',
  hero: {
    heading: 'Broken clip in. Mended clip out.',
    lead: 'Reelmend finds the stuttered cuts, drifting sound, dropped or corrupted frames and wind noise in short clips, mends them, and shows you every stitch. Made for short-form creators and their teams.',
    drop: 'Drop a video here, or click to browse',
    dropPhone: 'Bring in a broken clip',
    dropActive: 'Let go to bring it in',
    limits: '.mp4, .mov or .avi, one file, up to 2 GB',
    quotaLeft: (used: number, limit: number) =>
      `${used} of the ${limit} videos of your plan used this month (UTC)`,
    quotaUsed: (limit: number) => `All ${limit} videos of your plan are used. The next ones are free on`,
    quotaTitle: 'Your plan is used up for this month',
    quotaMore: 'Get more',
    browse: 'Choose a video',
    showKnown: 'Show it',
    uploading: 'Uploading...',
    signIn: 'Sign in to Upload Videos',
    taken: (name: string) => `${name} is taken, and is sent as soon as this page has loaded.`,
    kept: (name: string) => `${name} is kept here and is sent as soon as you sign in.`,
    sample: 'Try a sample clip',
    sampleBusy: 'Making the sample...',
    sampleHint: 'A short clip, broken on purpose, is made for you and mended while you watch.',
    sampleLate:
      'This server makes its sample for the first time, which takes up to a minute. It goes on by itself.',
    film: {
      label: 'Before and after',
      before: {
        title: 'As it came.',
        text: 'Six frames are missing: the motion jumps.',
        picture: 'Two frames of a lantern over hills, a gap, and two more.',
      },
      after: {
        title: 'Mended.',
        text: 'All six are rebuilt from their neighbours.',
        picture: 'Ten frames in which the lantern flies on without a jump.',
      },
      source: 'A third of a second of the sample clip, from 0:04 on, as the server mended it.',
    },
    uploadProgress: (percent: number) => `Uploading, ${percent} percent`,
    uploadLabel: 'Upload',
  },
  processing: {
    heading: 'Mending',
    label: 'Repair',
    valueText: (step: string, percent: number) => `${step}, ${percent} percent`,
    remaining: (minutes: number) => `${minutes} min remaining`,
    queued: 'Waiting for its turn',
    complete: 'Processing complete!',
    fixed: 'Issues fixed automatically',
    ready: 'Ready for download',
    failed: 'Processing failed:',
    unknownError: MESSAGES.unknownError,
    download: 'Download',
    compare: 'See before and after',
    library: 'Open in My Videos',
    steps: 'Repair steps',
    waiting: 'waiting',
    running: 'running',
    notNeeded: 'not needed',
    stepFailed: 'failed',
    notReached: 'not reached',
    doneIn: (time: string) => `done in ${time}`,
    silent: (seconds: number) => `No news for ${seconds} s`,
    unavailable: 'The state of this video could not be read.',
  },
  dashboard: {
    heading: 'Dashboard',
    tiles: { videos: 'Videos', drafts: 'Drafts', fixed: 'Fixed', saved: 'Saved' },
    savedHint: 'Estimate: five minutes of editing for each fixed issue, an hour for a clip at most',
    quota: (used: number, limit: number) => `${used} of ${limit} this month (UTC)`,
    quotaUnlimited: (used: number) => `${used} this month (UTC), no limit`,
    cards: {
      videos: { title: 'Video Details', text: 'All processed videos' },
      drafts: { title: 'Cloud Backup', text: 'Saved drafts' },
      editor: { title: 'Editor', text: 'Edit and enhance with AI' },
    },
    recentVideos: 'Recent Videos',
    recentDrafts: 'Recent Drafts',
    noVideos: 'No finished videos yet.',
    noDrafts: 'No drafts yet. Every upload is backed up automatically.',
    signedOut: 'Sign in to see yours.',
    fixes: (n: number) => (n === 1 ? '1 fix' : `${n} fixes`),
    modified: 'Last modified',
    download: (name: string) => `Download ${name}`,
    loadFailed: 'Could not refresh',
    openUploads: 'Unfinished uploads',
    openUnnamed: 'A file without a name',
    openUpload: (sent: string, total: string) =>
      `${sent} of ${total} stored. Pick the same file again to go on.`,
    goOn: 'Continue',
    goOnLabel: (name: string) => `Pick ${name} again to continue`,
    otherFile: (name: string, size: string, wanted: string) =>
      `${name} is another file: it has ${size}, this upload is of ${wanted}.`,
    discard: 'Discard',
  },
  multi: {
    heading: 'Upload several videos',
    text: 'Drop videos here, or click to browse. Each one is mended on its own.',
    textPhone: 'Each one is mended on its own.',
    browse: 'Choose videos',
    taken: (n: number) =>
      n === 1
        ? 'Your video is taken, and is sent as soon as this page has loaded.'
        : `Your ${n} videos are taken, and are sent as soon as this page has loaded.`,
    notTaken: 'Not all files were taken',
    noRoom: (room: number, left: readonly string[]) =>
      `${room === 0 ? 'No more videos fit' : room === 1 ? 'Only 1 more video fits' : `Only ${room} more videos fit`} into your plan this month. Not taken: ${someOf(left)}.`,
    limits: 'Any video file, such as .mp4, .mov or .avi, up to 2 GB each',
  },
  features: {
    heading: 'What gets mended',
    lead: 'Every issue is measured before and after. What is not broken stays untouched, byte for byte.',
    items: [
      {
        title: 'Stuttered cuts',
        text: 'Repeated frames after a cut are found in the motion itself and taken out, and the sound stays in sync.',
      },
      {
        title: 'Audio sync drift',
        text: 'Sound that starts late or drifts is moved or gently stretched until it matches the picture again.',
      },
      {
        title: 'Dropped frames',
        text: 'Missing frames are rebuilt from their neighbours, never across a cut.',
      },
      {
        title: 'Corrupted sections',
        text: 'Damaged frames are found and rebuilt; the intact ones around them are copied unchanged.',
      },
      {
        title: 'Wind noise',
        text: 'Wind over speech is turned down, and voices are checked so that they stay whole.',
      },
      {
        title: 'Captions',
        text: 'Captions are timed to the speech. The words are yours or transcribed, never invented.',
      },
      {
        title: 'Draft backups',
        text: 'Every upload is kept untouched as a draft and can be restored, with a checksum that reveals any change.',
      },
      {
        title: 'Ready for platforms',
        text: 'Each result is checked against what TikTok, YouTube Shorts and Instagram Reels accept: you see what would be cropped or refused.',
      },
    ],
  },
  pricing: {
    heading: 'Pricing',
    lead: 'Start with five clips a month. Paid plans begin with a 7-day free trial.',
    popular: 'Most Popular',
    choose: (name: string) => `Choose ${name}`,
    guarantee: '7-day free trial, 30-day money-back guarantee',
    free: 'Free for as long as you like',
  },
  testimonials: {
    heading: 'What creators say',
    sample: 'Sample testimonials',
    items: [
      {
        quote: 'My phone drops frames when it gets hot. I stopped reshooting.',
        name: 'Sample creator A',
        role: 'Travel clips',
      },
      {
        quote: 'The report says what was done at which second. Finally something I can check.',
        name: 'Sample creator B',
        role: 'Interview shorts',
      },
      {
        quote: 'I closed the lid in a tunnel, opened it again, and the upload just went on.',
        name: 'Sample creator C',
        role: 'Concert reels',
      },
    ],
  },
} as const;
