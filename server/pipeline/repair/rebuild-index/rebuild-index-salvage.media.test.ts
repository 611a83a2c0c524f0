import { open, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { readMovie } from '#server/media/mp4/movie.ts';
import { readChunks } from '#server/media/mp4/sample-table.ts';
import { testTools } from '#server/test/media-job.ts';
import {
  decodeHashes,
  encodeSource,
  listPictures,
  renderLimits,
  sharedFolder,
  soundHash,
} from '#server/test/rendered-clips.ts';
import { openOriginal } from '../../open/open-original.ts';

const sourceOf = (seed: number) =>
  `testsrc2=s=192x144:r=25:d=3[out0];anoisesrc=c=pink:a=0.3:r=44100:d=3:seed=${seed}[out1]`;
const ENCODE = '-c:v libx264 -preset veryfast -g 25 -c:a aac -b:a 96k -shortest';

/** Changes one number of the first or last box with this name; `at` counts from after its name. */
const change = (box: string, at: number, to: (old: number) => number, which: 'first' | 'last' = 'last') => {
  return (bytes: Buffer) => {
    const found =
      which === 'first' ? bytes.indexOf(box, 0, 'latin1') : bytes.lastIndexOf(box, undefined, 'latin1');
    if (found < 0) throw new Error(`There is no box ${box}.`);
    const place = found + 4 + at;
    bytes.writeUInt32BE(to(bytes.readUInt32BE(place)) >>> 0, place);
    return bytes;
  };
};

/** States too many picture descriptions, and a last chunk with as many samples as all together. */
function overfillLastChunk(bytes: Buffer): Buffer {
  const table = bytes.indexOf('stsc', 0, 'latin1') + 4;
  const last = 12 * (bytes.readUInt32BE(table + 4) - 1);
  bytes.writeUInt32BE(75, table + 8 + last + 4);
  return change('stsd', 4, () => 0x00ee0000, 'first')(bytes);
}

/** Display times that are three pictures too late for the tenth one and all that share its entry. */
function delaySome(bytes: Buffer): Buffer {
  overfillLastChunk(bytes);
  const table = bytes.indexOf('ctts', 0, 'latin1') + 4;
  const entry = table + 8 + 8 * 9 + 4;
  bytes.writeUInt32BE(bytes.readUInt32BE(entry) + 3 * TICKS, entry);
  return bytes;
}
/** Duration of a picture in the time base that ffmpeg chooses for 25 a second. */
const TICKS = 512;

/** Whether the sound between two chunks of pictures is somewhere exactly as long as the second of them. */
async function fillsByChance(clipPath: string): Promise<boolean> {
  const file = await open(clipPath, 'r');
  try {
    const { tracks } = await readMovie(file);
    const [pictures = [], sound = []] = tracks.map(({ stbl }) => readChunks(stbl));
    return sound.some(({ offset, sizeBytes }) => {
      return pictures.some((next) => next.offset === offset + sizeBytes && next.sizeBytes === sizeBytes);
    });
  } finally {
    await file.close();
  }
}

/** Destroys the last letter of a box's name, in the track of the pictures or of the sound. */
const unname = (box: string, which: 'first' | 'last' = 'first') =>
  change(box, -4, (name) => (name | 0xff) >>> 0, which);

describe('an index with damaged tables', () => {
  const folder = sharedFolder();
  let clip = '';

  beforeAll(async () => {
    clip = path.join(folder.path, 'whole.mp4');
    await encodeSource(sourceOf(3), clip, ENCODE.split(' '));
  });

  const openDamaged = async (name: string, harm: (bytes: Buffer) => Buffer, whole = clip) => {
    const inputPath = path.join(folder.path, `${name}.mp4`);
    await writeFile(inputPath, harm(await readFile(whole)));
    const rebuiltPath = path.join(folder.path, `${name}.rebuilt.mp4`);
    const input = { inputPath, rebuiltPath, referencePaths: [], limits: renderLimits, tools: testTools };
    return openOriginal(input);
  };

  // The last `stsc` holds chunk numbers and samples for each chunk of the sound, the last `stsz` its sizes; the
  // pictures come first.
  it.each([
    ['the order of chunks of the sound', change('stsc', 8 + 12, () => 1)],
    ['how many entries the chunks of the sound have', change('stsc', 4, () => 0x00ffffff)],
    ['how many samples a chunk of the sound has', change('stsc', 8 + 4, () => 0x7fffffff)],
    ['how many places of chunks there are', change('stco', 4, (count) => count + 4000)],
    ['the size of one sound packet', change('stsz', 12 + 4 * 40, () => 0x01000000)],
    ['how many pictures the last chunk has', overfillLastChunk],
    ['how many descriptions of pictures there are', change('stsd', 4, () => 0x00ee0000, 'first')],
    ['what kind the track of pictures is', change('vide', -4, () => 0, 'first')],
    ['in which file the pictures are', change('dref', 4, () => 0x00010001, 'first')],
    ['how many key pictures are listed', change('stss', 4, () => 0x7fffffff)],
    ['where the box of the media header of the sound ends', change('smhd', -8, () => 0x00ffffff)],
    ['where the track of the pictures ends', change('trak', -8, () => 24, 'first')],
    ['the name of where the pieces of the pictures are listed', unname('stco')],
    ['the name of where sizes of the sound are listed', unname('stsz', 'last')],
    ['the names of the media header and of durations', (bytes) => unname('mdhd')(unname('stts')(bytes))],
  ])('restores every picture and all of the sound when %s is wrong', async (name, harm) => {
    const opened = await openDamaged(name.replaceAll(' ', '-'), harm);
    expect((await decodeHashes(opened.path)).hashes).toEqual((await decodeHashes(clip)).hashes);
    expect(await soundHash(opened.path)).toBe(await soundHash(clip));
    expect(opened.info.video).toHaveLength(1);
    expect(opened.info.audio).toHaveLength(1);
  });

  it.each([
    ['where its sizes are listed', 'stsz', 40],
    ['where its pieces are listed', 'stco', 30],
  ])('restores all of the sound when the index is cut off %s', async (where, box, behind) => {
    const harm = (bytes: Buffer) => bytes.subarray(0, bytes.lastIndexOf(box, undefined, 'latin1') + behind);
    const opened = await openDamaged(where.replaceAll(' ', '-'), harm);
    expect((await decodeHashes(opened.path)).hashes).toEqual((await decodeHashes(clip)).hashes);
    expect(await soundHash(opened.path)).toBe(await soundHash(clip));
  });

  it('keeps pictures in their chunks when lost sound happens to have the size of the next one', async () => {
    const chanced = path.join(folder.path, 'chanced.mp4');
    let isFound = false;
    for (let seed = 20; seed < 140 && !isFound; seed += 1) {
      await encodeSource(sourceOf(seed), chanced, ENCODE.split(' '));
      isFound = await fillsByChance(chanced);
    }
    expect(isFound).toBe(true);
    const harm = (bytes: Buffer) => bytes.subarray(0, bytes.lastIndexOf('stco', undefined, 'latin1') + 30);
    const opened = await openDamaged('chanced-cut', harm, chanced);
    expect((await decodeHashes(opened.path)).hashes).toEqual((await decodeHashes(chanced)).hashes);
    expect(await soundHash(opened.path)).toBe(await soundHash(chanced));
  });

  it('prefers pictures found by their structure to an index that leads to half of them and all of the sound', async () => {
    const harm = (bytes: Buffer) => {
      // From the tenth on, each picture is listed as too short, and a box claims to end after the file.
      const sizes = bytes.indexOf('stsz', 0, 'latin1') + 4;
      for (let at = sizes + 12 + 4 * 9; at < sizes + 12 + 4 * 60; at += 4) {
        bytes.writeUInt32BE(Math.round(0.8 * bytes.readUInt32BE(at)), at);
      }
      const udta = bytes.lastIndexOf('udta', undefined, 'latin1');
      bytes.writeUInt32BE(0x7fffffff, udta - 4);
      return bytes;
    };
    const opened = await openDamaged('half', harm);
    expect((await decodeHashes(opened.path)).hashes).toEqual((await decodeHashes(clip)).hashes);
  });

  it('shows pictures in the order of their data when display times are damaged as well', async () => {
    const opened = await openDamaged('late', delaySome);
    const timesOf = async (file: string) =>
      (await listPictures(file, '-v error')).rows.map((cells) => cells[2]);
    expect(await timesOf(opened.path)).toEqual(await timesOf(clip));
  });

  it('leaves an intact index alone', async () => {
    expect(await openDamaged('same', (bytes) => bytes)).toMatchObject({ rebuilt: null });
  });

  it('is reported as damaged, and not as a clip without pictures, when nothing leads to them', async () => {
    const harm = (bytes: Buffer) => {
      // The tables of the pictures, and everything that tells their settings.
      for (const name of ['stbl', 'avcC', 'x264'])
        bytes.write('free', bytes.indexOf(name, 0, 'latin1'), 'latin1');
      return bytes;
    };
    await expect(openDamaged('no-tables', harm)).rejects.toMatchObject({ code: 'damaged_beyond_repair' });
  });
});
