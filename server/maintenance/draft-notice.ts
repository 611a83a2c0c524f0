import type { Transaction } from 'objection';

/** What an owner is told of a backup behind the bell. */
export interface DraftNotice {
  readonly userId: string;
  readonly kind: 'draft_expiry' | 'draft_damaged';
  readonly title: string;
  readonly body: string;
  readonly link: '/drafts';
}

/** Writes a notice; with a transaction it appears, and is announced, with its commit. */
export type NotifyOfDraft = (notice: DraftNotice, trx?: Transaction) => Promise<void>;
