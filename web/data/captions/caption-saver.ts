import { type CaptionsDto, captionsConflict } from '#common/api/captions.ts';
import { findCueProblems, type VideoCue } from '#common/captions.ts';
import { ApiError, parseJson } from '../api-client.ts';
import { type Cues, toStored } from './caption-edits.ts';
import { mergeCues } from './merge-cues.ts';

/** What happens to the changes that were made here. */
export type SaveState =
  | { readonly kind: 'saved'; readonly at: string | null }
  | { readonly kind: 'saving' }
  /** The cues do not fit each other: nothing is sent until they do. */
  | { readonly kind: 'held' }
  /** The server cannot be reached; it is tried again. */
  | { readonly kind: 'offline' }
  | { readonly kind: 'refused'; readonly message: string | null }
  /** Somebody saved others meanwhile. */
  | { readonly kind: 'conflict'; readonly newer: CaptionsDto };

export interface CaptionSaverOptions {
  /** What the server holds. */
  readonly base: { readonly revision: number; readonly cues: Cues; readonly updatedAt: string | null };
  readonly send: (
    revision: number,
    cues: VideoCue[],
  ) => Promise<{ revision: number; updatedAt: string | null }>;
  readonly onState: (state: SaveState) => void;
  /** Told when what somebody else saved and what was changed here went together; `was` is what both began with. */
  readonly onMerged: (change: { readonly was: Cues; readonly theirs: Cues; readonly cues: Cues }) => void;
  /** Whether the cues of `base` are those of its revision: without them nobody can tell who changed what. */
  readonly knowsBase: boolean;
  /** Changes that follow each other sooner are one save. */
  readonly restMs: number;
  /** Wait before the next try without a connection. */
  readonly retryMs: number;
}

/** Saves the cues a moment after each change, one request at a time, and again when the connection is back. */
export interface CaptionSaver {
  change(cues: Cues): void;
  /** Sends at once what is not saved yet, as far as it can be. */
  flush(): void;
  /** Puts what is here over what somebody else saved. */
  keepMine(): void;
  /** Takes what somebody else saved for the base of further changes. */
  takeTheirs(newer: CaptionsDto): void;
  readonly revision: () => number;
  /** What is here and not on the server, with the revision it was made from; null when all is saved. */
  readonly unsaved: () => { readonly revision: number; readonly cues: Cues } | null;
  /** No more timers. */
  stop(): void;
}

/** See `CaptionSaver`. */
export function createCaptionSaver(options: CaptionSaverOptions): CaptionSaver {
  const { send, onState, restMs, retryMs } = options;
  let base = options.base;
  let latest = base.cues;
  let conflict: CaptionsDto | null = null;
  let sending = false;
  let { knowsBase } = options;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const tell = (): void => {
    if (conflict) onState({ kind: 'conflict', newer: conflict });
    else if (latest === base.cues) onState({ kind: 'saved', at: base.updatedAt });
    else onState({ kind: findCueProblems(toStored(latest)).length > 0 ? 'held' : 'saving' });
  };

  function later(ms: number): void {
    clearTimeout(timer);
    timer = setTimeout(() => void trySend(), ms);
  }

  async function trySend(): Promise<void> {
    clearTimeout(timer);
    if (sending || conflict || latest === base.cues) return;
    const cues = latest;
    const stored = toStored(cues);
    if (findCueProblems(stored).length > 0) return;
    sending = true;
    try {
      const saved = await send(base.revision, stored);
      base = { ...saved, cues };
      knowsBase = true;
      tell();
      if (latest !== cues) later(restMs);
    } catch (error) {
      fail(error);
    } finally {
      sending = false;
    }
  }

  /** Changes of other captions than those changed here are no matter for people to decide. */
  function merge(newer: CaptionsDto): boolean {
    const cues = knowsBase ? mergeCues(base.cues, latest, newer.cues) : null;
    if (!cues) return false;
    const was = base.cues;
    [base, latest] = [newer, cues];
    options.onMerged({ was, theirs: newer.cues, cues });
    tell();
    later(0);
    return true;
  }

  function fail(error: unknown): void {
    if (error instanceof ApiError && error.status === 409) {
      const found = captionsConflict.safeParse(parseJson(error.body));
      if (found.success && merge(found.data.newer)) return;
      conflict = found.success ? found.data.newer : null;
      if (conflict) return tell();
    }
    const refused =
      error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429;
    if (refused) return onState({ kind: 'refused', message: error.serverMessage ?? null });
    onState({ kind: 'offline' });
    later(retryMs);
  }

  return {
    change(cues) {
      if (cues === latest) return;
      latest = cues;
      tell();
      if (!conflict) later(restMs);
    },
    flush: () => void trySend(),
    keepMine() {
      if (conflict) base = conflict;
      knowsBase = true;
      conflict = null;
      tell();
      void trySend();
    },
    takeTheirs(newer) {
      base = newer;
      latest = newer.cues;
      knowsBase = true;
      conflict = null;
      tell();
    },
    revision: () => base.revision,
    unsaved: () => (latest === base.cues ? null : { revision: base.revision, cues: latest }),
    stop: () => clearTimeout(timer),
  };
}
