import { useSyncExternalStore } from 'react';
import type { Cues } from '../captions/caption-edits.ts';

/** The position of the clip beside an editor; updated a few times a second while it plays. */
export interface PlayClock {
  set(ms: number): void;
  now(): number;
  /** @returns a function that ends it */
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

/** Index of the cue shown at a time; -1 for none. */
function cueAt(cues: Cues, ms: number): number {
  return cues.findIndex(({ startMs, endMs }) => startMs <= ms && ms < endMs);
}

/** Index of the cue that started last, -1 before the first; renders again only when it changes. */
export function useReachedCue(cues: Cues, clock: PlayClock): number {
  return useSyncExternalStore(clock.watch, () => cues.findLastIndex(({ startMs }) => startMs <= clock.now()));
}

/** Index of the cue being played, -1 for none; renders again only when it changes. */
export function usePlayedCue(cues: Cues, clock: PlayClock): number {
  return useSyncExternalStore(clock.watch, () => cueAt(cues, clock.now()));
}
