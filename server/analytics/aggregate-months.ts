import type { AnalyticsBody, AnalyticsMonth, DefectCounts } from '#common/api/analytics.ts';
import { MINUTES_SAVED_PER_FIX, MOST_FIXES_TIMED } from '#common/limits.ts';
import { utcMonth } from '#server/plans/quota.ts';
import { countFixes, type FixesApplied, type VideoIssues, type VideoStatus } from '#common/video.ts';

/** The facts about one video that the figures need. Times in epoch ms. */
export interface VideoFact {
  readonly createdAt: number;
  readonly status: VideoStatus;
  readonly durationMs: number | null;
  readonly issues: VideoIssues | null;
  readonly fixesApplied: FixesApplied;
}

/** A stored object and the time it first came to the account. */
export interface StoredFact {
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly createdAt: number;
}

const MINUTE_MS = 60_000;

/** The last `count` UTC months up to the month of `nowMs`, oldest first. */
export function lastMonths(nowMs: number, count: number): string[] {
  const now = new Date(nowMs);
  return Array.from({ length: count }, (_unused, index) =>
    utcMonth(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - (count - 1 - index), 1)),
  );
}

/**
 * Figures per UTC month over the last `count` months. Videos and their defects count in the month the video was added.
 * An object shared by several rows counts once, in the month it first came.
 */
export function aggregateMonths(
  videos: readonly VideoFact[],
  objects: readonly StoredFact[],
  count: number,
  nowMs: number,
): AnalyticsBody {
  const names = lastMonths(nowMs, count);
  const months = new Map(names.map((month) => [month, emptyMonth(month)]));
  for (const video of videos) {
    const month = months.get(utcMonth(video.createdAt));
    if (month) addVideo(month, video);
  }
  const bytes = addedBytes(objects);
  const first = names[0] ?? '';
  let stored = [...bytes].reduce((sum, [month, added]) => (month < first ? sum + added : sum), 0);
  const list = names.map((name) => {
    const added = bytes.get(name) ?? 0;
    stored += added;
    return { ...(months.get(name) ?? emptyMonth(name)), addedBytes: added, storedBytes: stored };
  });
  return { months: list, totals: totalsOf(list, stored) };
}

function emptyDefects(): DefectCounts {
  return {
    stuttered_cut: 0,
    dropped_frames: 0,
    corrupted_section: 0,
    audio_sync: 0,
    wind_noise: 0,
    shaky_footage: 0,
    poor_lighting: 0,
    blurry_section: 0,
  };
}

function emptyMonth(month: string): AnalyticsMonth {
  return {
    month,
    videos: 0,
    completed: 0,
    failed: 0,
    defects: emptyDefects(),
    issuesFixed: 0,
    minutesMended: 0,
    minutesSaved: 0,
    addedBytes: 0,
    storedBytes: 0,
  };
}

/** Defects of one video by kind; a yes/no in the specification's shape counts as one. */
function defectsOf(issues: VideoIssues): DefectCounts {
  return {
    stuttered_cut: issues.stutteredCuts,
    dropped_frames: issues.droppedFrames,
    corrupted_section: issues.corruptedSections,
    audio_sync: Number(issues.audioSyncIssues),
    wind_noise: Number(issues.windNoise),
    shaky_footage: Number(issues.shakyFootage),
    poor_lighting: Number(issues.poorLighting),
    blurry_section: Number(issues.blurrySection),
  };
}

function sumDefects(left: DefectCounts, right: DefectCounts): DefectCounts {
  return {
    stuttered_cut: left.stuttered_cut + right.stuttered_cut,
    dropped_frames: left.dropped_frames + right.dropped_frames,
    corrupted_section: left.corrupted_section + right.corrupted_section,
    audio_sync: left.audio_sync + right.audio_sync,
    wind_noise: left.wind_noise + right.wind_noise,
    shaky_footage: left.shaky_footage + right.shaky_footage,
    poor_lighting: left.poor_lighting + right.poor_lighting,
    blurry_section: left.blurry_section + right.blurry_section,
  };
}

function addVideo(month: AnalyticsMonth, video: VideoFact): void {
  month.videos += 1;
  if (video.status === 'completed') month.completed += 1;
  if (video.status === 'failed') month.failed += 1;
  if (video.issues) month.defects = sumDefects(month.defects, defectsOf(video.issues));
  const fixes = countFixes(video.fixesApplied);
  month.issuesFixed += fixes;
  month.minutesSaved += Math.min(fixes, MOST_FIXES_TIMED) * MINUTES_SAVED_PER_FIX;
  if (fixes > 0) month.minutesMended += (video.durationMs ?? 0) / MINUTE_MS;
}

/** New bytes per month. */
function addedBytes(objects: readonly StoredFact[]): Map<string, number> {
  const seen = new Set<string>();
  const bytes = new Map<string, number>();
  for (const object of objects.toSorted((a, b) => a.createdAt - b.createdAt)) {
    if (seen.has(object.sha256)) continue;
    seen.add(object.sha256);
    const month = utcMonth(object.createdAt);
    bytes.set(month, (bytes.get(month) ?? 0) + object.sizeBytes);
  }
  return bytes;
}

function totalsOf(months: readonly AnalyticsMonth[], storedBytes: number): AnalyticsBody['totals'] {
  const sum = (pick: (month: AnalyticsMonth) => number) =>
    months.reduce((total, month) => total + pick(month), 0);
  return {
    videos: sum((month) => month.videos),
    completed: sum((month) => month.completed),
    failed: sum((month) => month.failed),
    defects: months.reduce((total, month) => sumDefects(total, month.defects), emptyDefects()),
    issuesFixed: sum((month) => month.issuesFixed),
    minutesMended: sum((month) => month.minutesMended),
    minutesSaved: sum((month) => month.minutesSaved),
    storedBytes,
  };
}
