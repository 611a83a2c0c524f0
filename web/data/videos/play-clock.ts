import { useSyncExternalStore } from 'react';
import type { Cues } from '../captions/caption-edits.ts';

/** Where the clip beside an editor stands; told a few times a second while it plays. */
export interface PlayClock {
  set(ms: number): void;
  now(): number;
  /** @returns what ends it */
  watch(listener: () => void): () => void;
}

export function createPlayClock(): PlayClock {
  const listeners = new Set<() => void>();
  let ms = 0;
  return {
    set(next) {
      if (next === ms) return;
      ms = next;
      for (const listener of listeners) listener();
    },
    now: () => ms,
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Place of the cue that is on the screen at a moment; -1 for none. */
function cueAt(cues: Cues, ms: number): number {
  return cues.findIndex(({ startMs, endMs }) => startMs <= ms && ms < endMs);
}

/** Place of the cue that began last, -1 before the first; draws again only when it is another one. */
export function useReachedCue(cues: Cues, clock: PlayClock): number {
  return useSyncExternalStore(clock.watch, () => cues.findLastIndex(({ startMs }) => startMs <= clock.now()));
}

/** Place of the cue that is being played, -1 for none; draws again only when it is another one. */
export function usePlayedCue(cues: Cues, clock: PlayClock): number {
  return useSyncExternalStore(clock.watch, () => cueAt(cues, clock.now()));
}
