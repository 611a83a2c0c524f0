import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mainSets } from '#server/test/h264-sets.ts';
import { noiseBytes, pictureBytes } from '#server/test/media-pictures.ts';
import { seededRandom } from '#server/test/seeded-random.ts';
import { avcCoding } from './rebuild-index-avc.ts';
import { findPictures } from './rebuild-index-pictures.ts';
import { scanPictures } from './rebuild-index-scan.ts';

const { sps, pps } = mainSets({});
const random = seededRandom(5);
const noise = (bytes: number) => noiseBytes(random, bytes);
const pictureOf = (number: number, sizeBytes: number) =>
  pictureBytes(random, { frameNum: number % 16, isKey: number === 0, sizeBytes });

/** A frame of AAC, silence in stereo. */
const SILENCE = Buffer.from('211004608c1c', 'hex');

/** The same with other data in front (`data_stream_element()`, aligned; ISO/IEC 14496-3, table 4.10). */
const withData = (bytes: Buffer) => Buffer.concat([Buffer.from([0x81, bytes.length]), bytes, SILENCE]);

describe('findPictures', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'find-coded-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const coding = avcCoding(sps, [pps]);
  const settings = { coding, lengthSize: 4, reference: null };

  /** A file of 30 pictures with two frames of sound behind each; `frame` gives the first of them. */
  async function make(frame: (number: number) => Buffer) {
    const file = path.join(folder, 'media');
    const offsets: number[] = [];
    const parts: Buffer[] = [];
    let at = 0;
    for (let number = 0; number < 30; number += 1) {
      offsets.push(at);
      parts.push(pictureOf(number, 900 + number), frame(number), SILENCE);
      at += parts.slice(-3).reduce((sum, { length }) => sum + length, 0);
    }
    await writeFile(file, Buffer.concat(parts));
    return { file, offsets, end: at };
  }

  it('leaves out what looks like a picture inside a frame of sound', async () => {
    // A slice of 12 bytes with the number that comes next.
    const lookalike = pictureOf(11, 12);
    const { file, offsets, end } = await make((number) =>
      number === 10 ? withData(Buffer.concat([noise(9), lookalike, noise(9)])) : SILENCE,
    );
    const handle = await open(file);
    try {
      const scanned = await scanPictures(handle, 0, end, settings);
      expect(scanned.pictures).toHaveLength(offsets.length + 1);
      const { pictures, gaps } = await findPictures(handle, 0, end, settings);
      expect(pictures.map(({ offset }) => offset)).toEqual(offsets);
      expect(gaps).toHaveLength(offsets.length);
    } finally {
      await handle.close();
    }
  });

  it('keeps a short picture between two stretches of sound', async () => {
    const short = pictureOf(11, 12);
    const { file, offsets, end } = await make((number) =>
      number === 10 ? Buffer.concat([SILENCE, short, SILENCE]) : SILENCE,
    );
    const handle = await open(file);
    try {
      const { pictures } = await findPictures(handle, 0, end, settings);
      expect(pictures).toHaveLength(offsets.length + 1);
    } finally {
      await handle.close();
    }
  });
});
