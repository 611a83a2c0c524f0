import { open, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { findVideoTrack, readMovie } from '#server/media/mp4/movie.ts';
import { readSamples } from '#server/media/mp4/sample-table.ts';
import { makeMovingClip } from '#server/test/broken-clips.ts';
import { makeTask, mustBeOk, testTools as tools } from '#server/test/media-job.ts';
import { sharedFolder } from '#server/test/rendered-clips.ts';
import { processVideo } from './process-video.ts';
import { verifyClaims } from './publish/verify-claims.ts';

const folder = sharedFolder();
const ENCODE = [
  ...'-c:v libx265 -preset medium -crf 18 -tag:v hvc1 -x265-params'.split(' '),
  'log-level=error:keyint=60:bframes=0:wpp=0:frame-threads=1:pools=1',
];
/** Samples in which a byte changes. */
const CHANGED = [20];

async function withChangedBytes(clean: string, broken: string): Promise<Buffer> {
  const file = await open(clean, 'r');
  const bytes = await readFile(clean);
  try {
    const samples = readSamples(findVideoTrack(await readMovie(file), 0).stbl);
    const torn = Buffer.from(bytes);
    for (const sample of CHANGED) {
      const { offset = 0, sizeBytes = 0 } = samples[sample] ?? {};
      const at = offset + Math.floor(0.25 * sizeBytes);
      torn[at] = (torn[at] ?? 0) ^ 0x20;
    }
    await writeFile(broken, torn);
  } finally {
    await file.close();
  }
  return bytes;
}

it('hands an HEVC clip back as it was before single bytes of it changed', async () => {
  const at = (name: string) => path.join(folder.path, name);
  const [clean, broken] = [at('clean.mp4'), at('broken.mp4')];
  await makeMovingClip({ tools, outputPath: clean, seconds: 3, encode: ENCODE });
  const bytes = await withChangedBytes(clean, broken);
  const task = await makeTask(broken, at('work'));
  const answer = await processVideo(task, { signal: new AbortController().signal, send: () => {} });
  const { report, resultPath } = mustBeOk(answer);
  expect((await readFile(resultPath ?? '')).equals(bytes)).toBe(true);
  expect(report.defects.map(({ kind, action, outcome }) => [kind, action, outcome])).toEqual([
    ['corrupted_section', 'restored_bytes', 'repaired'],
  ]);
  const total = report.video.unitsTotal ?? 0;
  expect(report.video).toMatchObject({ treatment: 'smart_render', unitsKept: total - CHANGED.length });
  expect(report.checks.filter(({ passed }) => !passed)).toEqual([]);
  const claims = await verifyClaims({ originalPath: broken, repairedPath: resultPath ?? '', report, tools });
  expect(claims.filter(({ confirmed }) => !confirmed)).toEqual([]);
});
