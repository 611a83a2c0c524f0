import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probe } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { makeFolder, makeTask, mustBeOk, testTools as tools } from '#server/test/media-job.ts';
import { processVideo } from '../../process-video.ts';
import { readPackets } from '../packets/read-packets.ts';
import { parseDvPictures } from './parse-dv-pictures.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
const at = (name: string) => path.join(folder.path, name);
beforeAll(async () => {
  folder = await makeFolder();
});
afterAll(() => folder.remove());

async function make(name: string, source: string, pixelFormat: string): Promise<void> {
  await runFfmpeg(
    {
      label: 'make a tape',
      inputs: [{ path: `testsrc2=${source}:d=1.6`, lavfi: true }],
      outputs: [{ path: at(name), options: ['-c:v', 'dvvideo', '-pix_fmt', pixelFormat] }],
      expectedDurationMs: null,
    },
    { tools },
  );
}

async function parse(name: string) {
  const info = await probe(tools, at(name), name.endsWith('avi') ? 'avi' : 'mov');
  const { video } = await readPackets({ inputPath: at(name), info, tools });
  return { video, parsed: await parseDvPictures({ inputPath: at(name), info, packets: video }) };
}

describe.each([
  ['pal.avi', 's=720x576:r=25', 'yuv420p', 40],
  ['ntsc.mov', 's=720x480:r=30000/1001', 'yuv411p', 48],
])('a clip of a tape (%s)', (name, source, pixelFormat, count) => {
  beforeAll(() => make(name, source, pixelFormat));

  it('has all its blocks when it is intact', async () => {
    expect((await parse(name)).parsed).toEqual({ damaged: [], whole: count });
  });

  it('is claimed damaged where blocks are overwritten or the deck could not read them, and repaired there', async () => {
    const { video } = await parse(name);
    const bytes = await readFile(at(name));
    const placeOf = (picture: number) => video[picture]?.offsetBytes ?? 0;
    bytes.fill(0, placeOf(12) + 40_000, placeOf(12) + 44_000);
    // Marks the first picture block of the third sequence as unread.
    const status = placeOf(20) + 2 * 12_000 + 7 * 80 + 3;
    bytes[status] = (bytes[status] ?? 0) | 0xf0;
    // Blocks of sound alone do not show.
    bytes.fill(0, placeOf(30) + 6 * 80, placeOf(30) + 7 * 80);
    const torn = `torn-${name}`;
    await writeFile(at(torn), bytes);
    expect((await parse(torn)).parsed).toEqual({ damaged: [12, 20], whole: count - 2 });
    const task = await makeTask(at(torn), at(`${torn}-work`));
    const io = { signal: new AbortController().signal, send: () => undefined };
    const { report } = mustBeOk(await processVideo(task, io));
    const spans = report.defects.filter(({ kind }) => kind === 'corrupted_section');
    expect(spans.map(({ firstFrame, lastFrame, outcome }) => [firstFrame, lastFrame, outcome])).toEqual([
      [12, 12, 'repaired'],
      [20, 20, 'repaired'],
    ]);
    expect(report.checks.filter(({ passed }) => !passed)).toEqual([]);
  });
});
