import { atom, useAtomValue, useSetAtom } from 'jotai';
import type { TransferPhase } from './upload-file.ts';

export interface UploadItem {
  readonly id: number;
  readonly file: File;
  readonly userId: string;
  /** Files dropped together share a batch; the hero sends one file and follows it on the landing page. */
  readonly batch: number;
  readonly origin: 'hero' | 'multi';
  /** `known`: the account already has a video of this file, and its owner decides whether to send it again. */
  readonly state: 'waiting' | TransferPhase | 'sent' | 'known' | 'failed';
  /** Only bytes that the server has acknowledged. */
  readonly acknowledgedBytes: number;
  readonly bytesPerSecond: number | null;
  /** For a known file, the existing video. */
  readonly videoId: string | null;
  /** Current name of that video. */
  readonly knownName: string | null;
  /** Whether the file is sent although it is known. */
  readonly anyway: boolean;
  readonly reason: string | null;
}

/** All files of this page that were not dismissed; only the upload engine writes them. */
export const itemsAtom = atom<readonly UploadItem[]>([]);
export const leftOutAtom = atom<string | null>(null);
const keptFileAtom = atom<File | null>(null);
const earlyFilesAtom = atom<readonly File[]>([]);
const takeEarlyFilesAtom = atom(null, (get, set) => {
  const files = get(earlyFilesAtom);
  set(earlyFilesAtom, []);
  return files;
});

const ACTIVE: ReadonlySet<UploadItem['state']> = new Set([
  'waiting',
  'uploading',
  'offline',
  'signed_out',
  'paused',
  'verifying',
]);

/** Whether closing the page now would interrupt this upload. */
export function isActive(item: UploadItem): boolean {
  return ACTIVE.has(item.state);
}

export function useUploads(): readonly UploadItem[] {
  return useAtomValue(itemsAtom);
}

/** Why some files of the last drop were rejected; shown beside the accepted ones until it has been read. */
export function useLeftOut(): [string | null, (reason: string | null) => void] {
  return [useAtomValue(leftOutAtom), useSetAtom(leftOutAtom)];
}

/** The file picked while signed out, or before the code that sends it has loaded; it is sent after that. */
export function useKeptFile(): [File | null, (file: File | null) => void] {
  return [useAtomValue(keptFileAtom), useSetAtom(keptFileAtom)];
}

/** Files for the card of several files that came before it could send them. `take` empties the list and returns it. */
export function useEarlyFiles(): {
  files: readonly File[];
  keep: (files: readonly File[]) => void;
  take: () => readonly File[];
} {
  return {
    files: useAtomValue(earlyFilesAtom),
    keep: useSetAtom(earlyFilesAtom),
    take: useSetAtom(takeEarlyFilesAtom),
  };
}
