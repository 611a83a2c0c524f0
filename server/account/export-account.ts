import type { Knex } from 'knex';
import { ApiToken } from '#db/models/api-token.ts';
import { CaptionBurn } from '#db/models/caption-burn.ts';
import { CertificateRow } from '#db/models/certificate.ts';
import { toWebVtt } from '#common/caption-files.ts';
import { Draft } from '#db/models/draft.ts';
import { HeardWords } from '#db/models/heard-words.ts';
import { Idea, IdeaVote } from '#db/models/idea.ts';
import { Notification } from '#db/models/notification.ts';
import { Session } from '#db/models/session.ts';
import { FixRun } from '#db/models/fix-run.ts';
import { StorylineRow } from '#db/models/storyline.ts';
import { Trial } from '#db/models/trial.ts';
import { Upload } from '#db/models/upload.ts';
import { UsageUnit } from '#db/models/usage-unit.ts';
import { User } from '#db/models/user.ts';
import { VideoCaptions } from '#db/models/video-captions.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import { Video } from '#db/models/video.ts';
import { notFound } from '#server/errors.ts';
import type { MediaStorage } from '#server/pipeline/storage/media-storage.ts';
import { memoryEntry, type TarEntry } from './tar-archive.ts';

export interface ExportDeps {
  readonly db: Knex;
  readonly storage: Pick<MediaStorage, 'stat' | 'open'>;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

const NAME_MAX_CHARS = 120;

/**
 * The files of a user's data archive: every row as JSON (without password hash and token secrets), every untouched
 * original, the reports and captions of the results, and checksums for `sha256sum -c`. Originals are opened one after
 * the other while the archive is read.
 */
export async function exportAccount(deps: ExportDeps, userId: string): Promise<TarEntry[]> {
  const at = deps.now();
  const rows = await readRows(deps.db, userId);
  const files: TarEntry[] = [];
  const sums: string[] = [];
  const missing: string[] = [];
  for (const file of wantedFiles(rows)) {
    const stored = await deps.storage.stat(file.sha256);
    if (stored === null) {
      missing.push(`${file.sha256}  ${file.path}`);
      continue;
    }
    sums.push(`${file.sha256}  ${file.path}`);
    files.push({
      path: file.path,
      sizeBytes: stored.sizeBytes,
      modifiedMs: file.modifiedMs,
      open: () => deps.storage.open(file.sha256),
    });
  }
  const texts = Object.entries(rows).map(([name, value]) =>
    memoryEntry(`data/${name}.json`, `${JSON.stringify(value, null, 2)}\n`, at),
  );
  const captions = rows.captions.map(({ videoId, cues, updatedAt }) =>
    memoryEntry(`captions/${videoId}.vtt`, toWebVtt(cues), updatedAt),
  );
  return [
    memoryEntry('README.txt', readme(rows.account.username, at, missing), at),
    ...texts,
    memoryEntry('SHA256SUMS', sums.map((line) => `${line}\n`).join(''), at),
    ...captions,
    ...files,
  ];
}

type Rows = Awaited<ReturnType<typeof readRows>>;

async function readRows(db: Knex, userId: string) {
  const own = { userId };
  const user = await User.query(db).findById(userId);
  if (!user) throw notFound();
  const { passwordHash: _secret, ...account } = user.toJSON();
  // The id of an upload is the secret part of its address, here and below.
  const videos = (await Video.query(db).where(own).orderBy(['createdAt', 'id'])).map(
    ({ uploadId: _secret, ...video }) => video,
  );
  const versions = await VideoVersion.query(db)
    .select('video_versions.*')
    .join('videos', 'videos.id', 'video_versions.videoId')
    .where('videos.userId', userId)
    .orderBy(['video_versions.createdAt', 'video_versions.id']);
  const videoIds = videos.map(({ id }) => id);
  const versionIds = versions.map(({ id }) => id);
  return {
    account: { ...account, username: user.username },
    trials: await Trial.query(db).where(own),
    sessions: await Session.query(db).select('createdAt', 'lastSeenAt', 'expiresAt').where(own),
    tokens: await ApiToken.query(db)
      .select('name', 'hint', 'scopes', 'createdAt', 'lastUsedAt', 'expiresAt')
      .where(own),
    videos,
    versions,
    certificates: await CertificateRow.query(db).whereIn('versionId', versionIds),
    storylines: await StorylineRow.query(db)
      .select('versionId', 'storyline', 'createdAt', 'updatedAt')
      .whereIn('versionId', versionIds),
    heardWords: await HeardWords.query(db)
      .select('videoId', 'state', 'cues', 'createdAt', 'updatedAt')
      .whereIn('videoId', videoIds),
    captionFiles: await CaptionBurn.query(db)
      .select('videoId', 'style', 'captionsRevision', 'state', 'createdAt', 'updatedAt')
      .whereIn('videoId', videoIds),
    captions: await VideoCaptions.query(db).whereIn('videoId', videoIds),
    quickFixes: await FixRun.query(db).whereIn('videoId', videoIds),
    drafts: await Draft.query(db).where(own).orderBy(['createdAt', 'id']),
    uploads: await Upload.query(db)
      .select('fileName', 'fileType', 'sizeBytes', 'offsetBytes', 'state', 'createdAt', 'expiresAt')
      .where(own),
    usage: await UsageUnit.query(db).select('month', 'videoId', 'createdAt', 'releasedAt').where(own),
    ideas: await Idea.query(db).where(own).orderBy(['createdAt', 'id']),
    votes: await IdeaVote.query(db).select('ideaId', 'createdAt').where(own),
    notifications: await Notification.query(db).where(own).orderBy(['createdAt', 'id']),
  };
}

interface WantedFile {
  readonly sha256: string;
  readonly path: string;
  readonly modifiedMs: number;
}

/** Originals (of videos, and of backups whose video is gone), reports and captions; the same bytes only once. */
function wantedFiles({ videos, drafts, versions, captions }: Rows): WantedFile[] {
  const current = new Set(videos.map((video) => video.currentVersionId));
  const results = versions.filter((version) => current.has(version.id));
  const worded = new Set(captions.map(({ videoId }) => videoId));
  const all: (WantedFile | null)[] = [
    ...videos.map((video) =>
      original(video.originalSha256, video.id, video.originalFileName, video.createdAt),
    ),
    ...drafts.map((draft) => original(draft.sha256, draft.videoId, draft.fileName, draft.createdAt)),
    ...results.map(({ reportSha256, videoId, createdAt }) =>
      reportSha256 === null
        ? null
        : { sha256: reportSha256, path: `reports/${videoId}.json`, modifiedMs: createdAt },
    ),
    ...results.map(({ captionsSha256, videoId, createdAt }) =>
      captionsSha256 === null || worded.has(videoId)
        ? null
        : { sha256: captionsSha256, path: `captions/${videoId}.vtt`, modifiedMs: createdAt },
    ),
  ];
  const first = new Map<string, WantedFile>();
  for (const file of all) if (file && !first.has(file.sha256)) first.set(file.sha256, file);
  return [...first.values()];
}

function original(sha256: string, videoId: string, name: string, modifiedMs: number): WantedFile {
  return { sha256, path: `originals/${videoId.slice(0, 8)}-${safeName(name)}`, modifiedMs };
}

/** A name without path separators, control and direction characters, short enough for every file system. */
export function safeName(name: string): string {
  const clean = name.replaceAll(/[\p{Cc}\p{Cf}/\\:*?"<>|]/gu, '_');
  const dot = clean.lastIndexOf('.');
  const ending = dot > 0 && clean.length - dot <= 6 ? clean.slice(dot) : '';
  // Cut by code points, so that no character is cut in half.
  const stem = Array.from(clean.slice(0, clean.length - ending.length));
  return stem.slice(0, NAME_MAX_CHARS).join('') + ending;
}

function readme(username: string, atMs: number, missing: readonly string[]): string {
  const lines = [
    `Data of the account ${username}, made on ${new Date(atMs).toISOString()}.`,
    '',
    'data/       every row kept about the account, as JSON; moments are milliseconds since 1970 (UTC)',
    'originals/  the files as they were uploaded, byte for byte',
    'reports/    the repair report of each result',
    'captions/   the captions of each result',
    'SHA256SUMS  check the files with: sha256sum -c SHA256SUMS',
    '',
  ];
  if (missing.length === 0) return lines.join('\n');
  return [...lines, 'These files are recorded but were not found in the storage:', ...missing, ''].join('\n');
}
