import { atom } from 'jotai';

/** The video whose processing the landing page shows; null follows the newest one being processed. */
export const heroVideoIdAtom = atom<string | null>(null);
