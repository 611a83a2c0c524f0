import { chmod, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Knex } from 'knex';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#db/base-model.ts';
import { connectDatabase } from '#db/connection.ts';
import { HeardWords } from '#db/models/heard-words.ts';
import type { ClaimedJob } from '#server/jobs/job-queue.ts';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { createDiskStorage } from '#server/pipeline/storage/disk-storage.ts';
import type { MediaStorage } from '#server/pipeline/storage/media-storage.ts';
import { createUser } from '#server/test/factories.ts';
import { FAKE_MEDIA, fakeReport } from '#server/test/fake-report.ts';
import { insertFinishedVideo } from '#server/test/finished-video.ts';
import { makeFolder, testTools } from '#server/test/media-job.ts';
import { toHeardCues, toPieces } from './hear-words.ts';
import { createHearJob } from './hear.job.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
let db: Knex;
let storage: MediaStorage;
const now = Date.now;
const never = new AbortController().signal;

/**
 * Replaces whisper.cpp's command-line program: reads the same options, accepts only 16 kHz mono of 16 bits, and writes
 * the same file, with words that tell how long the sound was. With the model `broken` it exits like the real one: no
 * error, no file.
 */
const ENGINE = `#!/usr/bin/env node
const { readFileSync, writeFileSync } = require('node:fs');
const option = (name) => process.argv[process.argv.indexOf(name) + 1];
if (option('--model').endsWith('broken')) process.exit(0);
const wav = readFileSync(option('--file'));
const [channels, rate, bits] = [wav.readUInt16LE(22), wav.readUInt32LE(24), wav.readUInt16LE(34)];
if (channels !== 1 || rate !== 16000 || bits !== 16) process.exit(3);
const data = wav.indexOf('data');
const ms = Math.round((wav.length - data - 8) / 32);
const token = (text, p) => ({ text, offsets: { from: 0, to: 0 }, id: 1, p, t_dtw: -1 });
const segment = (from, to, text, p) => ({ offsets: { from, to }, text, tokens: [token('[_BEG_]', 0), token(text, p)] });
const transcription = [segment(200, 900, ' heard ' + ms, 0.92), segment(900, 1200, ' [Music]', 0.5), segment(1200, 99000, ' perhaps', 0.4)];
if (!process.argv.includes('--output-json-full') || option('--language') !== 'auto') process.exit(4);
writeFileSync(option('--output-file') + '.json', JSON.stringify({ result: { language: 'en' }, transcription }));
`;

beforeAll(async () => {
  folder = await makeFolder();
  db = connectDatabase({ databaseUrl: null, sqlitePath: path.join(folder.path, 'reelmend.sqlite') });
  await db.migrate.latest();
  storage = createDiskStorage(path.join(folder.path, 'objects'));
  await writeFile(path.join(folder.path, 'whisper'), ENGINE);
  await chmod(path.join(folder.path, 'whisper'), 0o755);
});
afterAll(async () => {
  await db.destroy();
  await folder.remove();
});

function handler(model: string | null = 'model') {
  const silent = () => undefined;
  return createHearJob({
    db,
    storage,
    tools: testTools,
    engine: model === null ? null : { cli: path.join(folder.path, 'whisper'), model, threads: 2 },
    folder: path.join(folder.path, 'speech'),
    logger: { info: silent, warn: silent, error: silent },
    now,
  });
}

/** A repaired clip of eight seconds in which somebody speaks at these times, and the request to hear it. */
async function wished(speech: readonly [number, number][]) {
  const clip = path.join(folder.path, `${newId()}.mp4`);
  const made = '-v error -f lavfi -i color=c=gray:s=64x64:r=10:d=8 -f lavfi -i sine=f=220:r=44100:d=8';
  const coded = '-c:v libx264 -preset ultrafast -pix_fmt yuv420p -c:a aac -ac 2';
  await runTool('make a clip', testTools.ffmpeg, [...`${made} ${coded}`.split(' '), '-y', clip]);
  const captions = speech.map(([startMs, endMs]) => {
    return { startMs, endMs, text: null, source: 'timing_only', confidence: null } as const;
  });
  const user = await createUser(db);
  const text = JSON.stringify(fakeReport({ captions, notes: [newId()] }));
  const files = {
    result: await storage.put(clip),
    original: await storage.putBuffer(Buffer.from(`original ${newId()}`)),
    report: await storage.putBuffer(Buffer.from(text)),
  };
  const { videoId } = await db.transaction((trx) =>
    insertFinishedVideo(trx, { userId: user.id, ...files, at: now() }),
  );
  const jobId = newId();
  await HeardWords.query(db).insert({
    videoId,
    jobId,
    state: 'waiting',
    progress: 0,
    createdAt: 1,
    updatedAt: 1,
  });
  const job: ClaimedJob = {
    id: jobId,
    type: 'hear-words',
    payload: { videoId },
    attempt: 1,
    userId: null,
    videoId,
  };
  return { job, row: () => HeardWords.query(db).findById(videoId).throwIfNotFound() };
}

