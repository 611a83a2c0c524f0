import { atom, useAtom, useSetAtom } from 'jotai';
import { useEffect } from 'react';
import type { DefectFilter, VideoDto, VideoSort, VideosQuery } from '#common/api/videos.ts';
import type { VideoStatus } from '#common/video.ts';

/** What the controls of the library show. */
export interface Arrangement {
  readonly search: string;
  readonly sort: VideoSort;
  readonly status: VideoStatus | 'all';
  readonly defect: DefectFilter | 'all';
}

/** What the server is asked for; parts left out choose nothing. */
export type VideoChoice = Pick<VideosQuery, 'search' | 'sort' | 'status' | 'defect'>;

export const PLAIN_ARRANGEMENT: Arrangement = { search: '', sort: 'newest', status: 'all', defect: 'all' };

/** A search is asked for when the typing rests this long. */
const TYPING_RESTS_MS = 250;

const arrangementAtom = atom<Arrangement>(PLAIN_ARRANGEMENT);
/** The choice that the library's list is read by; follows the controls. */
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

/** Whether none of the five summarised defects was found (D-67); unknown before the analysis. */
export function hasNoDefect({ issues }: VideoDto): boolean {
  if (!issues) return false;
  const { stutteredCuts, audioSyncIssues, droppedFrames, corruptedSections, windNoise } = issues;
  return !stutteredCuts && !audioSyncIssues && !droppedFrames && !corruptedSections && !windNoise;
}

/** Search, order and filters of the library; they stay while other pages are looked at. */
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
