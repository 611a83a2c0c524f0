import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { corruptSamples, DEFAULT_ENCODE, makeMovingClip } from '#server/test/broken-clips.ts';
import { tearHoles } from '#server/test/broken-sound.ts';
import { makeTask, mustBeOk, testTools as tools } from '#server/test/media-job.ts';
import { sharedFolder } from '#server/test/rendered-clips.ts';
import { processVideo } from './process-video.ts';
import { verifyClaims } from './publish/verify-claims.ts';

const folder = sharedFolder();
const at = (name: string) => path.join(folder.path, name);

/** A hole in the sound, which is filled and written beside the copied pictures. */
const HOLE = { startMs: 1900, durationMs: 107 };

/** Makes the edit lists of all tracks end `lessMs` earlier (version 0, one entry, movie timescale 1000). */
async function trimEnd(from: string, to: string, lessMs: number): Promise<void> {
  const bytes = await readFile(from);
  for (let list = bytes.indexOf('elst'); list >= 0; list = bytes.indexOf('elst', list + 4)) {
    bytes.writeUInt32BE(bytes.readUInt32BE(list + 12) - lessMs, list + 12);
  }
  await writeFile(to, bytes);
}

const HEVC =
  '-c:v libx265 -preset ultrafast -tag:v hvc1 -x265-params log-level=none:keyint=15:bframes=0:pools=1';

it.each([
  ['H.264', [...DEFAULT_ENCODE, '-x264-params', 'keyint=60:bframes=2']],
  ['HEVC', HEVC.split(' ')],
])('keeps and counts what an edit list hides after the last displayed picture: %s', async (name, encode) => {
  const clean = at(`${name}-clean.mp4`);
  await makeMovingClip({ tools, outputPath: clean, seconds: 3, width: 320, height: 192, encode });
  await corruptSamples({ tools, inputPath: clean, outputPath: at('torn.mp4'), frames: [31], fault: 'zero' });
  const trimmed = at(`${name}-trimmed.mp4`);
  await trimEnd(at('torn.mp4'), trimmed, 450);
  const task = await makeTask(trimmed, at(`work-${name}`));
  const io = { signal: new AbortController().signal, send: () => undefined };
  const { report, resultPath } = mustBeOk(await processVideo(task, io));
  expect(report.video.treatment).toBe('smart_render');
  expect(report.notes.join(' ')).not.toMatch(/ends early/);
  const claims = await verifyClaims({ originalPath: trimmed, repairedPath: resultPath ?? '', report, tools });
  expect(claims.length).toBeGreaterThan(3);
  expect(claims.filter(({ confirmed }) => !confirmed)).toEqual([]);
});

/**
 * Makes the edit list of the first track, the pictures, start at a media time (version 0, one entry, timescale 15360).
 */
async function trimStart(from: string, to: string, atSeconds: number): Promise<void> {
  const bytes = await readFile(from);
  bytes.writeInt32BE(Math.round(atSeconds * 15_360), bytes.indexOf('elst') + 16);
  await writeFile(to, bytes);
}

it('reports pictures that are hidden before two key pictures neither as missing nor as kept', async () => {
  const clean = at('two-keys-clean.mp4');
  const encode = [...DEFAULT_ENCODE, '-x264-params', 'keyint=15:scenecut=0:bframes=2'];
  await makeMovingClip({ tools, outputPath: clean, seconds: 4, width: 320, height: 192, encode });
  const holed = at('two-keys-holed.mp4');
  await tearHoles({ tools, inputPath: clean, outputPath: holed, holes: [HOLE] });
  const trimmed = at('two-keys-trimmed.mp4');
  await trimStart(holed, trimmed, 1.215);
  const task = await makeTask(trimmed, at('work-two-keys'));
  const io = { signal: new AbortController().signal, send: () => undefined };
  const { report, resultPath } = mustBeOk(await processVideo(task, io));
  expect(report.notes.join(' ')).not.toMatch(/ends early/);
  expect(report.defects.map(({ action }) => action)).toContain('filled_audio');
  expect(report.video).toMatchObject({ treatment: 'copied', unitsKept: 90, unitsTotal: 90 });
  const claims = await verifyClaims({ originalPath: trimmed, repairedPath: resultPath ?? '', report, tools });
  expect(claims.filter(({ confirmed }) => !confirmed)).toEqual([]);
});

it('hides the last picture again when repaired sound is written beside repaired pictures', async () => {
  const clean = at('last-clean.mp4');
  const encode = [...DEFAULT_ENCODE, '-x264-params', 'keyint=30:bframes=2'];
  await makeMovingClip({ tools, outputPath: clean, seconds: 4, width: 320, height: 192, encode });
  const holed = at('last-holed.mp4');
  await tearHoles({ tools, inputPath: clean, outputPath: holed, holes: [HOLE] });
  await corruptSamples({
    tools,
    inputPath: holed,
    outputPath: at('last-torn.mp4'),
    frames: [40],
    fault: 'zero',
  });
  const trimmed = at('last-trimmed.mp4');
  await trimEnd(at('last-torn.mp4'), trimmed, 40);
  const task = await makeTask(trimmed, at('work-last'));
  const io = { signal: new AbortController().signal, send: () => undefined };
  const { report, resultPath } = mustBeOk(await processVideo(task, io));
  expect(report.defects.map(({ action }) => action)).toContain('filled_audio');
  expect(report.video.treatment).toBe('smart_render');
  expect(report.result?.media.frameCount).toBe(report.original.media.frameCount);
  const claims = await verifyClaims({ originalPath: trimmed, repairedPath: resultPath ?? '', report, tools });
  expect(claims.filter(({ confirmed }) => !confirmed)).toEqual([]);
});
