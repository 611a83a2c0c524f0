import { atom, useAtom, useSetAtom } from 'jotai';
import { useEffect } from 'react';
import type { DefectFilter, VideoDto, VideoSort, VideosQuery } from '#common/api/videos.ts';
import type { VideoStatus } from '#common/video.ts';

/** The state of the library's controls. */
export interface Arrangement {
  readonly search: string;
  readonly sort: VideoSort;
  readonly status: VideoStatus | 'all';
  readonly defect: DefectFilter | 'all';
}

/** The query for the server; omitted parts select everything. */
export type VideoChoice = Pick<VideosQuery, 'search' | 'sort' | 'status' | 'defect'>;

export const PLAIN_ARRANGEMENT: Arrangement = { search: '', sort: 'newest', status: 'all', defect: 'all' };

/** Pause in typing after which a search is sent. */
const TYPING_RESTS_MS = 250;

const arrangementAtom = atom<Arrangement>(PLAIN_ARRANGEMENT);
/** The query of the library's list; follows the controls. */
export const libraryChoiceAtom = atom<VideoChoice>({});

/** The query parts that differ from the plain list. */
function toChoice({ search, sort, status, defect }: Arrangement): VideoChoice {
  const words = search.trim();
  return {
    ...(words === '' ? {} : { search: words }),
    ...(sort === 'newest' ? {} : { sort }),
    ...(status === 'all' ? {} : { status }),
    ...(defect === 'all' ? {} : { defect }),
  };
}

/** Whether none of the five summarised defects was found; false before the analysis. */
export function hasNoDefect({ issues }: VideoDto): boolean {
  if (!issues) return false;
  const { stutteredCuts, audioSyncIssues, droppedFrames, corruptedSections, windNoise } = issues;
  return !stutteredCuts && !audioSyncIssues && !droppedFrames && !corruptedSections && !windNoise;
}

/** Search, order and filters of the library; they are kept while other pages are open. */
export function useArrangement() {
  const [arrangement, arrange] = useAtom(arrangementAtom);
  const ask = useSetAtom(libraryChoiceAtom);
  useEffect(() => {
    const choice = toChoice(arrangement);
    let typing: ReturnType<typeof setTimeout> | undefined;
    ask((asked) => {
      if (JSON.stringify(asked) === JSON.stringify(choice)) return asked;
      if ((asked.search ?? '') === (choice.search ?? '')) return choice;
      typing = setTimeout(() => ask(choice), TYPING_RESTS_MS);
      return asked;
    });
    return () => clearTimeout(typing);
  }, [arrangement, ask]);
  return { arrangement, arrange, chosen: Object.keys(toChoice(arrangement)).length > 0 };
}
