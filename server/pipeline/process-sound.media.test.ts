import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { repairReport } from '#common/report.ts';
import { makeFlashes, replaceSound } from '#server/test/broken-sound.ts';
import { makeFolder, makeTask, mustBeOk, testTools } from '#server/test/media-job.ts';
import { hits, mixAtSnr, voiceLike } from '#server/test/synthetic-sound.ts';
import { processVideo } from './process-video.ts';

const RATE = 44_100;
const SECONDS = 15;
const CLAPS = [
  900, 1630, 2750, 3480, 4100, 5320, 6333, 7000, 7910, 8850, 9444, 10_400, 11_210, 12_020, 13_300,
];
const VOICE = voiceLike(SECONDS, RATE, 4);

let folder: Awaited<ReturnType<typeof makeFolder>>;

beforeAll(async () => {
  folder = await makeFolder();
  const outputPath = path.join(folder.path, 'flashes.mp4');
  await makeFlashes({ tools: testTools, outputPath, seconds: SECONDS, timesMs: CLAPS });
});

afterAll(() => folder.remove());

describe('a clip whose container shows no offset', () => {
  it.each([
    [200, 0, 'shifted_audio'],
    [-200, 0, 'shifted_audio'],
    [0, 400, 'resampled_audio'],
  ])('is repaired by its claps: %i ms off, drifting by %i ms', async (startMs, driftMs, action) => {
    const name = path.join(folder.path, `claps${startMs}_${driftMs}`);
    const heard = hits(
      SECONDS,
      RATE,
      CLAPS.map((t) => t + startMs + (driftMs * t) / (SECONDS * 1000)),
      3,
    );
    await replaceSound({
      tools: testTools,
      inputPath: path.join(folder.path, 'flashes.mp4'),
      outputPath: `${name}.mp4`,
      rateHz: RATE,
      channels: [mixAtSnr(heard, VOICE, 8)],
    });
    const task = await makeTask(`${name}.mp4`, `${name}.work`);
    const job = { signal: new AbortController().signal, send: () => undefined };
    const { report } = mustBeOk(await processVideo(task, job));
    expect(repairReport.parse(report).outcome).toBe('repaired');
    const defect = report.defects.find(({ kind }) => kind === 'audio_sync');
    expect(defect).toMatchObject({ outcome: 'repaired', action, curve: { source: 'content', unit: 'ms' } });
    const points = defect?.curve?.points ?? [];
    expect(points.length).toBeGreaterThan(8);
    for (const { atMs, before, after } of points) {
      const plantedMs = startMs + (driftMs * atMs) / (SECONDS * 1000);
      expect(Math.abs(before - plantedMs), `before, ${atMs} ms`).toBeLessThanOrEqual(20);
      expect(Math.abs(after ?? 99), `after, ${atMs} ms`).toBeLessThan(20);
    }
    expect(report.video.treatment).toBe('copied');
    expect(report.checks.filter(({ passed }) => !passed)).toEqual([]);
  });
});
