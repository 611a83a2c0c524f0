import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { testTools as tools } from '#server/test/media-job.ts';
import { encodeSource, sharedFolder } from '#server/test/rendered-clips.ts';
import { createAnnexBSplitter } from '../h264/nal.ts';
import { createHevcSliceChecker } from './check-hevc-slices.ts';
import { openDamaged } from './conceal-slice.ts';
import { isHevcParameterSet, isHevcSlice, opensPicture } from './hevc-nal.ts';
import { createOrderReader, readHevcSets } from './hevc-references.ts';
import { movedPicture } from './moved-slice.ts';

const folder = sharedFolder();
const [WIDTH, HEIGHT] = [328, 200];
const SOURCE = `testsrc2=s=${WIDTH}x${HEIGHT}:r=25:d=0.4,noise=alls=6:allf=t`;
/** The picture that is damaged, in the order of decoding. */
const TORN = 5;

interface Kind {
  readonly name: string;
  readonly params: string;
  readonly pixelFormat?: string;
  /** Part of the slice that is there. */
  readonly share: number;
}

const KINDS: readonly Kind[] = [
  { name: 'rows of their own', params: 'wpp=1:ctu=32', share: 0.5 },
  { name: 'one stream, weights', params: 'wpp=0:ctu=64:weightp=1', share: 0.4 },
  { name: 'small blocks', params: 'wpp=1:ctu=16:min-cu-size=8:no-sao=1', share: 0.7 },
  {
    name: 'units of 16 at least, ten bits',
    params: 'wpp=0:ctu=32:min-cu-size=16',
    share: 0.3,
    pixelFormat: 'yuv420p10le',
  },
  { name: 'two slices', params: 'ctu=16:slices=2', share: 0.5 },
];

/** Pictures that refer to the one before, as NAL units. */
async function code(source: string, name: string, params: string, pixelFormat = 'yuv420p') {
  const options = `log-level=error:pools=1:bframes=0:keyint=100:ref=1:${params}`;
  const coding = ['-pix_fmt', pixelFormat, ...'-c:v libx265 -preset fast -x265-params'.split(' '), options];
  const file = path.join(folder.path, `${name}.hevc`);
  const splitter = createAnnexBSplitter();
  const stream = await readFile(await encodeSource(source, file, [...coding, '-f', 'hevc']));
  const units = [...splitter.push(stream), ...splitter.end()];
  return { sets: units.filter(isHevcParameterSet), slices: units.filter(isHevcSlice) };
}

const START = Buffer.from([0, 0, 0, 1]);

/** Pictures as they are decoded, luma in eight bits, and what the decoder says. */
async function decode(units: readonly Buffer[], name: string): Promise<{ pictures: Buffer[]; said: string }> {
  const file = path.join(folder.path, `${name}.hevc`);
  const raw = `${file}.raw`;
  await writeFile(file, Buffer.concat(units.flatMap((unit) => [START, unit])));
  const input = ['-v', 'warning', '-threads', '1', '-err_detect', 'aggressive', '-f', 'hevc', '-i', file];
  const output = ['-vf', 'format=gray', '-fps_mode', 'passthrough', '-f', 'rawvideo', '-y', raw];
  const { stderr } = await runTool('decode', tools.ffmpeg, [...input, ...output]);
  const all = await readFile(raw);
  const size = WIDTH * HEIGHT;
  const pictures = Array.from({ length: all.length / size }, (_, at) =>
    all.subarray(at * size, (at + 1) * size),
  );
  return { pictures, said: stderr };
}

/** Mean difference between rows of two pictures, of 255 levels. */
function differ(a: Buffer | undefined, b: Buffer | undefined, from: number, end: number): number {
  let sum = 0;
  for (let at = from * WIDTH; at < end * WIDTH; at += 1) sum += Math.abs((a?.[at] ?? 0) - (b?.[at] ?? 255));
  return sum / ((end - from) * WIDTH);
}

