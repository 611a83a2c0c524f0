import { useSyncExternalStore } from 'react';

const query = () => (typeof window.matchMedia === 'function' ? window.matchMedia('(pointer: coarse)') : null);

function subscribe(onChange: () => void): () => void {
  const list = query();
  list?.addEventListener('change', onChange);
  return () => list?.removeEventListener('change', onChange);
}

/** Whether things are pointed at with a finger; it changes when a mouse is plugged in. */
export function usePointer(): 'fine' | 'coarse' {
  return useSyncExternalStore(subscribe, () => (query()?.matches ? 'coarse' : 'fine'));
}
