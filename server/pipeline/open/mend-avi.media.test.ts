import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { changeAvi, type PlacedChunk } from '#server/test/avi-clips.ts';
import { makeMovingClip } from '#server/test/broken-clips.ts';
import { makeFolder, testTools as tools } from '#server/test/media-job.ts';
import { mendAvi } from './mend-avi.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
const at = (name: string) => path.join(folder.path, name);

beforeAll(async () => {
  folder = await makeFolder();
  await makeMovingClip({ tools, outputPath: at('clean.mp4'), seconds: 3, width: 240, height: 136 });
  const coded = '-c:v mpeg4 -q:v 3 -g 90 -c:a pcm_s16le'.split(' ');
  await runTool('make', tools.ffmpeg, ['-v', 'error', '-i', at('clean.mp4'), ...coded, at('clean.avi')]);
});
afterAll(() => folder.remove());

/** Size and time of each packet per stream, as a demuxer returns them. */
async function packets(name: string): Promise<Record<'pictures' | 'sound', string[]>> {
  const entries = 'packet=stream_index,dts,size';
  const args = `-v error -show_entries ${entries} -of csv=p=0`.split(' ');
  const { stdout } = await runTool('list', tools.ffprobe, [...args, at(name)]);
  const lines = stdout.trim().split('\n');
  return {
    pictures: lines.filter((line) => line.startsWith('0,')),
    sound: lines.filter((line) => line.startsWith('1,')),
  };
}

const pictures = (chunks: readonly PlacedChunk[]) => chunks.filter(({ name }) => name === '00dc');
const find = (chunks: readonly PlacedChunk[], name: string) => {
  const found = chunks.find((chunk) => chunk.name === name);
  if (!found) throw new Error(`No ${name}.`);
  return found;
};

async function mend(change: (bytes: Buffer, chunks: readonly PlacedChunk[]) => Buffer) {
  await changeAvi(at('clean.avi'), at('torn.avi'), change);
  return mendAvi({ inputPath: at('torn.avi'), outputPath: at('mended.avi') });
}

describe('an AVI file', () => {
  it('is left alone while index and chunks agree, wherever the index counts from', async () => {
    expect(await mendAvi({ inputPath: at('clean.avi'), outputPath: at('mended.avi') })).toBeNull();
    const note = await mend((bytes, chunks) => {
      const { at: place, sizeBytes } = find(chunks, 'idx1');
      for (let line = place + 8; line < place + 8 + sizeBytes; line += 16) {
        bytes.writeUInt32LE(bytes.readUInt32LE(line + 8) + 1000, line + 8);
      }
      return bytes;
    });
    expect(note).toBeNull();
  });

  it('loses no picture when the index is half overwritten', async () => {
    const note = await mend((bytes, chunks) => {
      const { at: place, sizeBytes } = find(chunks, 'idx1');
      return bytes.fill(0, place + 8, place + 8 + (sizeBytes >> 5) * 16);
    });
    expect(note).toMatch(/index .* was left out/);
    expect(await packets('mended.avi')).toEqual(await packets('clean.avi'));
  });

  it('keeps everything in time after chunks whose headers are overwritten', async () => {
    const note = await mend((bytes, chunks) => {
      const [from, to] = [pictures(chunks)[40], pictures(chunks)[43]];
      return bytes.fill(0xa5, (from?.at ?? 0) + 20, (to?.at ?? 0) + 20);
    });
    expect(note).toMatch(/3 frames and \d pieces? of sound .* something else stands in the file/);
    const [torn, mended, clean] = [
      await packets('torn.avi'),
      await packets('mended.avi'),
      await packets('clean.avi'),
    ];
    expect(mended).toEqual(clean);
    expect(torn.pictures.length).toBeLessThan(clean.pictures.length);
    // Raw sound at an overwritten place is silent and does not play what is there.
    const bytes = await readFile(at('mended.avi'));
    expect(bytes.includes(Buffer.alloc(64, 0xa5), bytes.indexOf('01wb', bytes.length >> 1, 'latin1'))).toBe(
      false,
    );
  });

  it('keeps everything in time after missing bytes', async () => {
    const note = await mend((bytes, chunks) => {
      const [from, to] = [pictures(chunks)[40], pictures(chunks)[43]];
      return Buffer.concat([bytes.subarray(0, (from?.at ?? 0) + 20), bytes.subarray((to?.at ?? 0) + 20)]);
    });
    expect(note).toMatch(/Bytes are missing inside of 1 frame\./);
    const [mended, clean] = [await packets('mended.avi'), await packets('clean.avi')];
    expect(mended.sound).toEqual(clean.sound);
    expect(mended.pictures.slice(0, 40)).toEqual(clean.pictures.slice(0, 40));
    // Empty chunks repeat the picture before them, and take its time.
    expect(mended.pictures.slice(-46)).toEqual(clean.pictures.slice(-46));
  });

  it('is not written for index lines that need more than there is', async () => {
    const note = await mend((bytes, chunks) => {
      const [from, { at: place }] = [pictures(chunks)[40], find(chunks, 'idx1')];
      bytes.fill(0xa5, from?.at, (from?.at ?? 0) + 8);
      const many = Buffer.alloc(16 * 5000);
      for (let line = 0; line < many.length; line += 16) {
        many.write('01wb', line, 'latin1');
        many.writeUInt32LE(bytes.length - 1, line + 12);
      }
      const size = Buffer.alloc(4);
      size.writeUInt32LE(many.length + bytes.readUInt32LE(place + 4));
      return Buffer.concat([bytes.subarray(0, place + 4), size, bytes.subarray(place + 8), many]);
    });
    expect(note).toBeNull();
  });
});
