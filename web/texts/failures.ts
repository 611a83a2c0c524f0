import { videoTexts } from './videos.ts';

interface Advice {
  /** What happened, for the maker of the clip; omitted when the server's own message is as plain. */
  readonly what?: string;
  /** What to do next. */
  readonly next: string;
}

const FETCH_AGAIN =
  'Get the clip once more from the phone, camera or card it was recorded with (the file itself, not a copy out of a chat) and upload that.';
const NOT_YOURS = 'Your clip is not to blame. Press Retry; if it happens again, try later.';

/** Failures of the clip itself: another try with the same file ends in the same way. */
const OWN: Readonly<Record<string, Advice>> = {
  damaged_beyond_repair: {
    what: 'Too much of this file is missing or unreadable to get a clip out of it. The recording, or a copy of it, probably broke off.',
    next: FETCH_AGAIN,
  },
  empty_file: { what: 'There is nothing in this file: it has a name, but no content.', next: FETCH_AGAIN },
  not_a_video: { next: 'Check that you picked the clip and not a picture, a project or a shortcut to it.' },
  no_video_track: { next: 'Pick the file with the pictures in it: sound alone cannot be mended here.' },
  unsupported_codec: { next: 'Upload the exported clip as a new one.' },
  too_long: { next: 'Upload each part as a clip of its own.' },
  too_large: { next: 'Export the clip in a smaller picture size, such as 1080p, and upload that.' },
};

const OURS: Readonly<Record<string, Advice>> = {
  storage_full: { next: NOT_YOURS },
  stalled: { next: NOT_YOURS },
  timed_out: { next: 'A shorter part of the clip may get through: cut it and upload the parts.' },
  tool_missing: { next: 'Tell whoever runs this server.' },
  internal: { next: NOT_YOURS },
  interrupted: { next: NOT_YOURS },
  source_gone: { next: FETCH_AGAIN },
};

/** Texts beside every failure of a clip. */
export const failureTexts = {
  kept: 'Your upload is safe: it stays in Cloud Backup as it came.',
  detail: (message: string) => `In detail: ${message}`,
  again: 'Retry',
} as const;

export interface Failure {
  /** One or two sentences without technical terms. */
  readonly what: string;
  /** The server's message, if it says more than `what`. */
  readonly detail: string | null;
  readonly next: string | null;
  /** Whether another try with the same file may end differently. */
  readonly again: boolean;
}

/** Explains why a video could not be repaired, and what its maker can do about it. */
export function failureOf(video: {
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
}): Failure {
  const message = video.errorMessage || videoTexts.unknownError;
  const own = OWN[video.errorCode ?? ''];
  const advice = own ?? OURS[video.errorCode ?? ''];
  return {
    what: advice?.what ?? message,
    detail: advice?.what === undefined ? null : message,
    next: advice?.next ?? null,
    again: own === undefined,
  };
}
