import type { Knex } from 'knex';
import { raw } from 'objection';
import type { FixOutcome } from '#common/api/quick-fixes.ts';
import { isPlatformFix } from '#common/fixes.ts';
import { isAtWork } from '#common/is-at-work.ts';
import { newId } from '#db/base-model.ts';
import { FixRun } from '#db/models/fix-run.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import { Video } from '#db/models/video.ts';
import type { EventBus } from '#server/events.ts';
import type { CertificateService } from '#server/pipeline/publish/certificate.service.ts';
import type { MediaStorage, StoredFile } from '#server/pipeline/storage/media-storage.ts';
import type { ApplyFixesResult } from '#server/pipeline/worker-protocol.ts';
import { recordObject } from '#server/videos/create-video.ts';
import { replaceVersion } from '#server/videos/replace-version.ts';
import type { VideoState } from '#server/videos/video-state.ts';

export interface PublishFixesDeps {
  readonly db: Knex;
  readonly storage: Pick<MediaStorage, 'put' | 'putBuffer'>;
  readonly state: Pick<VideoState, 'switchVersion'>;
  readonly events: EventBus;
  readonly certificates: Pick<CertificateService, 'issueWithReport'>;
  /** Removes those of the objects that nothing refers to any more. */
  readonly collect: (sha256s: readonly string[]) => Promise<void>;
  readonly now: () => number;
}

type Made = Extract<ApplyFixesResult, { ok: true }>;
type MadeExport = Made['exports'][number];

/**
 * Publishes the result of a request as a new version and platform files: first the files into the storage, then one
 * transaction. A kill before the commit leaves the clip unchanged and unreferenced objects, which housekeeping removes.
 * @param poster a picture of the new version; null keeps the old one
 * @returns `moved` when another version became the current one meanwhile, `gone` when the video was deleted or the
 *   request cancelled; in both cases nothing was changed
 * @throws AppError `storage_full`
 */
export async function publishFixes(
  deps: PublishFixesDeps,
  run: FixRun,
  source: VideoVersion,
  result: Made,
  poster: Buffer | null,
): Promise<'published' | 'moved' | 'gone'> {
  const { db, storage, events } = deps;
  const { videoId } = run;
  const clip = result.clip && (await storage.put(result.clip.path));
  const picture = poster && (await storage.putBuffer(poster));
  const files: { made: MadeExport; stored: StoredFile }[] = [];
  for (const made of result.exports) files.push({ made, stored: await storage.put(made.path) });
  const stored = [clip, picture, ...files.map((file) => file.stored)].filter((object) => object !== null);

  const ended = await db.transaction(async (trx) => {
    const video = await Video.query(trx).findById(videoId).forUpdate();
    const wanted = await FixRun.query(trx).findById(videoId).forUpdate();
    if (!video || wanted?.jobId !== run.jobId || !isAtWork(wanted))
      return { is: 'gone' as const, replaced: [] };
    if (video.status !== 'completed' || video.currentVersionId !== source.id)
      return { is: 'moved' as const, replaced: [] };
    const at = deps.now();
    for (const object of stored) await recordObject(trx, object, at);
    const versionId = clip ? newId() : null;
    if (clip && versionId !== null) {
      const applied = result.fixes.filter(isInVersion);
      const fixesApplied = {
        ...video.fixesApplied,
        ...Object.fromEntries(applied.map(({ id }) => [id, true])),
      };
      await VideoVersion.query(trx).insert({
        id: versionId,
        videoId,
        kind: 'fixes',
        sha256: clip.sha256,
        sizeBytes: clip.sizeBytes,
        // It describes the repair below this version; that of what was marked is kept with the certificate.
        reportSha256: source.reportSha256,
        captionsSha256: source.captionsSha256,
        posterSha256: picture?.sha256 ?? source.posterSha256,
        fixes: mergeFixes(source.fixes ?? [], applied),
        fixesApplied,
        media: result.clip?.media ?? null,
        soundMovedMs: (source.soundMovedMs ?? 0) + (result.clip?.soundMovedMs ?? 0) || null,
        createdAt: at,
      });
      const report = result.clip?.report;
      if (report) await deps.certificates.issueWithReport(trx, versionId, report);
      if (!(await deps.state.switchVersion(trx, videoId, versionId, fixesApplied)))
        throw new Error('the video is not finished any more');
    }
    const sourceSha256 = clip?.sha256 ?? source.sha256;
    const replaced: string[] = [];
    for (const { made, stored: object } of files) {
      const mine = { videoId, kind: 'platform', platformFix: made.fix } as const;
      const fixes = result.fixes.filter(({ id }) => id === made.fix);
      replaced.push(...(await replaceVersion(trx, mine, object, { sourceSha256, fixes, createdAt: at })));
    }
    await FixRun.query(trx)
      .patch({
        state: 'done',
        progress: 100,
        fixes: result.fixes,
        message: null,
        resultVersionId: versionId,
        revision: raw('revision + 1'),
        updatedAt: at,
      })
      .where({ videoId, jobId: run.jobId });
    return { is: 'published' as const, replaced };
  });

  if (ended.is === 'published') {
    const video = await Video.query(db).findById(videoId).select('userId');
    const fact = { userId: video?.userId ?? '', videoId };
    if (clip) {
      events.emit('video.changed', fact);
      events.emit('video.edited', fact);
    }
    events.emit('fixes.changed', { videoId });
  }
  const orphans = ended.is === 'published' ? ended.replaced : stored.map(({ sha256 }) => sha256);
  if (orphans.length > 0) await deps.collect(orphans);
  return ended.is;
}

const isInVersion = ({ id, state }: FixOutcome) => state === 'applied' && !isPlatformFix(id);

/** Newer outcomes replace older ones. */
function mergeFixes(before: readonly FixOutcome[], now: readonly FixOutcome[]): FixOutcome[] {
  return [...new Map([...before, ...now].map((fix) => [fix.id, fix])).values()];
}
