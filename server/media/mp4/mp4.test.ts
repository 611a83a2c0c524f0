import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '#server/test/seeded-random.ts';
import { container, findBox, fullBox, leaf, parseBoxes, replaceBox, serializeBox } from './box.ts';
import { displayOrder } from './display-order.ts';
import { readEditList, toSimpleEdit, writeEditList } from './edit-list.ts';
import { healNames } from './heal-names.ts';
import { readMovie } from './movie.ts';
import { Mp4Error } from './mp4-error.ts';
import { readAvcConfig, writeAvcConfig } from './sample-entry.ts';
import { readChunks, readSamples } from './sample-table.ts';
import { scanTopLevel } from './top-level.ts';
import { chunkOffsetBox, readDuration, rebuildSampleTables, withDuration } from './write-tables.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'mp4-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const words = (...values: number[]) => {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => bytes.writeInt32BE(value | 0, index * 4));
  return bytes;
};

/** Five samples in three chunks (2, 2, 1), one B-picture order, two key samples. */
const TABLES = container('stbl', [
  fullBox('stsd', 0, 0, words(0)),
  fullBox('stts', 0, 0, words(2, 3, 10, 2, 20)),
  fullBox('ctts', 1, 0, words(3, 1, 10, 1, 25, 3, -5)),
  fullBox('stss', 0, 0, words(2, 1, 4)),
  fullBox('stsz', 0, 0, words(0, 5, 100, 50, 60, 200, 70)),
  fullBox('stsc', 0, 0, words(2, 1, 2, 1, 3, 1, 1)),
  fullBox('stco', 0, 0, words(3, 1000, 5000, 9000)),
]);

describe('readSamples', () => {
  it('joins all tables into one list', () => {
    const samples = readSamples(TABLES);
    expect(samples.map(({ offset }) => offset)).toEqual([1000, 1100, 5000, 5060, 9000]);
    expect(samples.map(({ sizeBytes }) => sizeBytes)).toEqual([100, 50, 60, 200, 70]);
    expect(samples.map(({ dts }) => dts)).toEqual([0, 10, 20, 30, 50]);
    expect(samples.map(({ pts }) => pts)).toEqual([10, 35, 15, 25, 45]);
    expect(samples.map(({ sync }) => sync)).toEqual([true, false, false, true, false]);
    expect(samples.map(({ chunk }) => chunk)).toEqual([0, 0, 1, 1, 2]);
  });

  it('reads back what rebuildSampleTables writes', () => {
    const samples = readSamples(TABLES);
    const rebuilt = rebuildSampleTables(
      TABLES,
      samples.map((sample) => ({
        ...sample,
        bytes: { file: notAFile, offset: 0, sizeBytes: sample.sizeBytes },
      })),
      [2, 2, 1],
    );
    const withOffsets = container('stbl', [...(rebuilt.children ?? []), chunkOffsetBox([1000, 5000, 9000])]);
    expect(readSamples(withOffsets)).toEqual(samples);
  });

  it('rejects tables that are cut off, missing or place too few samples', () => {
    for (const type of ['stts', 'stsz', 'stsc', 'stco']) {
      const without = container(
        'stbl',
        (TABLES.children ?? []).filter((box) => box.type !== type),
      );
      expect(() => readSamples(without)).toThrow(Mp4Error);
      const short = replaceBox(TABLES, type, (box) => leaf(type, box.payload.subarray(0, -4)));
      expect(() => readSamples(short)).toThrow(Mp4Error);
    }
    const fewer = replaceBox(TABLES, 'stco', () => fullBox('stco', 0, 0, words(1, 1000)));
    expect(() => readSamples(fewer)).toThrow(Mp4Error);
  });

  it('rejects an absurd number of samples at once', () => {
    const huge = replaceBox(TABLES, 'stsz', () => fullBox('stsz', 0, 0, words(1, -1)));
    expect(() => readSamples(huge)).toThrow(Mp4Error);
  });
});

// Tables never touch the file itself.
const notAFile = await open('/dev/null');
afterAll(() => notAFile.close());

