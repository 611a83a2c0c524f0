import { atom, useAtom } from 'jotai';
import type { VideoDto } from '#common/api/videos.ts';
import { appTexts } from '#web/texts/app.ts';
import { useVideos } from './videos.ts';

const LIST_LENGTH = 8;
const STORAGE_PREFIX = 'reelmend-read-';

export interface NotificationEntry {
  readonly key: string;
  readonly text: string;
  readonly failed: boolean;
  readonly at: string;
}

/** Time of the newest notification seen, by user id; storage is read when a user is first asked for. */
const seenAtom = atom<Readonly<Record<string, string>>>({});

function storedSeen(userId: string): string {
  try {
    return localStorage.getItem(STORAGE_PREFIX + userId) ?? '';
  } catch {
    return '';
  }
}

function entryOf(video: VideoDto): NotificationEntry[] {
  const base = { key: `${video.id}-${video.status}`, at: video.updatedAt };
  const { bell } = appTexts;
  if (video.status === 'failed') {
    const why = video.errorMessage ? `: ${video.errorMessage}` : '.';
    return [{ ...base, failed: true, text: bell.failed(video.originalFileName) + why }];
  }
  if (video.status !== 'completed') return [];
  const text = video.unchanged ? bell.unchanged : bell.completed;
  return [{ ...base, failed: false, text: text(video.originalFileName) }];
}

/** The newest finished and failed repairs and how many of them came since the list was last closed. */
export function useNotifications(userId: string) {
  const { data = [] } = useVideos('background');
  const [seen, setSeen] = useAtom(seenAtom);
  const since = seen[userId] ?? storedSeen(userId);
  const entries = data
    .flatMap(entryOf)
    .toSorted((a, b) => b.at.localeCompare(a.at))
    .slice(0, LIST_LENGTH);
  const markRead = (): void => {
    const newest = entries[0]?.at;
    if (newest === undefined || newest <= since) return;
    setSeen({ ...seen, [userId]: newest });
    try {
      localStorage.setItem(STORAGE_PREFIX + userId, newest);
    } catch {
      // Without storage it holds for this page only.
    }
  };
  return { entries, unread: entries.filter((entry) => entry.at > since).length, markRead };
}
