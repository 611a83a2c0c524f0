import { atom } from 'jotai';

/** The video whose processing the landing page shows; null follows the newest one at work. */
export const heroVideoIdAtom = atom<string | null>(null);