describe('healNames', () => {
  const renamed = (from: string, to: string) => replaceBox(TABLES, from, (box) => ({ ...box, type: to }));
  const typesOf = (box: { readonly children: readonly { readonly type: string }[] | null }) =>
    box.children?.map(({ type }) => type);

  it('restores the name of a table that lost one letter, and leaves intact ones alone', () => {
    expect(typesOf(healNames(renamed('stco', 'stc\xff')))).toEqual(typesOf(TABLES));
    expect(typesOf(healNames(renamed('stsz', 'qtsz')))).toEqual(typesOf(TABLES));
    expect(healNames(TABLES)).toBe(TABLES);
  });

  it('restores the name of a movie header', () => {
    const index = (header: string) =>
      container('moov', [leaf(header, words(0)), leaf('iods', words(0)), leaf('mvex', words(0))]);
    expect(typesOf(healNames(index('m\x01hd')))).toEqual(typesOf(index('mvhd')));
  });

  it('does not mistake another known table, or one with a wholly different name, for the missing one', () => {
    const others = container('stbl', [leaf('stps', words(0, 0)), leaf('abcd', words(0))]);
    expect(healNames(others)).toBe(others);
    // Which of two tables it was is not told by what both names share.
    const doubtful = container('stbl', [leaf('st\xffs', words(0))]);
    expect(typesOf(healNames(doubtful))).toEqual(['stts']);
    const eitherOf = container('stbl', [leaf('sts\xff', words(0))]);
    expect(healNames(eitherOf)).toBe(eitherOf);
  });
});

describe('readChunks', () => {
  it('gives place, size and time of each chunk', () => {
    expect(readChunks(TABLES)).toEqual([
      { offset: 1000, sizeBytes: 150, dts: 0 },
      { offset: 5000, sizeBytes: 260, dts: 20 },
      { offset: 9000, sizeBytes: 70, dts: 50 },
    ]);
  });

  it('needs no record per sample for sound of one sample size', () => {
    const pcm = container('stbl', [
      fullBox('stts', 0, 0, words(1, 400_000_000, 1)),
      fullBox('stsz', 0, 0, words(4, 400_000_000)),
      fullBox('stsc', 0, 0, words(1, 1, 200_000_000, 1)),
      fullBox('stco', 0, 0, words(2, 100, 900_000_000)),
    ]);
    expect(readChunks(pcm)).toEqual([
      { offset: 100, sizeBytes: 800_000_000, dts: 0 },
      { offset: 900_000_000, sizeBytes: 800_000_000, dts: 200_000_000 },
    ]);
  });
});

describe('chunkOffsetBox', () => {
  it('turns to 64 bits when the file is larger than 4 GiB', () => {
    expect(chunkOffsetBox([100, 200]).type).toBe('stco');
    const wide = chunkOffsetBox([100, 5_000_000_000]);
    expect(wide.type).toBe('co64');
    const stbl = container('stbl', [
      ...(TABLES.children ?? []).filter((box) => !['stco', 'stsz', 'stsc'].includes(box.type)),
      fullBox('stsz', 0, 0, words(10, 2)),
      fullBox('stsc', 0, 0, words(1, 1, 1, 1)),
      wide,
    ]);
    expect(readSamples(stbl).map(({ offset }) => offset)).toEqual([100, 5_000_000_000]);
  });
});

describe('displayOrder', () => {
  it('counts displayed pictures from the first that the edit list shows', () => {
    const order = displayOrder(readSamples(TABLES), 15, 45);
    expect(order.samples).toEqual([0, 2, 3, 1, 4]);
    expect(order.placeOf).toEqual([0, 3, 1, 2, 4]);
    expect([order.firstShown, order.endShown]).toEqual([1, 4]);
  });
});

describe('edit lists', () => {
  it('are written as they are read, with 64 bits where needed', () => {
    const edits = [
      { durationTicks: 500, mediaTime: -1, rate: 1 },
      { durationTicks: 90_000, mediaTime: 1024, rate: 1 },
    ];
    expect(readEditList(container('trak', [writeEditList(edits)]))).toEqual(edits);
    const long = [{ durationTicks: 6_000_000_000, mediaTime: 3_000_000_000, rate: 1 }];
    expect(readEditList(container('trak', [writeEditList(long)]))).toEqual(long);
  });

  it('of the usual shape become an offset and a displayed stretch', () => {
    const edits = [
      { durationTicks: 500, mediaTime: -1, rate: 1 },
      { durationTicks: 2000, mediaTime: 1024, rate: 1 },
    ];
    expect(toSimpleEdit(edits, 1000, 48_000)).toEqual({
      offsetTicks: 24_000 - 1024,
      startTicks: 1024,
      endTicks: 1024 + 96_000,
    });
  });

  it('of other shapes are not simplified', () => {
    const part = { durationTicks: 10, mediaTime: 0, rate: 1 };
    expect(toSimpleEdit([part, { ...part, mediaTime: 50 }], 1000, 1000)).toBeNull();
    expect(toSimpleEdit([{ ...part, rate: 0.5 }], 1000, 1000)).toBeNull();
  });
});

