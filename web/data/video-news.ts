import type { QueryClient } from '@tanstack/react-query';
import { z } from 'zod';
import { statusDto, type StatusDto, videoDto, type VideoDto, videosApi } from '#common/api/videos.ts';
import { queryKeyOf } from './query-client.ts';

const LIST_KEY = queryKeyOf(videosApi.list);
const list = z.array(videoDto);

/** The newer of two states of one video; a late answer never takes a video back (versions only rise). */
export function newerStatus<T extends StatusDto>(known: StatusDto | undefined, next: T): T {
  if (known === undefined || known.version <= next.version) return next;
  return { ...next, ...statusDto.parse(known) };
}

function knownStatuses(client: QueryClient): ReadonlyMap<string, StatusDto> {
  const known = new Map<string, StatusDto>();
  const remember = (status: StatusDto | undefined): void => {
    if (status && (known.get(status.id)?.version ?? -1) < status.version) known.set(status.id, status);
  };
  client.getQueryData<VideoDto[]>(LIST_KEY)?.forEach(remember);
  for (const query of client.getQueryCache().findAll({ queryKey: LIST_KEY })) {
    if (query.queryKey.at(-1) === 'status') remember(client.getQueryData<StatusDto>(query.queryKey));
  }
  return known;
}

/** A list just read, with newer pushed states kept. */
export function mergeList(client: QueryClient, next: VideoDto[]): VideoDto[] {
  const known = knownStatuses(client);
  return next.map((video) => newerStatus(known.get(video.id), video));
}

/** A status just read, unless a newer one is known. */
export function mergeStatus(client: QueryClient, next: StatusDto): StatusDto {
  return newerStatus(knownStatuses(client).get(next.id), next);
}

/**
 * Puts a pushed state into the cached status and list, only where its version is greater. A video that reached
 * its end, or is not in the list yet, makes the list be read again for the facts that events do not carry.
 */
export function applyStatus(client: QueryClient, status: StatusDto): void {
  const known = knownStatuses(client).get(status.id);
  if (known && known.version >= status.version) return;
  const statusKey = queryKeyOf(videosApi.status, { id: status.id });
  if (client.getQueryState(statusKey)) client.setQueryData(statusKey, status);
  const videos = client.getQueryData<VideoDto[]>(LIST_KEY);
  if (videos)
    client.setQueryData(
      LIST_KEY,
      videos.map((video) => (video.id === status.id ? { ...video, ...status } : video)),
    );
  const listed = videos?.some((video) => video.id === status.id) ?? false;
  if (!listed || status.status !== 'processing')
    void client.invalidateQueries({ queryKey: LIST_KEY, exact: true });
}

/** Changes one listed video at once, before the server's list is read again. */
export function patchListed(
  client: QueryClient,
  id: string,
  patch: (video: VideoDto) => VideoDto | null,
): void {
  const videos = list.safeParse(client.getQueryData(LIST_KEY));
  if (!videos.success) return;
  client.setQueryData(
    LIST_KEY,
    videos.data.flatMap((video) => {
      if (video.id !== id) return [video];
      const patched = patch(video);
      return patched ? [patched] : [];
    }),
  );
}
