import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { decodeHashes } from '#server/test/rendered-clips.ts';
import { testTools as tools } from '#server/test/media-job.ts';
import { renderEdit, shownTimes } from '#server/test/rendered-edits.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'cropped-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const FROM_TYPE_TO_WIDTH = 28;

/** A clip whose coded pictures are whole macroblocks, cropped by the sample entry alone. */
async function makeCropped(width: number): Promise<string> {
  const file = path.join(folder, 'cropped.mp4');
  const source = 'testsrc2=s=352x208:r=30:d=3';
  const coding = '-c:v libx264 -preset veryfast -bf 0 -g 30 -keyint_min 30 -sc_threshold 0';
  await runTool('make', tools.ffmpeg, [
    '-v',
    'error',
    '-f',
    'lavfi',
    '-i',
    source,
    ...coding.split(' '),
    file,
  ]);
  const bytes = await readFile(file);
  const entry = bytes.lastIndexOf('avc1', undefined, 'latin1');
  bytes.writeUInt16BE(width, entry + FROM_TYPE_TO_WIDTH);
  await writeFile(file, bytes);
  return file;
}

async function pictureHashes(file: string): Promise<string[]> {
  return (await decodeHashes(file, '-v error -err_detect aggressive')).hashes;
}

describe('smartRender', () => {
  it('keeps all other pictures of a clip that only its container crops', async () => {
    const file = await makeCropped(342);
    const before = await pictureHashes(file);
    const times = await shownTimes(file);
    const pictures = [40, 41].map((frame) => {
      return { ptsTicks: times[frame] ?? 0, pixels: { kind: 'original', frame: 38 } } as const;
    });
    const span = { firstFrame: 40, endFrame: 42, pictures, shiftAfterTicks: 0 };
    const { info, output, result } = await renderEdit(folder, file, 'cropped', [span]);
    expect(info.video[0]).toMatchObject({ width: 342, height: 208 });
    expect(result).toMatchObject({ done: true, framesKept: 70, framesTotal: 90 });
    const after = await pictureHashes(output);
    expect(after).toHaveLength(90);
    expect(after.slice(0, 40)).toEqual(before.slice(0, 40));
    expect(after.slice(60)).toEqual(before.slice(60));
    expect(after.slice(40, 60)).not.toEqual(before.slice(40, 60));
  });
});
