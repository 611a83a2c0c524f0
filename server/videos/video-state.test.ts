import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LiveFindings } from '#common/live-findings.ts';
import { NO_ISSUES } from '#common/video.ts';
import { Video } from '#db/models/video.ts';
import { startClipServer, type ClipServer } from '#server/test/clip-server.ts';
import { ENGINES, hasEngine } from '#server/test/test-database.ts';

describe.each(ENGINES)('video state on %s', (engine) => {
  if (!hasEngine(engine)) return;
  let server: ClipServer;
  beforeAll(async () => {
    server = await startClipServer({ engine });
  });
  afterAll(async () => server.close());

  async function makeVideo(): Promise<string> {
    const user = await server.newUser();
    const { uploadUrl } = await server.uploads.issue(user, undefined, '');
    const uploadId = uploadUrl.slice(-43);
    await writeFile(server.files.path(uploadId), randomBytes(20));
    return (await server.complete(user, { uploadId, fileName: 'a.mp4', fileSizeBytes: 20 })).videoId;
  }

  const row = async (id: string) => {
    const video = await Video.query(server.db).findById(id);
    if (!video) throw new Error('no video');
    return video;
  };
  const completion = {
    versionId: 'v',
    issues: NO_ISSUES,
    fixesApplied: {},
    steps: [],
    durationMs: 1,
    width: 1,
    height: 1,
  };
  const complete = (id: string, attempt: number) =>
    server.db.transaction((trx) => server.state.complete(trx, id, attempt, completion));

  it('lets only the newest attempt write, and raises the version with every change', async () => {
    const id = await makeVideo();
    const first = (await server.state.begin(id)) ?? 0;
    const second = (await server.state.begin(id)) ?? 0;
    expect(second).toBe(first + 1);
    const before = (await row(id)).version;
    expect(await server.state.report(id, first, { progress: 90 })).toBe(false);
    expect(await complete(id, first)).toBe(false);
    expect(await server.state.fail(id, first, 'internal', 'late')).toBe(false);
    expect(await row(id)).toMatchObject({ version: before, progress: 0, status: 'processing' });
    expect(await server.state.report(id, second, { step: 'fixing_audio', progress: 40 })).toBe(true);
    expect(await row(id)).toMatchObject({ version: before + 1, progress: 40, currentStep: 'fixing_audio' });
    expect(await complete(id, second)).toBe(true);
    expect(await row(id)).toMatchObject({ version: before + 2, progress: 100, status: 'completed' });
  });

  it('keeps what a running repair has found until its end or the next attempt', async () => {
    const findings = {
      durationMs: 9000,
      total: 1,
      defects: [
        { id: 'wind_noise-1', kind: 'wind_noise', startMs: 10, endMs: 900, count: 1, state: 'found' },
      ],
    } satisfies LiveFindings;
    const id = await makeVideo();
    const first = (await server.state.begin(id)) ?? 0;
    await server.state.report(id, first, { findings });
    expect((await row(id)).liveFindings).toEqual(findings);
    await server.state.report(id, first, { progress: 60 });
    expect((await row(id)).liveFindings).toEqual(findings);
    const second = (await server.state.begin(id)) ?? 0;
    expect((await row(id)).liveFindings).toBeNull();
    await server.state.report(id, second, { findings });
    expect(await complete(id, second)).toBe(true);
    expect((await row(id)).liveFindings).toBeNull();
  });

  it('never leaves an end state because of a late report', async () => {
    const id = await makeVideo();
    const attempt = (await server.state.begin(id)) ?? 0;
    expect(await server.state.fail(id, attempt, 'stalled', 'It stalled.')).toBe(true);
    expect(await server.state.report(id, attempt, { progress: 50 })).toBe(false);
    expect(await complete(id, attempt)).toBe(false);
    expect(await server.state.fail(id, null, 'interrupted', 'again')).toBe(false);
    expect(await server.state.begin(id)).toBeNull();
    expect(await row(id)).toMatchObject({ status: 'failed', errorMessage: 'It stalled.' });
  });

  it('announces changes after the commit, when a reader can see them', async () => {
    const id = await makeVideo();
    const attempt = (await server.state.begin(id)) ?? 0;
    const seen: Promise<number>[] = [];
    const stop = server.events.on('video.changed', ({ videoId }) => {
      if (videoId === id) seen.push(row(id).then((video) => video.progress));
    });
    await server.state.report(id, attempt, { progress: 33 });
    stop();
    expect(await Promise.all(seen)).toEqual([33]);
  });
});
