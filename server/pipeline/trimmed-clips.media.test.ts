import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { corruptSamples, DEFAULT_ENCODE, makeMovingClip } from '#server/test/broken-clips.ts';
import { makeTask, mustBeOk, testTools as tools } from '#server/test/media-job.ts';
import { sharedFolder } from '#server/test/rendered-clips.ts';
import { processVideo } from './process-video.ts';
import { verifyClaims } from './publish/verify-claims.ts';

const folder = sharedFolder();
const at = (name: string) => path.join(folder.path, name);

/** Lets the edit lists of all tracks end `lessMs` earlier (version 0, one entry, a movie's clock of 1000 ticks). */
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
])('keeps and counts what an edit list hides behind the last shown picture: %s', async (name, encode) => {
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
