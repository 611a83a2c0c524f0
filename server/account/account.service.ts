import type { Knex } from 'knex';
import type { StorageUse } from '#common/api/account.ts';
import { Idea } from '#db/models/idea.ts';
import { Job } from '#db/models/job.ts';
import { Session } from '#db/models/session.ts';
import { Upload } from '#db/models/upload.ts';
import { User } from '#db/models/user.ts';
import { Video } from '#db/models/video.ts';
import { AppError, notFound } from '#server/errors.ts';
import type { EventBus } from '#server/events.ts';
import type { MediaStorage } from '#server/pipeline/storage/media-storage.ts';
import { exportAccount } from './export-account.ts';
import { heldObjects, measureStorage } from './storage-use.ts';
import type { TarEntry } from './tar-archive.ts';
import { withdrawVotes } from './withdraw-votes.ts';

export interface AccountDeps {
  readonly db: Knex;
  readonly storage: MediaStorage;
  readonly events: EventBus;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly verifyPassword: (hash: string, password: string) => Promise<boolean>;
  /** Stops running jobs whose rows are gone, and removes the work folders of videos. */
  readonly stopWork: (jobIds: readonly string[], videoIds: readonly string[]) => Promise<void>;
  /** Deletes the bytes of unfinished uploads. */
  readonly removeUploadFiles: (uploadIds: readonly string[]) => Promise<void>;
  /** Removes those of the objects that nothing refers to any more. */
  readonly collect: (sha256s: readonly string[]) => Promise<void>;
}

export interface AccountService {
  storage(userId: string): Promise<StorageUse>;
  /** The files of the user's data archive. */
  exportFiles(userId: string): Promise<TarEntry[]>;
  /**
   * Deletes the account: all rows in one transaction, then every stored file that nobody else holds.
   * @throws AppError `invalid_input` when the password is wrong
   */
  remove(userId: string, password: string): Promise<void>;
}

/** The account as a whole: its storage use, its data archive, and its deletion. */
export function createAccountService(deps: AccountDeps): AccountService {
  const { db, events } = deps;

  async function remove(userId: string, password: string): Promise<void> {
    const user = await User.query(db).findById(userId);
    if (!user) throw notFound();
    if (!(await deps.verifyPassword(user.passwordHash, password))) {
      // Not a 401: the session is valid, and the client would treat it as signed out.
      const message = 'The password is wrong.';
      throw new AppError('invalid_input', message, { fields: { password: message } });
    }
    const gone = await removeRows(db, user);
    if (gone === null) return;
    // Only after the commit: if the rows stay, their jobs must continue.
    await deps.stopWork(gone.jobIds, gone.videoIds);
    for (const sessionHash of gone.sessionHashes) events.emit('session.ended', { sessionHash });
    for (const ideaId of gone.ideaIds) events.emit('idea.changed', { ideaId });
    for (const authorId of gone.authorIds) events.emit('reputation.changed', { userId: authorId });
    await deps.removeUploadFiles(gone.uploadIds);
    await deps.collect(gone.objects);
  }

  return {
    storage: (userId) => measureStorage(db, userId),
    exportFiles: (userId) => exportAccount(deps, userId),
    remove,
  };
}

/**
 * Deletes the account's row and, by the foreign keys, everything that belongs to it.
 * @returns what is left to clean up and to announce; null when another call was first
 */
async function removeRows(db: Knex, user: User) {
  return db.transaction(async (trx) => {
    const locked = await User.query(trx).findById(user.id).forUpdate();
    if (!locked) return null;
    const own = { userId: user.id };
    const videos = await Video.query(trx).select('id').where(own);
    const jobs = await Job.query(trx)
      .select('id')
      .where({ ...own, state: 'running' });
    const sessions = await Session.query(trx).select('idHash').where(own);
    const uploads = await Upload.query(trx).select('id').where(own);
    const received = await Upload.query(trx).select('sha256').where(own).whereNotNull('sha256');
    const objects = await heldObjects(trx, user.id);
    const ideas = await Idea.query(trx).select('id').where(own);
    const votes = await withdrawVotes(user.id, trx);
    // Waiting and sent mails contain the address in their payload.
    await Job.query(trx)
      .delete()
      .where('type', 'send-mail')
      .whereRaw("payload like ? escape '!'", [mailsTo(user.email)]);
    await User.query(trx).deleteById(user.id);
    return {
      videoIds: videos.map((row) => row.id),
      jobIds: jobs.map((row) => row.id),
      sessionHashes: sessions.map((row) => row.idHash),
      uploadIds: uploads.map((row) => row.id),
      objects: [
        ...new Set([
          ...objects.map((object) => object.sha256),
          ...received.map((row) => row.sha256).filter((sha256) => sha256 !== null),
        ]),
      ],
      ideaIds: [...new Set([...ideas.map((row) => row.id), ...votes.ideaIds])],
      authorIds: votes.authorIds,
    };
  });
}

/** LIKE pattern for payloads of mails to this address; `_` and `%` in the address are escaped. */
function mailsTo(email: string): string {
  return `%"to":${JSON.stringify(email).replaceAll(/[!_%]/g, '!$&')}%`;
}