describe('withDuration', () => {
  it('keeps all other fields when it must widen the header', () => {
    const tkhd = fullBox('tkhd', 0, 7, words(11, 12, 3, 0, 500, 0, 0, 0x10000, 0x20000));
    const wide = withDuration(tkhd, 5_000_000_000);
    expect(readDuration(wide)).toBe(5_000_000_000);
    expect(wide.payload.readUInt32BE(20)).toBe(3);
    expect(wide.payload.subarray(-8).equals(tkhd.payload.subarray(-8))).toBe(true);
    expect(wide.payload.readUInt32BE(0)).toBe(0x01000007);
    expect(readDuration(withDuration(tkhd, 77))).toBe(77);
  });
});

describe('readAvcConfig', () => {
  it('reads what writeAvcConfig writes', () => {
    const config = {
      profile: 100,
      compatibility: 0,
      level: 31,
      lengthSize: 4,
      sps: [Buffer.from([0x67, 100, 0, 31])],
      pps: [Buffer.from([0x68, 1]), Buffer.from([0x68, 2])],
      tail: Buffer.from([0xfd, 0xf8, 0xf8, 0]),
    };
    expect(readAvcConfig(writeAvcConfig(config))).toEqual(config);
    expect(() => readAvcConfig(writeAvcConfig(config).subarray(0, 12))).toThrow(Mp4Error);
  });
});

describe('parseBoxes', () => {
  it('rejects sizes that do not fit, and endless nesting', () => {
    expect(() => parseBoxes(words(200, 0x66726565, 0))).toThrow(Mp4Error);
    expect(() => parseBoxes(words(3, 0x66726565, 0))).toThrow(Mp4Error);
    let deep = leaf('free', Buffer.alloc(0));
    for (let depth = 0; depth < 20; depth++) deep = container('moov', [deep]);
    expect(() => parseBoxes(serializeBox(deep))).toThrow(Mp4Error);
  });
});

describe('scanTopLevel', () => {
  it('stops at the first box that makes no sense and says where', async () => {
    const good = serializeBox(leaf('ftyp', Buffer.from('isom0000')));
    const target = path.join(folder, 'broken.mp4');
    await writeFile(target, Buffer.concat([good, Buffer.from([0, 0, 0, 4]), Buffer.from('moovxxxx')]));
    const file = await open(target);
    try {
      const found = await scanTopLevel(file, (await file.stat()).size);
      expect(found.boxes.map(({ type }) => type)).toEqual(['ftyp']);
      expect(found.brokenAt).toBe(good.length);
    } finally {
      await file.close();
    }
  });
});

describe('hostile files', () => {
  it('give a movie or a typed error, quickly, however their index is mutated', async () => {
    const trak = container('trak', [
      fullBox('tkhd', 0, 7, words(0, 0, 1, 0, 100, ...Array.from({ length: 15 }, () => 0))),
      writeEditList([{ durationTicks: 100, mediaTime: 10, rate: 1 }]),
      container('mdia', [
        fullBox('mdhd', 0, 0, words(0, 0, 1000, 100, 0)),
        fullBox('hdlr', 0, 0, Buffer.from('\0\0\0\0vide\0\0\0\0\0\0\0\0\0\0\0\0\0', 'latin1')),
        container('minf', [TABLES]),
      ]),
    ]);
    const mvhd = fullBox('mvhd', 0, 0, words(0, 0, 1000, 100, ...Array.from({ length: 20 }, () => 0)));
    const whole = Buffer.concat([
      serializeBox(leaf('ftyp', Buffer.from('isom0000'))),
      serializeBox(container('moov', [mvhd, trak])),
    ]);
    const random = seededRandom(3);
    const target = path.join(folder, 'hostile.mp4');
    let readable = 0;
    const started = performance.now();
    for (let round = 0; round < 1500; round++) {
      const bytes = Buffer.from(whole);
      for (let flips = Math.floor(random() * 4); flips > 0; flips--) {
        const at = Math.floor(random() * bytes.length);
        bytes[at] = [0, 1, 255, Math.floor(random() * 256)][Math.floor(random() * 4)] ?? 0;
      }
      const cut = random() < 0.2 ? Math.floor(random() * bytes.length) : bytes.length;
      await writeFile(target, bytes.subarray(0, cut));
      const file = await open(target);
      try {
        const movie = await readMovie(file);
        for (const { stbl, edits, timescale } of movie.tracks) {
          readSamples(stbl);
          readChunks(stbl);
          toSimpleEdit(edits, movie.timescale, timescale);
        }
        if (findBox(movie.moov, 'trak/mdia')) readable++;
      } catch (error) {
        if (!(error instanceof Mp4Error)) throw error;
      } finally {
        await file.close();
      }
    }
    expect(readable).toBeGreaterThan(100);
    expect(performance.now() - started).toBeLessThan(15_000);
  });
});
