import { z } from 'zod';
import { fixRunDto } from './api/quick-fixes.ts';
import { statusDto } from './api/videos.ts';

/**
 * Everything that is pushed. Progress carries its small payload; all else are hints that name what
 * changed, and the client reads it again by GET, so no fact exists on push alone.
 */
export const serverEvents = {
  'video:status': statusDto,
  'videos:changed': z.object({ id: z.string() }),
  /** Where the quick fixes of a video stand; its versions and files are read again by GET when they end. */
  'fixes:status': z.object({ id: z.string(), run: fixRunDto.nullable() }),
  /** Captions were saved, here or on another device. */
  'captions:changed': z.object({ id: z.string() }),
  'drafts:changed': z.object({ id: z.string().nullable() }),
  'stats:changed': z.object({}),
  /** Plan or trial of the account changed: read the current user again. */
  'account:changed': z.object({}),
  'uploads:changed': z.object({}),
  'notifications:changed': z.object({}),
  'ideas:changed': z.object({ id: z.string().nullable() }),
  'leaderboard:changed': z.object({}),
  /** The server stops: come back after a random wait of up to `waitMs`. */
  'server:bye': z.object({ waitMs: z.number() }),
} as const;

type EventMap = typeof serverEvents;
export type ServerEventName = keyof EventMap;
export type ServerToClientEvents = {
  [Name in ServerEventName]: (payload: z.infer<EventMap[Name]>) => void;
};
/** Clients only listen; everything they want they ask by HTTP. */
export type ClientToServerEvents = Record<string, never>;

export const SOCKET_PATH = '/socket.io';
