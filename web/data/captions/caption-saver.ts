import { type CaptionsDto, captionsConflict } from '#common/api/captions.ts';
import { findCueProblems, type VideoCue } from '#common/captions.ts';
import { ApiError, parseJson } from '../api-client.ts';
import { type Cues, toStored } from './caption-edits.ts';
import { mergeCues } from './merge-cues.ts';

/** What happens to the local changes. */
export type SaveState =
  | { readonly kind: 'saved'; readonly at: string | null }
  | { readonly kind: 'saving' }
  /** The cues conflict with each other: nothing is sent until they fit. */
  | { readonly kind: 'held' }
  /** The server cannot be reached; saving is retried. */
  | { readonly kind: 'offline' }
  | { readonly kind: 'refused'; readonly message: string | null }
  /** Somebody else saved other cues meanwhile. */
  | { readonly kind: 'conflict'; readonly newer: CaptionsDto };

/** Local cues that are not on the server, with the revision they were made from. */
export interface UnsavedCues {
  readonly revision: number;
  readonly cues: Cues;
}

export interface CaptionSaverOptions {
  /** What the server has stored. */
  readonly base: { readonly revision: number; readonly cues: Cues; readonly updatedAt: string | null };
  readonly send: (
    revision: number,
    cues: VideoCue[],
  ) => Promise<{ revision: number; updatedAt: string | null }>;
  readonly onState: (state: SaveState) => void;
  /** Called with every state: what is to be kept until it is on the server, null when all is saved. */
  readonly keep: (unsaved: UnsavedCues | null) => void;
  /** Called after changes of somebody else were merged with local ones; `was` is their common base. */
  readonly onMerged: (change: { readonly was: Cues; readonly theirs: Cues; readonly cues: Cues }) => void;
  /** Whether the cues of `base` belong to its revision; without them nobody can tell who changed what. */
  readonly knowsBase: boolean;
  /** Changes within this time are saved together. */
  readonly restMs: number;
  /** Wait before a retry without a connection. */
  readonly retryMs: number;
}

/** Saves the cues a moment after each change, one request at a time, and again when the connection returns. */
export interface CaptionSaver {
  change(cues: Cues): void;
  /** Sends unsaved changes at once, as far as possible. */
  flush(): void;
  /** Overwrites what somebody else saved with the local cues. */
  keepMine(): void;
  /** Makes what somebody else saved the base of further changes. */
  takeTheirs(newer: CaptionsDto): void;
  readonly revision: () => number;
  /** Null when all is saved. */
  readonly unsaved: () => UnsavedCues | null;
  /** Stops all timers. */
  stop(): void;
}

/** See `CaptionSaver`. */
export function createCaptionSaver(options: CaptionSaverOptions): CaptionSaver {
  const { send, restMs, retryMs } = options;
  let base = options.base;
  let latest = base.cues;
  let conflict: CaptionsDto | null = null;
  let sending = false;
  let { knowsBase } = options;
  let isStopped = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const unsaved = (): UnsavedCues | null =>
    latest === base.cues ? null : { revision: base.revision, cues: latest };

  function onState(state: SaveState): void {
    options.onState(state);
    // Of an editor that was left, words stay kept as they are until they are saved: another editor may have them now.
    if (!isStopped || state.kind === 'saved') options.keep(unsaved());
  }

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

  /** Merges automatically when other captions were changed than the local ones, so that nobody needs to decide. */
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
      isStopped = false;
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
    unsaved,
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
