import type { QueryClient } from '@tanstack/react-query';
import type { StatusDto, VideoDto } from '#common/api/videos.ts';
import { isVideoList, listedVideos } from './video-news.ts';

/** The announcement of one video that has finished or failed. */
export interface VideoEnd {
  readonly id: string;
  readonly version: number;
  readonly status: 'completed' | 'failed';
  /** Null when the library was never read. */
  readonly fileName: string | null;
  readonly errorMessage: string | null;
}

type News = StatusDto & Partial<Pick<VideoDto, 'originalFileName'>>;

/**
 * Detects when videos end, from pushed states (`see`) and from every list that is read, which makes up for lost events.
 * Order and repetition do not matter; `end` is called once each time a video that was known to be processing completed
 * or failed.
 */
export function watchVideoEnds(
  client: QueryClient,
  end: (video: VideoEnd) => void,
): { readonly see: (news: News) => void; readonly close: () => void } {
  const known = new Map<string, { readonly version: number; readonly working: boolean }>();
  const names = new Map<string, string>();

  const see = ({ id, version, status, errorMessage, originalFileName }: News): void => {
    if (originalFileName !== undefined) names.set(id, originalFileName);
    const before = known.get(id);
    if (before && before.version >= version) return;
    known.set(id, { version, working: status === 'processing' });
    if (before?.working && (status === 'completed' || status === 'failed'))
      end({ id, version, status, fileName: names.get(id) ?? null, errorMessage });
  };
  const seeList = (): void => listedVideos(client).forEach(see);

  seeList();
  const close = client.getQueryCache().subscribe((event) => {
    if (event.type === 'updated' && event.action.type === 'success' && isVideoList(event.query.queryKey))
      seeList();
  });
  return { see, close };
}
