import type { VideoDto } from '#common/api/videos.ts';
import { useVideos } from './videos.ts';

/** One video out of the live list. `undefined` while the list is read, `null` when it is not in it. */
export function useVideo(id: string): VideoDto | null | undefined {
  const { data } = useVideos('editor');
  if (!data) return undefined;
  return data.find((video) => video.id === id) ?? null;
}
