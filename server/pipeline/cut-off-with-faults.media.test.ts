import { truncate, stat } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { injectRepeats, makeMovingClip } from '#server/test/broken-clips.ts';
import { makeFolder, makeTask, mustBeOk, testTools as tools } from '#server/test/media-job.ts';
import { processVideo } from './process-video.ts';
import { verifyClaims } from './publish/verify-claims.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
const at = (name: string) => path.join(folder.path, name);
beforeAll(async () => {
  folder = await makeFolder();
  const size = { width: 320, height: 192, seconds: 6 };
  await makeMovingClip({ tools, outputPath: at('clean.mp4'), scenery: 'zoom', ...size });
});
afterAll(() => folder.remove());

/** Copies a clip with its index at the front and its sound later, and cuts the file off. */
async function cutOff(name: string, soundLateS: number): Promise<string> {
  const inputs = [{ path: at(`${name}.mp4`) }];
  const late = { path: at(`${name}.mp4`), options: ['-itsoffset', String(soundLateS)] };
  const outputPath = at(`${name}-off.mp4`);
  const options = '-map 0:v -map 1:a -c copy -movflags +faststart -f mp4'.split(' ');
  const outputs = [{ path: outputPath, options }];
  await runFfmpeg({ label: 'copy', inputs: [...inputs, late], outputs, expectedDurationMs: null }, { tools });
  const { size } = await stat(outputPath);
  await truncate(outputPath, Math.round(size * 0.85));
  return outputPath;
}

async function mend(originalPath: string, work: string) {
  const io = { signal: new AbortController().signal, send: () => undefined };
  const { resultPath, report } = mustBeOk(await processVideo(await makeTask(originalPath, at(work)), io));
  const repairedPath = resultPath ?? originalPath;
  const claims = await verifyClaims({ originalPath, repairedPath, report, tools });
  expect(claims.filter(({ confirmed }) => !confirmed)).toEqual([]);
  expect(report.checks.filter(({ passed }) => !passed)).toEqual([]);
  return { report, repairedPath };
}

it('inserted copies are removed from a file that was cut off, and the result is left unchanged', async () => {
  const files = { inputPath: at('clean.mp4'), outputPath: at('inserted.mp4') };
  await injectRepeats({ tools, ...files, history: 'inserted', runs: [{ frame: 70, count: 6 }] });
  const { report, repairedPath } = await mend(await cutOff('inserted', 0), 'inserted-work');
  expect(report.defects.filter(({ kind }) => kind === 'stuttered_cut')).toMatchObject([
    { firstFrame: 71, lastFrame: 76, action: 'removed_repeats', outcome: 'repaired' },
  ]);
  const again = await mend(repairedPath, 'again-work');
  expect(again.report.outcome).toBe('unchanged');
});

it('moved sound is put back in a file that was cut off, and the result is left unchanged', async () => {
  const { report, repairedPath } = await mend(await cutOff('clean', 0.32), 'late-work');
  const sync = report.defects.find(({ kind }) => kind === 'audio_sync');
  expect(sync).toMatchObject({ action: 'shifted_audio', outcome: 'repaired' });
  expect(sync?.measure.before).toBeCloseTo(320, -1);
  const again = await mend(repairedPath, 'late-again-work');
  expect(again.report.outcome).toBe('unchanged');
});
