import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { encodeSource, sharedFolder } from '#server/test/rendered-clips.ts';
import { seededRandom } from '#server/test/seeded-random.ts';
import { createAnnexBSplitter } from '../h264/nal.ts';
import { createHevcSliceChecker } from './check-hevc-slices.ts';
import { isHevcParameterSet, isHevcSlice, opensPicture } from './hevc-nal.ts';

const folder = sharedFolder();
const SOURCE = 'testsrc2=s=208x136:r=25:d=0.48,noise=alls=14:allf=t,fade=t=in:d=0.3';

interface Coded {
  readonly sets: readonly Buffer[];
  readonly pictures: readonly (readonly Buffer[])[];
}

async function code(name: string, preset: string, options: string, format = 'yuv420p'): Promise<Coded> {
  const params = `log-level=error:pools=1:${options}`;
  const coding = ['-pix_fmt', format, '-c:v', 'libx265', '-preset', preset, '-x265-params', params];
  const file = path.join(folder.path, `${name}.hevc`);
  const splitter = createAnnexBSplitter();
  const stream = await readFile(await encodeSource(SOURCE, file, [...coding, '-f', 'hevc']));
  const units = [...splitter.push(stream), ...splitter.end()];
  const pictures: Buffer[][] = [];
  for (const slice of units.filter(isHevcSlice)) {
    if (opensPicture(slice)) pictures.push([slice]);
    else pictures.at(-1)?.push(slice);
  }
  return { sets: units.filter(isHevcParameterSet), pictures };
}

/** Each takes other ways through the syntax. */
const KINDS = [
  ['rows, deep trees', 'medium', 'crf=20:wpp=1:tu-intra-depth=4:tu-inter-depth=4:limit-tu=0', 'yuv420p'],
  ['one stream, uneven halves', 'slow', 'crf=18:wpp=0:amp=1:rect=1:bframes=8:ref=5', 'yuv420p'],
  ['slices, small blocks', 'fast', 'crf=26:slices=4:ctu=16:open-gop=1:keyint=6:bframes=2', 'yuv420p'],
  ['skipped transforms', 'medium', 'crf=16:tskip=1:cu-lossless=1:no-signhide=1:ctu=32', 'yuv420p'],
  ['lossless', 'ultrafast', 'lossless=1:max-tu-size=8', 'yuv420p'],
  ['ten bits, weights', 'medium', 'crf=24:weightp=1:weightb=1:aq-mode=3:qg-size=8', 'yuv420p10le'],
  ['coarse', 'superfast', 'qp=44:intra-refresh=1:bframes=0:no-sao=1', 'yuv420p'],
] as const;

const verdictOn = (sets: readonly Buffer[], slices: readonly Buffer[]) =>
  createHevcSliceChecker(sets).check(slices);

describe('createHevcSliceChecker', () => {
  for (const [kind, preset, options, format] of KINDS) {
    it(`reads every picture to its end, and no picture with a damaged byte (${kind})`, async () => {
      const { sets, pictures } = await code(kind, preset, options, format);
      expect(pictures.length).toBe(12);
      const checker = createHevcSliceChecker(sets);
      expect(pictures.map((slices) => checker.check(slices))).toEqual(pictures.map(() => 'whole'));
      const random = seededRandom(11);
      const verdicts = pictures.flatMap((slices) => {
        const [slice] = slices;
        if (!slice || slice.length < 80) return [];
        const harmed = Buffer.from(slice);
        const from = 40 + Math.floor(random() * (harmed.length - 60));
        for (let at = from; at < from + 8; at++) harmed[at] = 4 + Math.floor(random() * 250);
        return [checker.check([harmed, ...slices.slice(1)])];
      });
      expect(verdicts.length).toBeGreaterThan(4);
      // One in a few hundred falls back into step and ends where it should.
      expect(verdicts.filter((verdict) => verdict === 'damaged').length).toBeGreaterThanOrEqual(
        verdicts.length - 1,
      );
    });
  }

  it('notices missing slices, missing ends of slices, and data after them', async () => {
    const { sets, pictures } = await code('ends', 'fast', 'crf=26:slices=4:ctu=16');
    const [slices = []] = pictures;
    expect(slices.length).toBeGreaterThan(2);
    expect(verdictOn(sets, slices)).toBe('whole');
    expect(verdictOn(sets, slices.slice(0, -1))).toBe('damaged');
    expect(verdictOn(sets, slices.slice(1))).toBe('damaged');
    expect(verdictOn(sets, slices.with(1, Buffer.from(slices[0] ?? [])))).toBe('damaged');
    const [first = Buffer.alloc(0), ...others] = slices;
    expect(verdictOn(sets, [first.subarray(0, -3), ...others])).toBe('damaged');
    expect(verdictOn(sets, [Buffer.concat([first, Buffer.from([7, 0x80])]), ...others])).toBe('damaged');
    // Zero words may follow (cabac_zero_words).
    expect(verdictOn(sets, [Buffer.concat([first, Buffer.from([0, 0, 3, 0, 0, 3])]), ...others])).toBe(
      'whole',
    );
  });

  it('says nothing without readable parameter sets, or about other chroma formats', async () => {
    for (const format of ['yuv422p', 'yuv444p']) {
      const { sets, pictures } = await code(format, 'ultrafast', 'crf=30', format);
      expect(verdictOn(sets, pictures[0] ?? [])).toBe('unknown');
    }
    const { sets, pictures } = await code('plain', 'ultrafast', 'crf=30');
    expect(verdictOn(sets, [])).toBe('unknown');
    expect(verdictOn([], pictures[0] ?? [])).toBe('unknown');
    expect(
      verdictOn(
        sets.map((unit) => unit.subarray(0, 5)),
        pictures[0] ?? [],
      ),
    ).toBe('unknown');
  });

  it('reads parameter sets among the units of a picture', async () => {
    const { sets, pictures } = await code('sets', 'ultrafast', 'crf=30');
    const checker = createHevcSliceChecker([]);
    expect(checker.check([...sets, ...(pictures[0] ?? [])])).toBe('whole');
    expect(checker.check(pictures[1] ?? [])).toBe('whole');
  });

  it('gives a verdict on any input', async () => {
    const { sets, pictures } = await code('hostile', 'medium', 'crf=26:slices=2');
    const random = seededRandom(5);
    const mutate = (unit: Buffer) => {
      const bytes = Buffer.from(unit.subarray(0, 1 + Math.floor(random() * unit.length)));
      const flips = 1 + Math.floor(random() * 4);
      for (let flip = 0; flip < flips; flip++)
        bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
      return bytes;
    };
    for (let round = 0; round < 300; round++) {
      const slices = pictures[round % pictures.length] ?? [];
      expect(['whole', 'damaged', 'unknown']).toContain(verdictOn(sets, slices.map(mutate)));
      expect(['whole', 'damaged', 'unknown']).toContain(verdictOn(sets.map(mutate), slices));
    }
  });
});
