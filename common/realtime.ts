import { z } from 'zod';
import { fixRunDto } from './api/quick-fixes.ts';
import { statusDto } from './api/videos.ts';

/**
 * Everything that is pushed. Progress carries its small payload. All other events are hints that name what changed; the
 * client reads it again by GET, so no fact exists only in a push.
 */
export const serverEvents = {
  'video:status': statusDto,
  'videos:changed': z.object({ id: z.string() }),
  /** State of a video's quick fixes; its versions and files are read again by GET when they end. */
  'fixes:status': z.object({ id: z.string(), run: fixRunDto.nullable() }),
  /** Captions were saved, here or on another device. */
  'captions:changed': z.object({ id: z.string() }),
  'drafts:changed': z.object({ id: z.string().nullable() }),
  'stats:changed': z.object({}),
  /** The plan or trial of the account changed: read the current user again. */
  'account:changed': z.object({}),
  'uploads:changed': z.object({}),
  'notifications:changed': z.object({}),
  'ideas:changed': z.object({ id: z.string().nullable() }),
  'leaderboard:changed': z.object({}),
  /** The server stops: reconnect after a random wait of up to `waitMs`. */
  'server:bye': z.object({ waitMs: z.number() }),
} as const;

type EventMap = typeof serverEvents;
export type ServerEventName = keyof EventMap;
export type ServerToClientEvents = {
  [Name in ServerEventName]: (payload: z.infer<EventMap[Name]>) => void;
};
/** Clients only listen; all their requests use HTTP. */
export type ClientToServerEvents = Record<string, never>;

export const SOCKET_PATH = '/socket.io';
