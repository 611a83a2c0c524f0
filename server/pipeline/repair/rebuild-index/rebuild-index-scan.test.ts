import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mainSets } from '#server/test/h264-sets.ts';
import { noiseBytes, pictureBytes } from '#server/test/media-pictures.ts';
import { seededRandom } from '#server/test/seeded-random.ts';
import { avcCoding } from './rebuild-index-avc.ts';
import { scanPictures } from './rebuild-index-scan.ts';

const { sps, pps } = mainSets({});

const random = seededRandom(11);
const noise = (bytes: number) => noiseBytes(random, bytes);
const pictureOf = (frameNum: number, isKey: boolean, sizeBytes: number) =>
  pictureBytes(random, { frameNum, isKey, sizeBytes });

describe('scanPictures', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'find-pictures-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** Numbers of the pictures that are found in their places, in a file made of `parts`. */
  async function find(parts: readonly { readonly bytes: Buffer; readonly isPicture: boolean }[]) {
    const file = path.join(folder, 'media');
    await writeFile(file, Buffer.concat(parts.map(({ bytes }) => bytes)));
    let at = 0;
    const places = parts.flatMap(({ bytes, isPicture }) => {
      const place = { offset: at, sizeBytes: bytes.length };
      at += bytes.length;
      return isPicture ? [place] : [];
    });
    const handle = await open(file);
    try {
      const coding = avcCoding(sps, [pps]);
      const { pictures } = await scanPictures(handle, 0, at, { coding, lengthSize: 4, reference: null });
      return places.map((place) =>
        pictures.some(({ offset, sizeBytes }) => offset === place.offset && sizeBytes === place.sizeBytes),
      );
    } finally {
      await handle.close();
    }
  }

  const picture = (number: number, sizeBytes: number) => ({
    bytes: pictureOf(number % 16, number === 0, sizeBytes),
    isPicture: true,
  });
  const sound = (end: Buffer) => ({ bytes: Buffer.concat([noise(300), end]), isPicture: false });

  it('does not mistake the end of sound with the first bytes of a length for a picture', async () => {
    // The length 00 01 e3 10 after 00 01 c0 looks like a unit of 0x1c000 bytes with header 01, e3: a picture with the
    // number 1.
    const parts = Array.from({ length: 40 }, (_, number) => [
      picture(number, number === 2 ? 0x1_e3_10 : 5000 + number),
      sound(number === 1 ? Buffer.from('0001c0', 'hex') : noise(3)),
    ]).flat();
    expect(await find(parts)).toEqual(Array.from({ length: 40 }, () => true));
  });

  it('does not mistake a run of zeros in sound for a picture', async () => {
    // Looks like a unit of 72 bytes with header 01, e2: a picture with the number 1.
    const zeros = Buffer.from('0000004801e200003ce0', 'hex');
    const parts = Array.from({ length: 40 }, (_, number) => [
      picture(number, 5000 + number),
      sound(number === 1 ? zeros : noise(3)),
    ]).flat();
    expect(await find(parts)).toEqual(Array.from({ length: 40 }, () => true));
  });

  it('finds pictures that are padded with zeros', async () => {
    const filled = (number: number) => {
      const { bytes } = picture(number, 4000 + 13 * number);
      const zeros = (16 - (bytes.length % 16)) % 16;
      bytes.writeUInt32BE(bytes.length - 4 + zeros, 0);
      return { bytes: Buffer.concat([bytes, Buffer.alloc(zeros)]), isPicture: true };
    };
    const parts = Array.from({ length: 40 }, (_, number) => [filled(number), sound(noise(3))]).flat();
    expect(await find(parts)).toEqual(Array.from({ length: 40 }, () => true));
  });

  it('does not mistake bytes within a picture for another one', async () => {
    // 00 00 03 00 is frequent in coded data: it looks like a unit of 768 bytes with header 01, e3 and the number of the
    // picture it lies in.
    const decoy = Buffer.from('0000030001e3', 'hex');
    const parts = Array.from({ length: 40 }, (_, number) => {
      const one = picture(number, 3000 + number);
      if (number === 1) decoy.copy(one.bytes, 700);
      return [one, sound(noise(3))];
    }).flat();
    expect(await find(parts)).toEqual(Array.from({ length: 40 }, () => true));
  });

  it('does not mistake bytes of sound before a picture for a longer one', async () => {
    // The length 00 01 19 55 looks like a unit of 72 021 bytes, reaching over many pictures, with the number 2.
    const decoy = Buffer.from('0001195541e4', 'hex');
    const parts = Array.from({ length: 40 }, (_, number) => [
      picture(number, 3000 + number),
      sound(number === 1 ? Buffer.concat([decoy, noise(200)]) : noise(3)),
    ]).flat();
    expect(await find(parts)).toEqual(Array.from({ length: 40 }, () => true));
  });

  it('continues after a lost picture', async () => {
    const lost = Buffer.concat([noise(90_000)]);
    const parts = Array.from({ length: 40 }, (_, number) => [
      number === 3 ? { bytes: lost, isPicture: false } : picture(number, 20_000 + number),
      sound(noise(3)),
    ]).flat();
    const found = await find(parts);
    expect(found.filter(Boolean).length).toBeGreaterThanOrEqual(37);
  });
});
