import { atom, useAtomValue, useSetAtom } from 'jotai';
import type { TransferPhase } from './upload-file.ts';

export interface UploadItem {
  readonly id: number;
  readonly file: File;
  readonly userId: string;
  /** Files of one drop share a batch; the hero sends one file and follows it on the landing page. */
  readonly batch: number;
  readonly origin: 'hero' | 'multi';
  readonly state: 'waiting' | TransferPhase | 'sent' | 'failed';
  /** Only what the server has acknowledged. */
  readonly acknowledgedBytes: number;
  readonly bytesPerSecond: number | null;
  readonly videoId: string | null;
  readonly reason: string | null;
}

/** All files of this page's life that were not dismissed; written by the upload engine only. */
export const itemsAtom = atom<readonly UploadItem[]>([]);
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

/** The file picked while signed out; it is sent after signing in. */
export function useKeptFile(): [File | null, (file: File | null) => void] {
  return [useAtomValue(keptFileAtom), useSetAtom(keptFileAtom)];
}
