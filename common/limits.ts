/** Numbers of the specification (section 9) and of our decisions; each is defined only here. */

export const DAY_MS = 24 * 3600_000;

export const MAX_UPLOAD_BYTES = 2 * 1024 ** 3;
export const MIN_UPLOAD_BYTES = 1;
/**
 * Largest tus chunk, for fast connections: below common 100 MB body limits. On slow ones the browser sends smaller
 * chunks.
 */
export const UPLOAD_CHUNK_BYTES = 8 * 1024 ** 2;
/** How long unfinished uploads are kept. */
export const UPLOAD_TTL_MS = 7 * DAY_MS;
/** Maximum of open uploads per account. */
export const MAX_OPEN_UPLOADS = 20;

/** Polling intervals while push is down (specification section 9). */
export const POLL_MS = {
  status: 2000,
  stats: 5000,
  dashboardVideos: 5000,
  dashboardDrafts: 5000,
  libraryVideos: 2000,
  libraryDrafts: 5000,
  editor: 5000,
  drafts: 5000,
  ideas: 10_000,
  leaderboard: 30_000,
} as const;
/** Interval of the safety poll while push is healthy. */
export const SAFETY_POLL_MS = 30_000;
export const SESSION_FRESH_MS = 5 * 60_000;

export const TOAST = { limit: 1, durationMs: 3000, removeDelayMs: 1000 } as const;

export const DASHBOARD_LIST_LENGTH = 3;
export const LEADERBOARD_LENGTH = 5;
export const SHORT_ID_LENGTH = 8;
/** Minutes shown when the time remaining is unknown. */
export const DEFAULT_REMAINING_MINUTES = 2;

export const USERNAME = { min: 3, max: 20 } as const;
export const PASSWORD = { min: 8, max: 128 } as const;
export const FILE_NAME_MAX = 255;
export const NAME_TOO_LONG = `The name has at most ${FILE_NAME_MAX} characters.`;
export const IDEA_TEXT_MAX = 2000;
export const IDEA_NAME_MAX = 40;

/** Minutes saved per fixed issue, for the "Saved" tile; labelled as an estimate. */
export const MINUTES_SAVED_PER_FIX = 5;
/**
 * Maximum of fixes per clip that count for the time saved. A lost second is thirty missing pictures but one piece of
 * work: without a limit a clip of 20 s would claim to have saved 17 hours.
 */
export const MOST_FIXES_TIMED = 12;
export const SIMULATED_PAYMENT_MS = 2000;

/** File name extensions that the hero upload accepts (specification section 5). */
export const HERO_EXTENSIONS = ['.mp4', '.mov', '.avi'] as const;