describe('openDamaged', () => {
  for (const { name, params, pixelFormat = 'yuv420p', share } of KINDS) {
    it(`ends a torn picture where it becomes unreadable, and moves the previous one after that (${name})`, async () => {
      const options = `crf=20:${params}`;
      const { sets, slices } = await code(SOURCE, name, options, pixelFormat);
      const pictures: Buffer[][] = [];
      for (const slice of slices) {
        if (opensPicture(slice)) pictures.push([slice]);
        else pictures.at(-1)?.push(slice);
      }
      const [slice = Buffer.alloc(0), ...others] = pictures[TORN] ?? [];
      const torn = [slice.subarray(0, Math.round(share * slice.length)), ...others];
      const checker = createHevcSliceChecker(sets);
      expect(checker.findLoss([slice, ...others])).toBeNull();
      const lost = checker.findLoss(torn);
      if (!lost) throw new Error('Nothing is lost.');
      expect(lost.end).toBeGreaterThan(lost.first);
      const damaged = openDamaged(torn, lost, sets);
      expect(damaged.firstReference).toBe(-1);
      const still = () => ({ x: 0, y: 0 });
      const [made = [], again] = damaged.conceal(lost, [still, still]);
      expect(again).toEqual(made);
      expect(checker.check(made)).toBe('whole');
      const whole = await decode([...sets, ...pictures.flat()], `${name}-whole`);
      const all = pictures.flatMap((own, at) => (at === TORN ? made : own));
      const concealed = await decode([...sets, ...all], `${name}-concealed`);
      expect(concealed.said).toBe('');
      expect(concealed.pictures.length).toBe(pictures.length);
      const across = Math.ceil(WIDTH / lost.size);
      // Filters at the seam reach a few pixels up.
      const readable = lost.size * Math.floor(lost.first / across) - 8;
      const lostTop = lost.size * Math.ceil(lost.first / across);
      const lostEnd = Math.min(HEIGHT, lost.size * Math.floor(lost.end / across));
      const [picture, truth] = [concealed.pictures[TORN], whole.pictures[TORN]];
      if (readable > 0) expect(differ(picture, truth, 0, readable)).toBe(0);
      expect(differ(picture, concealed.pictures[TORN - 1], lostTop, lostEnd)).toBeLessThan(0.5);
      expect(differ(truth, concealed.pictures[TORN - 1], lostTop, lostEnd)).toBeGreaterThan(2);
    });
  }

  it('moves each square by its own motion', async () => {
    const scene = `testsrc2=s=${WIDTH}x${HEIGHT}:r=25:d=0.04,gblur=sigma=3,loop=8:1`;
    const { sets, slices } = await code(scene, 'still', 'crf=12:ctu=32:wpp=0');
    const slice = slices[TORN] ?? Buffer.alloc(0);
    const count = Math.ceil(WIDTH / 32) * Math.ceil(HEIGHT / 32);
    const lost = { size: 32, first: 0, end: count };
    const motionAt = (x: number, y: number) => ({ x: x < 160 ? 20 : -36, y: y < 96 ? -48 : 16 });
    const [made = []] = openDamaged([slice], lost, sets).conceal(lost, [motionAt]);
    const { pictures, said } = await decode(
      [...sets, ...slices.flatMap((own, at) => (at === TORN ? made : [own]))],
      'moved',
    );
    expect(said).toBe('');
    const [before, after] = [pictures[TORN - 1], pictures[TORN]];
    for (const [x, y] of [
      [70, 50],
      [250, 50],
      [70, 150],
      [250, 150],
    ] as const) {
      const { x: right, y: down } = motionAt(x, y);
      const from = (y + down / 4) * WIDTH + x + right / 4;
      expect(Math.abs((after?.[y * WIDTH + x] ?? 0) - (before?.[from] ?? 255)), `${x}, ${y}`).toBeLessThan(4);
    }
  });
});

describe('movedPicture', () => {
  for (const { name, params, pixelFormat = 'yuv420p' } of KINDS.filter(
    ({ params: own }) => !own.includes('slices'),
  )) {
    it(`replaces a lost picture by the previous one, and later ones find their references (${name})`, async () => {
      const { sets, slices } = await code(SOURCE, `${name}-lost`, `crf=20:${params}`, pixelFormat);
      const read = createOrderReader(sets);
      const own = slices.map((slice) => read?.(slice, true))[TORN];
      const nalHead = slices[TORN]?.subarray(0, 2);
      if (!own?.holds || !nalHead) throw new Error('The picture was not read.');
      const held = own.holds.map((count) => count - own.order);
      const place = { nalHead, pocLsb: own.order, held, reference: -1 };
      const made = movedPicture(readHevcSets(sets).of(0), place, () => ({ x: 0, y: 0 }));
      expect(createHevcSliceChecker(sets).check([made])).toBe('whole');
      const all = slices.map((slice, at) => (at === TORN ? made : slice));
      const { pictures, said } = await decode([...sets, ...all], `${name}-lost-made`);
      expect(said).toBe('');
      expect(pictures.length).toBe(slices.length);
      expect(differ(pictures[TORN], pictures[TORN - 1], 0, HEIGHT)).toBeLessThan(0.5);
    });
  }
});
