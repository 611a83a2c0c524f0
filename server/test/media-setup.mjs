// Vitest's own process loads global set-ups, so it must learn to read TypeScript first.
import './native-sources.mjs';

export const { default: setup } = await import('./media-setup.ts');
