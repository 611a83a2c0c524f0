import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { makeFolder, testTools as tools } from '#server/test/media-job.ts';
import { mayNeedReference } from './may-need-reference.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
beforeAll(async () => {
  folder = await makeFolder();
});
afterAll(() => folder.remove());

async function make(name: string, options = ''): Promise<string> {
  const file = path.join(folder.path, name);
  const args = `-v error -f lavfi -i testsrc2=s=160x90:d=1 -c:v libx264 -preset ultrafast ${options}`.trim();
  await runTool('make a clip', tools.ffmpeg, [...args.split(' '), file]);
  return file;
}

it('an earlier clip is needed only for movies without a readable index', async () => {
  const whole = await make('whole.mp4');
  expect(await mayNeedReference(whole)).toBe(false);
  expect(await mayNeedReference(await make('clip.avi'))).toBe(false);
  const bytes = await readFile(whole);
  const lost = path.join(folder.path, 'lost.mp4');
  await writeFile(lost, bytes.subarray(0, bytes.lastIndexOf('moov') - 4));
  expect(await mayNeedReference(lost)).toBe(true);
  const torn = path.join(folder.path, 'torn.mp4');
  await writeFile(torn, bytes.subarray(0, bytes.lastIndexOf('stsz') + 10));
  expect(await mayNeedReference(torn)).toBe(true);
  const first = await readFile(await make('first.mp4', '-movflags +faststart'));
  const cut = path.join(folder.path, 'cut.mp4');
  await writeFile(cut, first.subarray(0, first.length / 2));
  // Its index is at the front and intact.
  expect(await mayNeedReference(cut)).toBe(false);
});
