import { open, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readMovie } from '#server/media/mp4/movie.ts';
import { readSamples } from '#server/media/mp4/sample-table.ts';
import { testTools } from '#server/test/media-job.ts';
import {
  decodeHashes,
  encodeSource,
  renderLimits,
  sharedFolder,
  soundHash,
} from '#server/test/rendered-clips.ts';
import { lengthsForStartCodes } from './lengths-for-start-codes.ts';
import { openOriginal } from './open-original.ts';

const SOURCE = 'testsrc2=s=128x96:r=25:d=2[out0];anoisesrc=c=pink:a=0.2:r=44100:d=2:seed=3[out1]';
const PICTURES = 50;

describe('pictures behind start codes in a movie', () => {
  const folder = sharedFolder();
  const at = (name: string) => path.join(folder.path, name);

  async function makeClip(codec: string): Promise<string> {
    const file = at(`${codec}.mp4`);
    const options = `-c:v ${codec} -g 25 -pix_fmt yuv420p -c:a aac -movflags +faststart`;
    await encodeSource(SOURCE, file, options.split(' '));
    return file;
  }

  /** Replaces each length in the clip by a start code of the same size. */
  async function withStartCodes(clip: string): Promise<Buffer> {
    const file = await open(clip);
    const { tracks } = await readMovie(file);
    await file.close();
    const bytes = await readFile(clip);
    const video = tracks.find(({ handler }) => handler === 'vide');
    for (const { offset, sizeBytes } of video ? readSamples(video.stbl) : []) {
      for (let place = offset; place < offset + sizeBytes;) {
        const length = bytes.readUInt32BE(place);
        bytes.writeUInt32BE(1, place);
        place += 4 + length;
      }
    }
    return bytes;
  }

  const openClip = (inputPath: string) =>
    openOriginal({
      inputPath,
      rebuiltPath: at('rebuilt.mp4'),
      referencePaths: [],
      limits: renderLimits,
      tools: testTools,
    });

  it.each(['libx264', 'libx265'])('are given lengths, and stay the same (%s)', async (codec) => {
    const whole = await makeClip(codec);
    await writeFile(at('coded.mp4'), await withStartCodes(whole));
    const { path: opened, rebuilt } = await openClip(at('coded.mp4'));
    expect(rebuilt?.notes).toEqual([expect.stringContaining('start codes')]);
    expect(await readSampleBytes(opened)).toEqual(await readSampleBytes(whole));
    expect(await soundHash(opened)).toBe(await soundHash(whole));
  });

  it('are found without settings that can be read, and as far as a cut file holds them', async () => {
    const whole = await makeClip('libx264');
    const bytes = await withStartCodes(whole);
    // Settings of another version, which nobody can read; encoders for streams write their own in front of the pictures.
    const inBand = at('in-band.mp4');
    const args = '-c:v libx264 -g 25 -pix_fmt yuv420p -x264-params repeat-headers=1 -movflags +faststart';
    await encodeSource(SOURCE, inBand, [...args.split(' '), '-c:a', 'aac']);
    const unreadable = await withStartCodes(inBand);
    unreadable[unreadable.indexOf('avcC', 0, 'latin1') + 4] = 0;
    await writeFile(at('coded.mp4'), unreadable);
    const found = await openClip(at('coded.mp4'));
    expect((await decodeHashes(found.path)).hashes).toEqual((await decodeHashes(inBand)).hashes);
    await writeFile(at('cut.mp4'), bytes.subarray(0, 0.6 * bytes.length));
    const cut = await openClip(at('cut.mp4'));
    expect(cut.rebuilt?.notes.join(' ')).toMatch(/start codes.*\d+ of 50 frames are not in the file/);
    const { hashes, warnings } = await decodeHashes(cut.path);
    expect(warnings).toBe('');
    expect(hashes.length).toBeGreaterThan(PICTURES / 4);
    expect(hashes).toEqual((await decodeHashes(whole)).hashes.slice(0, hashes.length));
  });

  it('are not seen where pictures have lengths', async () => {
    const inputPath = await makeClip('libx264');
    expect(await lengthsForStartCodes({ inputPath, outputPath: at('framed.mp4') })).toBeNull();
  });
});

async function readSampleBytes(clip: string): Promise<Buffer[]> {
  const file = await open(clip);
  const { tracks } = await readMovie(file);
  const bytes = await readFile(clip);
  await file.close();
  const video = tracks.find(({ handler }) => handler === 'vide');
  return video
    ? readSamples(video.stbl).map(({ offset, sizeBytes }) => bytes.subarray(offset, offset + sizeBytes))
    : [];
}
