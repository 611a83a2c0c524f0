import type { Query, QueryClient } from '@tanstack/react-query';
import { statusDto, type StatusDto, type VideoDto, videosApi } from '#common/api/videos.ts';
import type { VideoChoice } from './arrange-videos.ts';
import { changePages, joinPages, type Pages } from '../paged.ts';
import { queryKeyOf } from '../query-client.ts';

const LIST_KEY = queryKeyOf(videosApi.list);

/** Query key of the matching videos; the plain list has the address of the call. */
export function videoListKey(choice: VideoChoice = {}): readonly unknown[] {
  return Object.keys(choice).length === 0 ? LIST_KEY : [...LIST_KEY, choice];
}

/** Whether a key is that of a list of videos, plain or filtered. */
export function isVideoList(key: readonly unknown[]): boolean {
  const [last] = key.slice(LIST_KEY.length);
  return LIST_KEY.every((part, index) => key[index] === part) && (last === undefined || isChoice(last));
}

function isChoice(part: unknown): boolean {
  return typeof part === 'object';
}

const lists = { predicate: (query: Query) => isVideoList(query.queryKey) };

/** Every video in some list or single read of this page. */
function knownVideos(client: QueryClient): VideoDto[] {
  const listed = client
    .getQueriesData<Pages<VideoDto>>(lists)
    .flatMap(([, pages]) => (pages ? joinPages(pages) : []));
  return [...listed, ...singles(client).flatMap(([, video]) => (video ? [video] : []))];
}

function singles(client: QueryClient) {
  const isSingle = ({ queryKey }: Query) =>
    queryKey.length === LIST_KEY.length + 1 &&
    LIST_KEY.every((part, index) => queryKey[index] === part) &&
    !isVideoList(queryKey);
  return client.getQueriesData<VideoDto | null>({ predicate: isSingle });
}

/** Videos with the names that the lists of this page have. */
export function listedVideos(client: QueryClient): VideoDto[] {
  return knownVideos(client);
}

/** Reads the shown lists again, and the one video or, without an id, all that were read separately. */
export function rereadVideos(client: QueryClient, id?: string): Promise<unknown> {
  const single = id === undefined ? singles(client).map(([key]) => key) : [[...LIST_KEY, id]];
  return Promise.all([
    client.invalidateQueries(lists),
    ...single.map((queryKey) => client.invalidateQueries({ queryKey, exact: true })),
  ]);
}

/** The newer of two states of one video, so that a late answer never reverts it (versions only rise). */
function newerStatus<T extends StatusDto>(known: StatusDto | undefined, next: T): T {
  if (known === undefined || known.version <= next.version) return next;
  return { ...next, ...statusDto.parse(known) };
}

function knownStatuses(client: QueryClient): ReadonlyMap<string, StatusDto> {
  const known = new Map<string, StatusDto>();
  const remember = (status: StatusDto | undefined): void => {
    if (status && (known.get(status.id)?.version ?? -1) < status.version) known.set(status.id, status);
  };
  knownVideos(client).forEach(remember);
  for (const query of client.getQueryCache().findAll({ queryKey: LIST_KEY })) {
    if (query.queryKey.at(-1) === 'status') remember(client.getQueryData<StatusDto>(query.queryKey));
  }
  return known;
}

/** A page just read, in which newer pushed states are kept. */
export function mergeList(client: QueryClient, next: VideoDto[]): VideoDto[] {
  const known = knownStatuses(client);
  return next.map((video) => newerStatus(known.get(video.id), video));
}

/** A status just read, unless a newer one is known. */
export function mergeStatus<T extends StatusDto>(client: QueryClient, next: T): T {
  return newerStatus(knownStatuses(client).get(next.id), next);
}

/**
 * Puts a pushed state into the cached status and lists if its version is higher. If the video has ended, or is in no
 * completely loaded list, the lists are read again for facts that events do not carry; a completed video changes there
 * only then.
 */
export function applyStatus(client: QueryClient, status: StatusDto): void {
  const known = knownStatuses(client).get(status.id);
  if (known && known.version >= status.version) return;
  const ended = status.status !== 'processing' && known?.status !== status.status;
  // Pages show facts about a finished video that the event does not carry: shown at once without them, the page would
  // jump when they arrive.
  const isHeld = ended && status.status === 'completed';
  const statusKey = queryKeyOf(videosApi.status, { id: status.id });
  // In the status cache it takes precedence over slower, older answers (`mergeList`).
  if (isHeld || client.getQueryState(statusKey)) client.setQueryData(statusKey, status);
  if (!isHeld) patchListed(client, status.id, (video) => ({ ...video, ...status }));
  if (ended || !known) void rereadVideos(client, status.id);
}

/** Changes one video in all lists at once, before the server's list is read again. */
export function patchListed(
  client: QueryClient,
  id: string,
  patch: (video: VideoDto) => VideoDto | null,
): void {
  const holds = (pages: Pages<VideoDto> | undefined): boolean =>
    pages?.pages.some((page) => page.some((video) => video.id === id)) ?? false;
  client.setQueriesData<Pages<VideoDto>>(lists, (pages) =>
    pages && holds(pages) ? changePages(pages, (video) => (video.id === id ? patch(video) : video)) : pages,
  );
  client.setQueryData<VideoDto | null>([...LIST_KEY, id], (video) => (video ? patch(video) : video));
}
