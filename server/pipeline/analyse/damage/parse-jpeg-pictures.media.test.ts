import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probe } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { analysePicture } from '../analyse-picture.ts';
import { parseJpegPictures } from './parse-jpeg-pictures.ts';
import { readPackets } from '../packets/read-packets.ts';
import { testTools as tools } from '#server/test/media-job.ts';

let folder = '';
const at = (name: string) => path.join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'jpegs-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function make(name: string, options: string): Promise<void> {
  await runFfmpeg(
    {
      label: 'make a clip',
      inputs: [{ path: 'testsrc2=s=318x178:r=25:d=2', lavfi: true }],
      outputs: [{ path: at(name), options: `-c:v mjpeg ${options}`.split(' ') }],
      expectedDurationMs: null,
    },
    { tools },
  );
}

async function parse(name: string) {
  const info = await probe(tools, at(name), 'avi');
  const { video } = await readPackets({ inputPath: at(name), info, tools });
  return { video, info, parsed: await parseJpegPictures({ inputPath: at(name), info, packets: video }) };
}

describe('parseJpegPictures', () => {
  it.each([
    ['420.avi', '-pix_fmt yuvj420p -q:v 3'],
    ['422-optimal.avi', '-pix_fmt yuvj422p -q:v 6 -huffman optimal'],
    ['444-slices.avi', '-pix_fmt yuvj444p -q:v 2 -slices 4 -threads 4'],
    ['coarse.avi', '-pix_fmt yuvj420p -q:v 31 -huffman default'],
  ])('reads every picture of an intact clip to its end (%s)', async (name, options) => {
    await make(name, options);
    expect((await parse(name)).parsed).toEqual({ damaged: [], whole: 50 });
  });

  it('names a picture whose data are damaged, and only it is claimed', async () => {
    await make('whole.avi', '-pix_fmt yuvj420p -q:v 3');
    const { video, info } = await parse('whole.avi');
    const { offsetBytes, sizeBytes = 0 } = video[20] ?? {};
    const bytes = await readFile(at('whole.avi'));
    const middle = (offsetBytes ?? 0) + Math.floor(sizeBytes / 2);
    // The rest of the picture moves up by 24 bytes, and zeros follow at its end.
    const end = (offsetBytes ?? 0) + sizeBytes;
    bytes.copyWithin(middle, middle + 24, end).fill(0, end - 24, end);
    await writeFile(at('torn.avi'), bytes);
    expect((await parse('torn.avi')).parsed).toEqual({ damaged: [20], whole: 49 });
    const { findings } = await analysePicture({ inputPath: at('torn.avi'), info, tools });
    const claimed = findings.filter(({ kind }) => kind === 'corrupted_section');
    expect(claimed).toMatchObject([{ firstFrame: 20, lastFrame: 20 }]);
  });
});
