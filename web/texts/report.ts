import { BY_HAND, MARKED_PLACE } from '#common/noticed.ts';

/** What the file before the repair was: an upload, or a finished clip in which somebody marked something. */
export type Compared = 'upload' | 'version';

const AS = { upload: 'as uploaded', version: 'as it was before' } satisfies Record<Compared, string>;
const WHAT = { upload: 'what you uploaded', version: 'what it was before' } satisfies Record<
  Compared,
  string
>;

/** Meanings of a report's checks, by name; a name not listed is self-explanatory. */
const checkMeanings = (compared: Compared): Readonly<Record<string, string>> => ({
  'decode times rise': 'Players get the frames in an order that they can play.',
  'length as planned': 'The clip is exactly as long as it should be.',
  'untouched pictures bit-exact': `Every undamaged frame is exactly ${AS[compared]}.`,
  'pictures bit-exact': `Every frame is exactly ${AS[compared]}.`,
  'sound bit-exact': `The sound is exactly ${AS[compared]}.`,
  'untouched sound bit-exact': `All undamaged sound is exactly ${AS[compared]}.`,
  'decodes without a complaint': 'The whole clip plays without an error.',
  'picture count as planned': 'Exactly the right number of frames is there.',
  'times as planned': 'Every frame is shown at the right moment.',
  'no new defect': 'A second look found nothing wrong that was not there before.',
  'sound keeps rate and channels': 'The sound has the same quality and channels as before.',
  'sound and picture in step': 'Sound and picture are in sync from start to end.',
  'sound moved as planned':
    compared === 'upload'
      ? 'The sound was moved exactly as far as it was off.'
      : 'The sound was moved exactly as far as you said.',
});

const NAMES: Readonly<Record<string, string>> = {
  mov: 'MP4/MOV',
  matroska: 'Matroska/WebM',
  mpegts: 'MPEG-TS',
  mpeg: 'MPEG-PS',
  h264: 'H.264',
  hevc: 'H.265',
  mjpeg: 'Motion JPEG',
  prores: 'ProRes',
  mpeg4: 'MPEG-4 Visual',
  mpeg1video: 'MPEG-1',
  mpeg2video: 'MPEG-2',
  opus: 'Opus',
  vorbis: 'Vorbis',
  pcm_s16le: 'PCM',
  pcm_s16be: 'PCM',
  pcm_s24le: 'PCM',
};

/** What revealed a defect, by the name of its detector. */
const FOUND_BY: Readonly<Record<string, string>> = {
  'detect-stutter': 'repeated frames in the motion',
  'detect-hidden-drops': 'a jump in the motion',
  'detect-dropped-frames': 'a gap in the frame times',
  'detect-corruption': 'the decoder and the coded data',
  'detect-picture-flags': 'light, sharpness and steadiness',
  'detect-wind-noise': 'the spectrum of the sound',
  'detect-audio-sync': 'the times and the content of the sound',
  'rebuild-index': 'the index of the file',
  [MARKED_PLACE]: 'your mark',
  [BY_HAND]: 'your ear',
};