describe('hearing words', () => {
  it('listens only where somebody speaks, and gives cues with their confidence', async () => {
    const { job, row } = await wished([
      [1000, 2000],
      [2500, 3000],
      [6000, 7500],
    ]);
    expect(await handler().run(job, never)).toEqual({ kind: 'done' });
    const heard = await row();
    expect(heard).toMatchObject({ state: 'done', progress: 100, message: null });
    // Two pieces with their margins: 0.8 to 3.2 s and 5.8 to 7.7 s.
    expect(heard.cues).toEqual([
      { startMs: 1000, endMs: 1700, text: 'heard 2400', source: 'speech_model', confidence: 0.92 },
      { startMs: 2000, endMs: 3200, text: 'perhaps', source: 'speech_model', confidence: 0.4 },
      { startMs: 6000, endMs: 6700, text: 'heard 1900', source: 'speech_model', confidence: 0.92 },
      { startMs: 7000, endMs: 7700, text: 'perhaps', source: 'speech_model', confidence: 0.4 },
    ]);
    expect(await readdir(path.join(folder.path, 'speech'))).toEqual([]);
  });

  it('invents nothing where nobody speaks', async () => {
    const { job, row } = await wished([]);
    await handler().run(job, never);
    expect(await row()).toMatchObject({
      state: 'done',
      cues: [],
      message: expect.stringMatching(/^No speech was found/),
    });
  });

  it('changes nothing once it was cancelled, and keeps what was heard before', async () => {
    const { job, row } = await wished([[1000, 2000]]);
    const before = [
      { startMs: 0, endMs: 900, text: 'before', source: 'speech_model', confidence: 1 } as const,
    ];
    const cancelled = { state: 'cancelled', cues: before } as const;
    const stop = new AbortController();
    const running = handler().run(job, stop.signal);
    await expect.poll(async () => (await row()).state).toBe('working');
    await HeardWords.query(db)
      .patch({ ...cancelled })
      .where({ jobId: job.id });
    // The engine may finish before the signal arrives.
    await running;
    expect(await row()).toMatchObject(cancelled);
    stop.abort();
    await handler().run(job, stop.signal);
    expect(await row()).toMatchObject(cancelled);
  });

  it('gives a sentence when the engine fails silently, and when there is none', async () => {
    const failed = await wished([[1000, 2000]]);
    expect(await handler('broken').run(failed.job, never)).toMatchObject({ kind: 'failed' });
    const sentence = expect.stringMatching(/could not be transcribed/);
    expect(await failed.row()).toMatchObject({ state: 'failed', cues: null, message: sentence });
    const gone = await wished([[1000, 2000]]);
    await handler(null).run(gone.job, never);
    expect(await gone.row()).toMatchObject({
      state: 'failed',
      message: expect.stringMatching(/no longer has speech recognition/),
    });
  });
});

describe('pieces of speech', () => {
  it('are at most 28 s long, split at pauses, and never overlap', () => {
    const speech = Array.from({ length: 12 }, (_, i) => ({ startMs: i * 6000, endMs: i * 6000 + 5900 }));
    const pieces = toPieces([...speech, { startMs: 80_000, endMs: 81_000 }], FAKE_MEDIA.durationMs * 100);
    for (const { startMs, endMs } of pieces) expect(endMs - startMs).toBeLessThan(30_000);
    pieces
      .slice(1)
      .forEach((piece, i) => expect(piece.startMs).toBeGreaterThanOrEqual(pieces[i]?.endMs ?? 0));
    expect([pieces[0]?.startMs, pieces.at(-1)]).toEqual([0, { startMs: 79_800, endMs: 81_200 }]);
  });

  it('keep what was heard inside their limits, in order, in readable cues', () => {
    const long = 'a sentence that goes on and on '.repeat(6).trim();
    const segments = [
      { startMs: 0, endMs: 8000, text: long, confidence: 0.5 },
      { startMs: 7000, endMs: 50_000, text: 'end', confidence: null },
      { startMs: 60_000, endMs: 61_000, text: 'beyond', confidence: null },
    ];
    const cues = toHeardCues(segments, { startMs: 1000, endMs: 11_000 });
    expect(cues.every(({ text }) => (text ?? '').length <= 84)).toBe(true);
    expect(cues.map(({ text }) => text).join(' ')).toBe(`${long} end`);
    expect(cues.at(-1)).toMatchObject({ startMs: 9000, endMs: 11_000, text: 'end' });
  });
});
