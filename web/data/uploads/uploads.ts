import { atom, useSetAtom } from 'jotai';
import { queryClientAtom } from 'jotai-tanstack-query';
import { uploadTexts } from '#web/texts/uploads.ts';
import { createRateMeter } from './rate-meter.ts';
import { sessionAtom } from '../account/session.ts';
import { showToastAtom } from '../toasts.ts';
import { startTransfer, type Transfer, type TransferPhase, type TransferResult } from './upload-file.ts';
import { isActive, itemsAtom, type UploadItem } from './upload-items.ts';
import { heroVideoIdAtom } from './hero-video.ts';
import { refreshLists } from '../videos/videos.ts';

/** Files sent at the same time; more would only share the same connection. */
const PARALLEL_TRANSFERS = 2;

const counterAtom = atom(0);
/** Running transfers of this store, by item id; a new map for each store. */
const transfersAtom = atom(() => new Map<number, Transfer>());

const patchAtom = atom(null, (get, set, id: number, patch: Partial<UploadItem>) => {
  set(
    itemsAtom,
    get(itemsAtom).map((item) => (item.id === id ? { ...item, ...patch } : item)),
  );
});

function reasonOf({ fileUnreadable, reason, foreignStatus }: Extract<TransferResult, { kind: 'failed' }>) {
  const { reasons } = uploadTexts;
  if (fileUnreadable) return reasons.fileChanged;
  if (foreignStatus === undefined) return reason ?? null;
  return foreignStatus < 500 ? reasons.refused(foreignStatus) : reasons.away(foreignStatus);
}

const finishAtom = atom(null, async (get, set, item: UploadItem, result: TransferResult) => {
  get(transfersAtom).delete(item.id);
  if (result.kind === 'cancelled')
    set(
      itemsAtom,
      get(itemsAtom).filter(({ id }) => id !== item.id),
    );
  else if (result.kind === 'known')
    set(patchAtom, item.id, { state: 'known', videoId: result.videoId, knownName: result.fileName });
  else if (result.kind === 'failed') {
    const reason = reasonOf(result);
    set(patchAtom, item.id, { state: 'failed', reason });
    const multi = item.origin === 'multi';
    set(showToastAtom, {
      title: multi ? uploadTexts.failedOne(item.file.name) : uploadTexts.failed,
      description: multi ? uploadTexts.failedOneDetail : uploadTexts.failedDetail,
      ...(reason === null ? {} : { reason }),
      tone: 'destructive',
    });
  } else {
    set(patchAtom, item.id, { state: 'sent', videoId: result.videoId, acknowledgedBytes: item.file.size });
    if (item.origin === 'hero') {
      set(heroVideoIdAtom, result.videoId);
      set(showToastAtom, { title: uploadTexts.success, description: uploadTexts.successDetail });
    }
  }
  set(pumpAtom);
  const batch = get(itemsAtom).filter((other) => other.batch === item.batch);
  const batchEnded = item.origin === 'multi' && !batch.some(isActive);
  if (batchEnded && result.kind === 'done')
    set(showToastAtom, { title: uploadTexts.completeMany, description: uploadTexts.completeManyDetail });
  if (result.kind === 'done') await refreshLists(get(queryClientAtom));
});

/** Starts waiting files while there is room. */
const pumpAtom = atom(null, (get, set) => {
  const transfers = get(transfersAtom);
  for (const item of get(itemsAtom)) {
    if (transfers.size >= PARALLEL_TRANSFERS) return;
    if (item.state !== 'waiting' || transfers.has(item.id)) continue;
    const meter = createRateMeter();
    const listener = {
      onPhase: (state: TransferPhase) => set(patchAtom, item.id, { state, bytesPerSecond: null }),
      onAcknowledged: (acknowledgedBytes: number) => set(patchAtom, item.id, { acknowledgedBytes }),
      onSent: (bytes: number) => {
        meter.add(bytes, performance.now());
        set(patchAtom, item.id, { bytesPerSecond: meter.bytesPerSecond() });
      },
    };
    const transfer = startTransfer(item.file, listener, { anyway: item.anyway });
    transfers.set(item.id, transfer);
    void transfer.result.then((result) => set(finishAtom, item, result));
  }
});

const startAtom = atom(null, (get, set, files: readonly File[], origin: UploadItem['origin']) => {
  const user = get(sessionAtom).data;
  if (!user || files.length === 0) return;
  const first = get(counterAtom) + 1;
  set(counterAtom, first + files.length);
  const added = files.map((file, index): UploadItem => ({
    id: first + index,
    file,
    userId: user.id,
    batch: first,
    origin,
    state: 'waiting',
    acknowledgedBytes: 0,
    bytesPerSecond: null,
    videoId: null,
    knownName: null,
    anyway: false,
    reason: null,
  }));
  set(itemsAtom, [...get(itemsAtom), ...added]);
  if (origin === 'multi') set(showToastAtom, { title: uploadTexts.startedMany(files.length) });
  set(pumpAtom);
});

const commandAtom = atom(null, (get, set, id: number, command: UploadCommand) => {
  const transfer = get(transfersAtom).get(id);
  if (command === 'retry' || command === 'anyway') {
    const anyway = command === 'anyway' ? { anyway: true, videoId: null, knownName: null } : {};
    set(patchAtom, id, { state: 'waiting', reason: null, ...anyway });
    set(pumpAtom);
  } else if (command === 'dismiss' || (command === 'cancel' && !transfer))
    set(
      itemsAtom,
      get(itemsAtom).filter((item) => item.id !== id),
    );
  else transfer?.[command]();
});

export type UploadCommand = 'pause' | 'resume' | 'cancel' | 'retry' | 'anyway' | 'dismiss';

/** Ends transfers of another account and resumes those that waited for this one to sign in. */
const sessionChangedAtom = atom(null, (get, set, userId: string) => {
  for (const item of get(itemsAtom)) {
    if (item.userId !== userId) set(commandAtom, item.id, isActive(item) ? 'cancel' : 'dismiss');
    else if (item.state === 'signed_out') set(commandAtom, item.id, 'resume');
  }
});

/** Starts sending files as the signed-in user. */
export function useStartUploads(): (files: readonly File[], origin: UploadItem['origin']) => void {
  return useSetAtom(startAtom);
}

export function useUploadCommand(): (id: number, command: UploadCommand) => void {
  return useSetAtom(commandAtom);
}

export function useUploadSessionChange(): (userId: string) => void {
  return useSetAtom(sessionChangedAtom);
}
