import { open, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { findVideoTrack, readMovie } from '#server/media/mp4/movie.ts';
import { readSamples } from '#server/media/mp4/sample-table.ts';
import { testTools } from '#server/test/media-job.ts';
import {
  clipHashes,
  decodeHashes,
  encodeSource,
  renderLimits,
  sharedFolder,
} from '#server/test/rendered-clips.ts';
import { openOriginal } from '../../open/open-original.ts';
import { findFramed, MJPEG, readPacking } from './rebuild-index-framed.ts';

const CLIP = 'testsrc2=s=192x144:r=25:d=3[out0];anoisesrc=c=pink:a=0.3:r=44100:d=3:seed=4[out1]';
/** From the same device, with other content. */
const EARLIER = 'testsrc=s=192x144:r=25[out0];sine=f=300:r=44100[out1]';

describe('Motion JPEG and ProRes without an index', () => {
  const folder = sharedFolder();
  const at = (name: string) => path.join(folder.path, name);

  const make = (name: string, source: string, seconds: number, options: string) =>
    encodeSource(source, at(name), `${options} -t ${seconds} -ac 2`.split(' '));

  async function openWithoutIndex(clip: string, referencePaths: string[], share = 1) {
    const inputPath = `${clip}.harmed`;
    const bytes = await readFile(clip);
    const media = bytes.subarray(0, bytes.lastIndexOf('moov', undefined, 'latin1') - 4);
    await writeFile(inputPath, media.subarray(0, Math.floor(share * media.length)));
    const rebuiltPath = `${clip}.rebuilt`;
    return openOriginal({ inputPath, rebuiltPath, referencePaths, limits: renderLimits, tools: testTools });
  }

  it.each([
    ['mjpeg-pcm.mov', '-c:v mjpeg -q:v 4 -pix_fmt yuvj420p -c:a pcm_s16le'],
    ['mjpeg-aac.mov', '-c:v mjpeg -q:v 4 -pix_fmt yuvj420p -c:a aac -b:a 96k'],
    ['prores-pcm.mov', '-c:v prores_ks -profile:v 1 -c:a pcm_s24le'],
    ['prores4444-aac.mov', '-c:v prores_ks -profile:v 4 -pix_fmt yuva444p10le -c:a aac -b:a 96k'],
  ])('are restored bit for bit with their sound, using an earlier clip: %s', async (name, options) => {
    const clip = await make(name, CLIP, 3, options);
    const earlier = await make(`earlier-${name}`, EARLIER, 2, options);
    const opened = await openWithoutIndex(clip, [earlier]);
    const [before, after] = [await clipHashes(clip), await clipHashes(opened.path)];
    expect(after.hashes).toEqual(before.hashes);
    expect(after.sound).toBe(before.sound);
    expect(opened.info.video[0]?.durationMs).toBe(3000);
  });

  it('are restored with AAC without any other clip, by its frames, at the matching rate', async () => {
    const clip = await make(
      'aac-alone.mov',
      CLIP,
      3,
      '-c:v mjpeg -q:v 4 -pix_fmt yuvj420p -c:a aac -b:a 96k',
    );
    const opened = await openWithoutIndex(clip, []);
    const [before, after] = [await clipHashes(clip), await clipHashes(opened.path)];
    expect(after.hashes).toEqual(before.hashes);
    expect(after.sound).toBe(before.sound);
    expect(opened.info.audio[0]?.sampleRateHz).toBe(44_100);
    expect(Math.round(opened.info.video[0]?.frameRate ?? 0)).toBe(25);
  });

  it.each([
    ['mjpeg-alone.mov', '-c:v mjpeg -q:v 4 -pix_fmt yuvj420p -c:a pcm_s16le'],
    ['prores-alone.mov', '-c:v prores_ks -profile:v 1 -c:a pcm_s24le'],
  ])('are restored without any other clip, though cut off: %s', async (name, options) => {
    const clip = await make(name, CLIP, 3, options);
    const opened = await openWithoutIndex(clip, [], 0.6);
    const [before, after] = [await decodeHashes(clip), await decodeHashes(opened.path)];
    expect(after.hashes.length).toBeGreaterThan(35);
    expect(after.hashes).toEqual(before.hashes.slice(0, after.hashes.length));
    expect(opened.rebuilt?.notes.join(' ')).toContain('A healthy clip from the same device');
  });

  it('are distinguished from the padding of a device’s samples', async () => {
    const clip = await make('filled.mov', CLIP, 1, '-c:v mjpeg -q:v 4 -pix_fmt yuvj420p -an');
    const bytes = await readFile(clip);
    const handle = await open(clip);
    const samples = readSamples(findVideoTrack(await readMovie(handle), 0).stbl);
    await handle.close();
    const filled = samples.map(({ offset, sizeBytes }) => {
      const sample = Buffer.alloc(Math.ceil(sizeBytes / 512) * 512);
      bytes.copy(sample, 0, offset, offset + sizeBytes);
      return sample;
    });
    const sound = Buffer.alloc(1000, 7);
    const media = Buffer.concat(filled.flatMap((sample) => [sample, sound]));
    const file = at('filled.bin');
    await writeFile(file, media);
    const places = filled.map((sample, index) => ({
      offset: filled.slice(0, index).reduce((sum, { length }) => sum + length + sound.length, 0),
      sizeBytes: sample.length,
    }));
    const raw = await open(file);
    const packing = await readPacking(raw, MJPEG, places);
    const found = await findFramed(
      raw,
      { start: 0, end: media.length },
      MJPEG,
      { width: 192, height: 144 },
      packing,
    );
    await raw.close();
    expect(packing).toEqual({ perSample: 1, alignBytes: 512 });
    expect(found.pictures.map(({ offset, sizeBytes }) => ({ offset, sizeBytes }))).toEqual(places);
    expect(found.gaps.map(({ sizeBytes }) => sizeBytes)).toEqual(filled.map(() => sound.length));
  });
});