/** Texts of the repair report page. */
export const reportTexts = {
  pageTitle: (name: string) => `Repair report: ${name}`,
  title: 'Repair report',
  back: 'Back to My Videos',
  loading: 'Loading the report...',
  failed: 'The report could not be loaded.',
  none: {
    processing: 'There is no report yet. It is written when processing is complete.',
    failed: 'There is no report: this video could not be processed.',
    completed:
      'The original is the current version, as it was uploaded. The report belongs to the mended one: restore that in the editor to read it.',
  },
  /** What can be done about a clip that could not be repaired. */
  failedWays: {
    another: 'Upload another clip',
    backup: 'Open Cloud Backup',
  },
  toEditor: 'Open in the editor',
  noVideo: 'This video is not in your library. It may have been deleted, or it belongs to another account.',
  retry: 'Retry',
  print: 'Print',
  json: 'Download JSON',
  certificate: 'Certificate',
  certificateCheck: 'Check a certificate',
  compare: 'Compare before and after',
  unchanged: 'Nothing was wrong. The result is the uploaded file, byte for byte.',
  repaired: (n: number) => (n === 1 ? '1 issue was mended.' : `${n} issues were mended.`),
  playable: (n: number) =>
    n === 1
      ? '1 damaged section was made playable; traces may show.'
      : `${n} damaged sections were made playable; traces may show.`,
  cutOff: (seconds: number) =>
    `The upload was cut off: its last ${seconds.toFixed(1)} seconds are not in it and cannot be brought back. What is there plays again.`,
  notChanged: 'Nothing was changed: the result is the uploaded file, byte for byte.',
  leftAlone: (n: number) =>
    n === 1
      ? '1 issue was left as it is; the table says why.'
      : `${n} issues were left as they are; the table says why.`,
  noted: (n: number) => (n === 1 ? '1 was only noted.' : `${n} were only noted.`),
  converted: 'The clip was converted for playback.',
  kinds: {
    title: 'What was wrong',
    where: (frames: number | null, places: number, first: string) => {
      const at = places === 1 ? `at ${first}` : `in ${places} places`;
      if (frames === null) return at;
      return `${frames === 1 ? '1 frame' : `${frames} frames`} ${at}`;
    },
  },
  axis: 'Where on the clip',
  figures: { show: 'Show the exact figures', hide: 'Hide the exact figures' },
  defects: {
    title: 'Issues',
    none: 'No issues were found.',
    all: (n: number) => `Show all ${n} issues`,
    fewer: 'Show fewer',
    kind: 'Issue',
    where: 'Where',
    meaning: 'What it means',
    exact: 'Exact figures',
    before: 'Before',
    after: 'After',
    limit: 'Limit',
    /** For ratios, which cannot be measured when nothing is left to measure. */
    gone: 'no longer found',
    confidence: 'Confidence',
    outcome: 'Outcome',
    mendAnyway: 'Mend it anyway',
    mendAnywayLabel: (kind: string) => `Mend it anyway: ${kind}`,
    frames: (first: number, last: number) =>
      first === last ? `frame ${first}` : `frames ${first} to ${last}`,
    until: (time: string) => `to ${time}`,
    detector: (name: string) => `found by ${FOUND_BY[name] ?? name}`,
  },
  streams: {
    title: 'What was touched',
    video: 'Picture',
    audio: 'Sound',
    /** Rounded down, so that it never says all when something is new. */
    share: (share: number, compared: Compared) =>
      share === 1
        ? `All of it is ${WHAT[compared]}, byte for byte.`
        : `${Math.floor(share * 100)} % of it is ${WHAT[compared]}, byte for byte.`,
    kept: (kept: number, total: number) => `${kept} of ${total} stored packets kept byte for byte`,
    treatments: (compared: Compared) => ({
      absent: 'not present',
      untouched: 'untouched',
      copied: `exactly ${AS[compared]}`,
      smart_render: 'only the damaged parts were re-encoded',
      full_encode: 're-encoded as a whole',
    }),
    /** Of pictures that were all encoded anew. */
    whole: 'No frame could be kept byte for byte, so all were encoded anew. Your upload is kept as it came.',
    detail: (reason: string) => `In detail: ${reason}`,
    /** For `smart_render` when many pictures had to be encoded along with the repaired ones. */
    encodedWith: 'the damaged parts were re-encoded, with the frames that build on them',
  },
  steps: {
    title: 'Steps',
    states: {
      waiting: 'waiting',
      running: 'running',
      done: 'done',
      not_needed: 'not needed',
      failed: 'failed',
    },
  },
  checks: {
    title: 'Checks on the result',
    passed: 'passed',
    failed: 'not passed',
    meaning: (name: string, compared: Compared) => checkMeanings(compared)[name] ?? null,
  },
  files: {
    title: 'Files',
    original: { upload: 'Original', version: 'The clip before' } satisfies Record<Compared, string>,
    result: 'Result',
    size: 'Size',
    hash: 'Checksum (SHA-256)',
    larger:
      'Larger than the original: frames that others build on are stored without loss, so that all frames after them stay byte for byte.',
    largerWith:
      'Larger than the original: frames that build on mended ones were re-encoded with them, which takes more room for the same quality.',
    media: 'Media',
    rate: (fps: string) => `${fps} frames per second`,
    variable: 'variable',
    /** Usual names of containers and codecs instead of ffmpeg's. */
    named: (name: string) => NAMES[name] ?? name.toUpperCase(),
    sound: (codec: string, hz: number, channels: number) =>
      `${codec}, ${hz / 1000} kHz, ${channels === 1 ? 'mono' : channels === 2 ? 'stereo' : `${channels} channels`}`,
    noSound: 'no sound',
  },
  pictures: {
    title: 'Before and after',
    original: 'Original',
    result: 'Mended',
    missing: 'No frame could be read here.',
    alt: (defect: string, side: string) => `${defect}: ${side}`,
  },
  curves: {
    title: 'Over the clip',
    titles: {
      sync_offset: 'Sound against picture',
      low_band_level: 'Background level, 60 to 500 Hz',
    },
    leads: {
      sync_offset: 'How late the sound is, in milliseconds; below zero it is early.',
      low_band_level: 'The range that wind rumbles in: the lower the line, the less wind is left.',
    },
    before: 'Original',
    after: 'Mended',
    at: 'At',
    table: 'All figures as a table',
    range: (low: string, high: string) => (low === high ? low : `${low} to ${high}`),
    sentence: (title: string, before: string, after: string | null) =>
      after === null
        ? `${title}: ${before} in the original.`
        : `${title}: ${before} in the original, ${after} mended.`,
  },
  notes: 'Remarks',
  older:
    'The clip was changed after this repair, by quick fixes or where somebody marked it. This report is about the version before, which can be restored.',
  /** The report of a version that was made where somebody marked something. */
  marked: {
    pageTitle: (name: string) => `Report of what you marked: ${name}`,
    title: 'What you marked',
    back: 'Back to the repair report',
    lead: 'What was done where you marked something: from the clip before to the one that was made of it.',
    none: 'There is no report of this version: it may have been deleted with its video.',
    /** Name of the list of links. */
    list: 'Reports of what you marked',
    link: 'What became of your marks',
    verify:
      'For engineers: anyone with ffmpeg can check this report again with npm run verify -- before.mp4 after.mp4 report.json',
    files: { before: 'Download the clip before', after: 'Download the clip after' },
  },
  madeWith: (reelmend: string, ffmpeg: string) => `Reelmend ${reelmend} with ffmpeg ${ffmpeg}`,
  verify:
    'For engineers: anyone with ffmpeg can check this report again with npm run verify -- original.mp4 repaired.mp4 report.json',
} as const;
