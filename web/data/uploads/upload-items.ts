import { atom, useAtomValue, useSetAtom } from 'jotai';
import type { TransferPhase } from './upload-file.ts';

export interface UploadItem {
  readonly id: number;
  readonly file: File;
  readonly userId: string;
  /** Files of one drop share a batch; the hero sends one file and follows it on the landing page. */
  readonly batch: number;
  readonly origin: 'hero' | 'multi';
  /** `known`: the account has a video of this very file; it is for its owner to say whether it is sent again. */
  readonly state: 'waiting' | TransferPhase | 'sent' | 'known' | 'failed';
  /** Only what the server has acknowledged. */
  readonly acknowledgedBytes: number;
  readonly bytesPerSecond: number | null;
  /** Of a known file the video that is there. */
  readonly videoId: string | null;
  /** Name of that video by now. */
  readonly knownName: string | null;
  /** Sent also where it is known. */
  readonly anyway: boolean;
  readonly reason: string | null;
}

/** All files of this page's life that were not dismissed; written by the upload engine only. */
export const itemsAtom = atom<readonly UploadItem[]>([]);
export const leftOutAtom = atom<string | null>(null);
const keptFileAtom = atom<File | null>(null);

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

/** Why some files of the last drop were not taken; stands beside those that were until it has been read. */
export function useLeftOut(): [string | null, (reason: string | null) => void] {
  return [useAtomValue(leftOutAtom), useSetAtom(leftOutAtom)];
}

/** The file picked while signed out; it is sent after signing in. */
export function useKeptFile(): [File | null, (file: File | null) => void] {
  return [useAtomValue(keptFileAtom), useSetAtom(keptFileAtom)];
}
