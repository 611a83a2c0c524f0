import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Knex } from 'knex';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#db/base-model.ts';
import { connectDatabase } from '#db/connection.ts';
import { VersionPreview } from '#db/models/version-preview.ts';
import { VideoExport } from '#db/models/video-export.ts';
import { createEventBus } from '#server/events.ts';
import type { ClaimedJob } from '#server/jobs/job-queue.ts';
import { runTool, type ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { createUser } from '#server/test/factories.ts';
import { FAKE_MEDIA, fakeReport, suppressedWind } from '#server/test/fake-report.ts';
import { insertFinishedVideo } from '#server/test/finished-video.ts';
import { testTools } from '#server/test/media-job.ts';
import { renderLimits, sharedFolder } from '#server/test/rendered-clips.ts';
import { createLimitedExportJob } from './download/limited-export.job.ts';
import { createPreviewJob } from './preview/preview.job.ts';
import { applyFixes } from './repair/quick-fixes/apply-fixes.ts';
import { createDiskStorage } from './storage/disk-storage.ts';
import type { MediaStorage } from './storage/media-storage.ts';
import type { FixesMessage } from './worker-protocol.ts';

/** As ffmpeg's encoders say why they failed; its own last line behind that tells nothing. */
const SAID = '[libx264 @ 0x1] broken by a test';
const SCRIPT = (ffmpeg: string) => `#!/bin/sh
case "$*" in *libx264*) printf '%s\\n' '${SAID}' 'Conversion failed!' >&2; exit 1;; *) exec ${ffmpeg} "$@";; esac
`;
const SECONDS = 2;
const WIND = suppressedWind(SECONDS);

const folder = sharedFolder();
const file = (name: string) => path.join(folder.path, name);
let db: Knex;
let storage: MediaStorage;
let clip: string;
/** Like the real tools, but nothing can be encoded. */
let tools: ToolPaths;

beforeAll(async () => {
  db = connectDatabase({ databaseUrl: null, sqlitePath: file('reelmend.sqlite') });
  await db.migrate.latest();
  storage = createDiskStorage(file('objects'));
  clip = file('dark.mp4');
  const picture = `testsrc2=s=320x180:r=25:d=${SECONDS},lutyuv=y='16+(val-16)*0.28'`;
  const args = ['-v', 'error', '-f', 'lavfi', '-i', picture, '-c:v', 'libx264', '-pix_fmt', 'yuv420p', clip];
  await runTool('make a clip', testTools.ffmpeg, args);
  await writeFile(file('no-encoder'), SCRIPT(testTools.ffmpeg), { mode: 0o755 });
  tools = { ...testTools, ffmpeg: file('no-encoder') };
}, 30_000);
afterAll(() => db.destroy());

/** A logger, and what it was told. */
function keepLog() {
  const entries: Record<string, unknown>[] = [];
  const silent = () => undefined;
  return {
    entries,
    logger: {
      info: silent,
      warn: (entry: Record<string, unknown>) => void entries.push(entry),
      error: silent,
    },
  };
}

/** A finished video of the clip, and a job of its last attempt. */
async function finished(type: 'make-preview' | 'export-video') {
  const user = await createUser(db);
  const stored = await storage.put(await copied());
  const media = { ...FAKE_MEDIA, durationMs: SECONDS * 1000 };
  const described = { sha256: stored.sha256, sizeBytes: stored.sizeBytes, media };
  const report = fakeReport({ defects: [WIND], original: described, result: described });
  const text = await storage.putBuffer(Buffer.from(JSON.stringify(report)));
  const rows = { userId: user.id, original: stored, result: stored, report: text, at: Date.now() };
  const { videoId, versionId } = await db.transaction((trx) => insertFinishedVideo(trx, rows));
  const payload = type === 'make-preview' ? { versionId } : { videoId };
  const job: ClaimedJob = { id: newId(), type, payload, attempt: 3, userId: user.id, videoId };
  return { job, videoId, versionId, sha256: stored.sha256 };
}

async function copied(): Promise<string> {
  const copy = file(`${newId()}.mp4`);
  await runTool('copy', 'cp', [clip, copy]);
  return copy;
}

const never = new AbortController().signal;

/** What the log must hold, and people must not read. */
function mustTell(detail: unknown, label: string, message: string | null | undefined): void {
  expect(detail).toContain(label);
  expect(detail).toContain(SAID);
  expect(message).toMatch(/\.$/);
  expect(message).not.toContain(SAID);
  expect(message).not.toContain(folder.path);
}

describe('what a failed tool said', () => {
  it('is in the log with the job of a comparison', async () => {
    const { job, versionId } = await finished('make-preview');
    const at = Date.now();
    await VersionPreview.query(db).insert({ versionId, state: 'waiting', createdAt: at, updatedAt: at });
    const { entries, logger } = keepLog();
    const work = { threads: 1, folder: file('previews'), now: Date.now };
    await createPreviewJob({ db, storage, tools, logger, ...work }).run(job, never);
    const row = await VersionPreview.query(db).findById(versionId);
    expect(row?.state).toBe('failed');
    expect(entries).toMatchObject([{ jobId: job.id, versionId }]);
    mustTell(entries[0]?.['detail'], 'write a piece of the comparison', row?.message);
  });

  it('is in the log with the job of a smaller file', async () => {
    const { job, videoId, sha256 } = await finished('export-video');
    const at = Date.now();
    await VideoExport.query(db).insert({
      videoId,
      jobId: job.id,
      sourceSha256: sha256,
      shortSide: 90,
      state: 'waiting',
      progress: 0,
      updatedAt: at,
    });
    const { entries, logger } = keepLog();
    const exports = createLimitedExportJob({
      db,
      storage,
      tools,
      logger,
      events: createEventBus(),
      limits: renderLimits,
      queue: { madeHeadway: async () => undefined },
      folder: file('copies'),
      collect: async () => undefined,
      now: Date.now,
    });
    await exports.run(job, never);
    const row = await VideoExport.query(db).findById(videoId);
    expect(row?.state).toBe('failed');
    expect(entries).toMatchObject([{ jobId: job.id, videoId }]);
    mustTell(entries[0]?.['detail'], 'make a piece of the smaller copy', row?.message);
  });

  it('leaves the media thread for each quick fix that was given up', async () => {
    const workDir = file('fixes');
    await mkdir(workDir);
    const told: FixesMessage[] = [];
    const result = await applyFixes(
      {
        kind: 'apply-fixes',
        videoId: 'v',
        inputPath: clip,
        inputSha256: '',
        reelmendVersion: 'test',
        workDir,
        tools,
        limits: renderLimits,
        fixes: ['color-correct', 'youtube-optimize'],
      },
      { signal: never, send: (message) => void told.push(message) },
    );
    const outcomes = result.ok ? result.fixes : [];
    expect(outcomes.map(({ state }) => state)).toEqual(['failed', 'failed']);
    const refusals = told.flatMap((message) => (message.type === 'refusal' ? [message] : []));
    expect(refusals.map(({ fixes }) => fixes)).toEqual([['color-correct'], ['youtube-optimize']]);
    mustTell(refusals[0]?.detail, 'make a piece of the changed pictures', outcomes[0]?.detail);
    mustTell(refusals[1]?.detail, 'code a piece of a platform file', outcomes[1]?.detail);
  });
});
