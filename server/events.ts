import { EventEmitter } from 'node:events';

/**
 * Facts inside the process, named in the past tense, emitted after the commit that made them true.
 * `realtime/forward-events.ts` turns them into socket events; features may listen too.
 */
export interface DomainEvents {
  'video.created': { userId: string; videoId: string };
  /** Status, step, progress or result of a video changed. */
  'video.changed': { userId: string; videoId: string };
  'video.completed': { userId: string; videoId: string };
  'video.failed': { userId: string; videoId: string };
  'video.deleted': { userId: string; videoId: string };
  /** Renamed, shared or similar: changes of the list entry, not of the processing state. */
  'video.edited': { userId: string; videoId: string };
  /** A request for quick fixes made progress, or versions or platform files of a video changed. */
  'fixes.changed': { videoId: string };
  /**
   * Removed from the queue, possibly while running. A runner in this process ends it at once, one in another process at
   * its next heartbeat.
   */
  'job.cancelled': { jobId: string };
  'captions.saved': { userId: string; videoId: string };
  'draft.changed': { userId: string; draftId: string | null };
  'upload.changed': { userId: string };
  'user.changed': { userId: string };
  'notification.created': { userId: string };
  'session.ended': { sessionHash: string };
  'idea.changed': { ideaId: string };
  'reputation.changed': { userId: string };
}

export type DomainEventName = keyof DomainEvents;

export interface EventBus {
  emit<Name extends DomainEventName>(name: Name, fact: DomainEvents[Name]): void;
  /** @returns a function that ends the subscription */
  on<Name extends DomainEventName>(name: Name, listener: (fact: DomainEvents[Name]) => void): () => void;
}

/** The typed event bus of a process, created by `compose.ts`. */
export function createEventBus(): EventBus {
  const emitter = new EventEmitter();
  emitter.setMaxListeners(50);
  return {
    emit: (name, fact) => void emitter.emit(name, fact),
    on(name, listener) {
      emitter.on(name, listener);
      return () => void emitter.off(name, listener);
    },
  };
}
