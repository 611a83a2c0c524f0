import { useSyncExternalStore } from 'react';

const query = () => (typeof window.matchMedia === 'function' ? window.matchMedia('(pointer: coarse)') : null);

function subscribe(onChange: () => void): () => void {
  const list = query();
  list?.addEventListener('change', onChange);
  return () => list?.removeEventListener('change', onChange);
}

/** Whether the main pointer is a finger or a mouse; changes when a mouse is plugged in. */
export function usePointer(): 'fine' | 'coarse' {
  return useSyncExternalStore(subscribe, () => (query()?.matches ? 'coarse' : 'fine'));
}
