import type { VideoDto } from '#common/api/videos.ts';

export const VIDEO_SORTS = ['newest', 'oldest', 'name', 'size'] as const;
export type VideoSort = (typeof VIDEO_SORTS)[number];

export const DEFECT_FILTERS = [
  'all',
  'stutteredCuts',
  'audioSyncIssues',
  'droppedFrames',
  'corruptedSections',
  'windNoise',
  'none',
] as const;
export type DefectFilter = (typeof DEFECT_FILTERS)[number];

export interface Arrangement {
  readonly search: string;
  readonly sort: VideoSort;
  /** `all` or a status value. */
  readonly status: string;
  readonly defect: DefectFilter;
}

export const PLAIN_ARRANGEMENT: Arrangement = { search: '', sort: 'newest', status: 'all', defect: 'all' };

const COMPARE: Record<VideoSort, (a: VideoDto, b: VideoDto) => number> = {
  newest: (a, b) => b.createdAt.localeCompare(a.createdAt),
  oldest: (a, b) => a.createdAt.localeCompare(b.createdAt),
  name: (a, b) => a.originalFileName.localeCompare(b.originalFileName, undefined, { numeric: true }),
  size: (a, b) => b.fileSize - a.fileSize,
};

/** Whether none of the five summarised defects was found (D-67); unknown before the analysis. */
export function hasNoDefect({ issues }: VideoDto): boolean {
  if (!issues) return false;
  const { stutteredCuts, audioSyncIssues, droppedFrames, corruptedSections, windNoise } = issues;
  return !stutteredCuts && !audioSyncIssues && !droppedFrames && !corruptedSections && !windNoise;
}

function matches(video: VideoDto, { search, status, defect }: Arrangement): boolean {
  const words = search.trim().toLowerCase();
  if (words !== '' && !video.originalFileName.toLowerCase().includes(words) && !video.id.startsWith(words))
    return false;
  if (status !== 'all' && video.status !== status) return false;
  if (defect === 'all') return true;
  return defect === 'none' ? hasNoDefect(video) : Boolean(video.issues?.[defect]);
}

/** The videos that match, in the chosen order. */
export function arrangeVideos(videos: readonly VideoDto[], arrangement: Arrangement): VideoDto[] {
  return videos.filter((video) => matches(video, arrangement)).toSorted(COMPARE[arrangement.sort]);
}
