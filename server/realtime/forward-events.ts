import type { FixRunDto } from '#common/api/quick-fixes.ts';
import type { StatusDto } from '#common/api/videos.ts';
import type { EventBus } from '../events.ts';
import type { Logger } from '../logger.ts';
import type { Push } from './socket-server.ts';

export interface ForwardDeps {
  readonly events: EventBus;
  readonly push: Push;
  /** The state of a video as stored now; null when it is gone. */
  readonly statusOf: (videoId: string) => Promise<{ userId: string; status: StatusDto } | null>;
  /** The state of a video's quick fixes; null when it is gone. */
  readonly fixesOf: (videoId: string) => Promise<{ userId: string; run: FixRunDto | null } | null>;
  readonly logger: Logger;
}

/** At most four messages a second per video, and per idea. */
const SPACING_MS = 250;

/**
 * Domain events -> socket events. Progress carries its state, read at the moment of sending; everything else is a hint.
 * @returns a function that stops it
 */
export function forwardEvents({ events, push, statusOf, fixesOf, logger }: ForwardDeps): () => void {
  const videos = createSpacing(SPACING_MS);
  const fixes = createSpacing(SPACING_MS);
  const board = createSpacing(SPACING_MS);

  async function pushStatus(videoId: string): Promise<void> {
    const found = await statusOf(videoId).catch((error: unknown) => {
      logger.error({ err: error, videoId }, 'a state could not be pushed');
      return null;
    });
    if (found) push.toUser(found.userId, 'video:status', found.status, found.status.status === 'processing');
  }

  async function pushFixes(videoId: string): Promise<void> {
    const found = await fixesOf(videoId).catch((error: unknown) => {
      logger.error({ err: error, videoId }, 'quick fixes could not be pushed');
      return null;
    });
    if (found) push.toUser(found.userId, 'fixes:status', { id: videoId, run: found.run });
  }

  const listChanged = (fact: { userId: string; videoId: string }) => {
    push.toUser(fact.userId, 'videos:changed', { id: fact.videoId });
    push.toUser(fact.userId, 'stats:changed', {});
  };
  const ended = (fact: { userId: string; videoId: string }) => {
    void pushStatus(fact.videoId);
    listChanged(fact);
  };

  const stops = [
    events.on('video.created', listChanged),
    events.on('video.changed', ({ videoId }) => videos.run(videoId, () => void pushStatus(videoId))),
    events.on('video.completed', ended),
    events.on('video.failed', ended),
    events.on('video.deleted', listChanged),
    events.on('video.edited', ({ userId, videoId }) =>
      push.toUser(userId, 'videos:changed', { id: videoId }),
    ),
    events.on('fixes.changed', ({ videoId }) => fixes.run(videoId, () => void pushFixes(videoId))),
    events.on('captions.saved', ({ userId, videoId }) =>
      push.toUser(userId, 'captions:changed', { id: videoId }),
    ),
    events.on('draft.changed', ({ userId, draftId }) => {
      push.toUser(userId, 'drafts:changed', { id: draftId });
      push.toUser(userId, 'stats:changed', {});
    }),
    events.on('upload.changed', ({ userId }) => push.toUser(userId, 'uploads:changed', {})),
    events.on('user.changed', ({ userId }) => {
      push.toUser(userId, 'account:changed', {});
      push.toUser(userId, 'stats:changed', {});
    }),
    events.on('notification.created', ({ userId }) => push.toUser(userId, 'notifications:changed', {})),
    events.on('idea.changed', ({ ideaId }) =>
      board.run(ideaId, () => push.toAll('ideas:changed', { id: ideaId })),
    ),
    events.on('reputation.changed', () => board.run('leaders', () => push.toAll('leaderboard:changed', {}))),
  ];
  return () => {
    for (const stop of stops) stop();
    videos.stop();
    fixes.stop();
    board.stop();
  };
}

interface Spacing {
  /** Runs at once, or, if the key ran within the spacing, once when the spacing ends. */
  run(key: string, action: () => void): void;
  stop(): void;
}

function createSpacing(spacingMs: number): Spacing {
  const resting = new Map<string, { timer: NodeJS.Timeout; next: (() => void) | null }>();

  function rest(key: string): void {
    const timer = setTimeout(() => {
      const next = resting.get(key)?.next ?? null;
      resting.delete(key);
      if (next) {
        next();
        rest(key);
      }
    }, spacingMs);
    timer.unref();
    resting.set(key, { timer, next: null });
  }

  return {
    run(key, action) {
      const entry = resting.get(key);
      if (entry) {
        entry.next = action;
        return;
      }
      action();
      rest(key);
    },
    stop() {
      for (const { timer } of resting.values()) clearTimeout(timer);
      resting.clear();
    },
  };
}
