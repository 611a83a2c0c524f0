import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '#server/test/seeded-random.ts';
import type { Finding } from '../../analyse/analysis.ts';
import type { RebuildTask } from '../picture-task.ts';
import { neededPictures, rebuildPictures } from './rebuild-pictures.ts';
import type { RebuildInput } from './rebuild-pictures-decode.ts';
import { isBetterDecoded, isPlausible, stepsBeside } from './rebuild-pictures-decoded.ts';
import { rawFormat, type RawFormat } from './rebuild-pictures-raw.ts';

const WIDTH = 64;
const HEIGHT = 48;

function format(): RawFormat {
  const found = rawFormat('yuv420p', WIDTH, HEIGHT);
  if (!found) throw new Error('This format can be rebuilt.');
  return found;
}

/** A gradient from left to right, moved by `shift` pixels, with noise of a given strength. */
function scene(shift: number, noise: number, seed: number): Uint8Array {
  const random = seededRandom(seed);
  const picture = new Uint8Array(format().pictureBytes).fill(128);
  for (let y = 0; y < HEIGHT; y += 1) {
    for (let x = 0; x < WIDTH; x += 1) {
      const value = 120 + 60 * Math.sin((x + shift) / 5) + (random() - 0.5) * noise;
      picture[y * WIDTH + x] = Math.round(Math.max(0, Math.min(255, value)));
    }
  }
  return picture;
}

/** The lower half filled with one level, as lost data leave it. */
function smeared(picture: Uint8Array): Uint8Array {
  return picture.map((value, at) => (at >= (WIDTH * HEIGHT) / 2 && at < WIDTH * HEIGHT ? 20 : value));
}

/** The mean of two pictures. */
function mixed(one: Uint8Array, other: Uint8Array): Uint8Array {
  return one.map((value, at) => (value + (other[at] ?? 0)) >> 1);
}

describe('isBetterDecoded', () => {
  it('keeps decoded pictures when the scene moves on, smeared or not', () => {
    const [before, after] = [scene(0, 4, 1), scene(14, 4, 2)];
    expect(isBetterDecoded(before, after, scene(13, 4, 3), format())).toBe(true);
    expect(isBetterDecoded(before, after, smeared(scene(13, 4, 3)), format())).toBe(true);
  });

  it('holds the last intact picture of a still shot when what was decoded ends in a smear', () => {
    const [before, after] = [scene(0, 4, 1), scene(0, 4, 2)];
    expect(isBetterDecoded(before, after, smeared(scene(0, 4, 3)), format())).toBe(false);
    expect(isBetterDecoded(before, after, scene(0, 4, 3), format())).toBe(true);
  });

  it('keeps what was decoded of a title card between black, however badly it was damaged', () => {
    const black = new Uint8Array(format().pictureBytes).fill(0, 0, WIDTH * HEIGHT).fill(128, WIDTH * HEIGHT);
    const card = smeared(scene(0, 4, 3));
    expect(isBetterDecoded(black, black, card, format())).toBe(true);
  });
});

describe('isPlausible', () => {
  const judged = { method: 'blend', motionDb: 20, mixedDb: 20, blendDb: 30, holdDb: 20, trials: 2 } as const;

  it('accepts a decoded picture that is no farther from the rebuilt one than true pictures are', () => {
    expect(isPlausible(scene(0, 0, 1), scene(0, 20, 2), judged, format())).toBe(true);
  });

  it('rejects a smeared picture, and any when nothing true was predicted', () => {
    expect(isPlausible(smeared(scene(0, 0, 1)), scene(0, 20, 2), judged, format())).toBe(false);
    const unjudged = { ...judged, blendDb: null, trials: 0 };
    expect(isPlausible(scene(0, 0, 1), scene(0, 0, 1), unjudged, format())).toBe(false);
  });
});

describe('a short damaged stretch', () => {
  const FIRST = 10;
  const COUNT = 5;
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'reelmend-decoded-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** A stretch whose first picture is damaged; the others refer to it. */
  function hole(change: Partial<RebuildInput> = {}): RebuildInput {
    const finding: Finding = {
      kind: 'corrupted_section',
      startMs: 400,
      endMs: 600,
      firstFrame: FIRST,
      lastFrame: FIRST + COUNT - 1,
      count: COUNT,
      confidence: 0.95,
      detector: 'test',
      measure: { name: 'damaged pictures', unit: 'frames', threshold: 0, value: COUNT },
      detail: {
        kind: 'corrupted_section',
        evidence: 'decoder',
        undecodedFrames: 0,
        damagedDataFrames: [FIRST],
      },
    };
    const ptsTicks = Array.from({ length: 40 }, (_, frame) => frame * 40);
    const task: RebuildTask = {
      kind: 'rebuild',
      finding,
      firstFrame: FIRST,
      endFrame: FIRST + COUNT,
      slotTicks: ptsTicks.slice(FIRST, FIRST + COUNT),
      resumeTicks: (FIRST + COUNT) * 40,
      before: FIRST - 1,
      after: FIRST + COUNT,
      acrossCut: false,
      shiftAfterTicks: 0,
    };
    return {
      inputPath: 'not read',
      info: {
        format: 'mov',
        startMs: 0,
        durationMs: 1600,
        sizeBytes: 0,
        video: [],
        audio: [],
        others: [],
        tags: {},
      },
      pictures: {
        timeBase: { num: 1, den: 1000 },
        ptsTicks,
        keyframe: ptsTicks.map((_, frame) => frame === 0),
        medianIntervalTicks: 40,
        variableByNature: false,
      },
      format: format(),
      tools: { ffmpeg: 'ffmpeg', ffprobe: 'ffprobe' },
      task,
      isBad: (frame) => frame >= FIRST && frame < FIRST + COUNT,
      sceneCuts: [],
      rawPath: path.join(folder, 'made.raw'),
      ...change,
    };
  }

  /** Position of the scene in each picture: it creeps, but moves to and fro within the stretch. */
  const shiftOf = (frame: number) =>
    [4, 9, 14, 9, 0.5][frame - FIRST] ?? (frame < FIRST ? (frame - FIRST) / 2 : (frame - FIRST - COUNT) / 2);
  const decode = (input: RebuildInput, show: (frame: number) => Uint8Array) =>
    new Map(neededPictures(input).map((frame) => [frame, show(frame)]));
  const keptOf = async (input: RebuildInput, show: (frame: number) => Uint8Array) =>
    (await rebuildPictures(input, decode(input, show))).pictures.flatMap(({ pixels }) =>
      pixels.kind === 'original' ? [pixels.frame] : [],
    );

  it('keeps pictures that show motion which calm neighbours do not show', async () => {
    const show = (frame: number) => scene(shiftOf(frame), 4, frame);
    expect(await keptOf(hole(), show)).toEqual([10, 11, 12, 13, 14]);
  });

  it('is rebuilt when what was lost is still missing at its end', async () => {
    const isIn = (frame: number) => frame >= FIRST && frame < FIRST + COUNT;
    const show = (frame: number) =>
      isIn(frame) ? smeared(scene(frame / 2, 4, frame)) : scene(frame / 2, 4, frame);
    expect(await keptOf(hole(), show)).toEqual([]);
  });

  it('is combined with what its damaged pictures show correctly, when it is rebuilt', async () => {
    const isIn = (frame: number) => frame >= FIRST && frame < FIRST + COUNT;
    const [lost, end] = [WIDTH * (HEIGHT - 8), WIDTH * HEIGHT];
    const darker = (picture: Uint8Array) =>
      picture.map((value, at) => (at >= lost && at < end ? Math.max(0, value - 40) : value));
    const truth = (frame: number) => scene(frame / 2, 4, frame);
    const show = (frame: number) => (isIn(frame) ? darker(truth(frame)) : truth(frame));
    const input = hole();
    const { pictures, joinedCount } = await rebuildPictures(input, decode(input, show));
    expect(pictures.map(({ pixels }) => pixels.kind)).toEqual(Array(COUNT).fill('raw'));
    expect(joinedCount).toBeGreaterThan(0);
  });

  it('of one picture stays as decoded when all of that picture is plausible', async () => {
    const input = hole();
    const task = { ...input.task, endFrame: FIRST + 1, slotTicks: [FIRST * 40], after: FIRST + 1 };
    const isBad = (frame: number) => frame === FIRST;
    const show = (frame: number) => scene(frame / 2, 4, frame);
    expect(await keptOf(hole({ task, isBad }), show)).toEqual([FIRST]);
  });

  it('is kept when its steps are those of the motion, though the motion jumps right after it', async () => {
    const jump = (frame: number) => frame / 2 + (frame >= FIRST + COUNT ? 9 : 0);
    const show = (frame: number) => scene(jump(frame), 4, frame);
    expect(await keptOf(hole(), show)).toEqual([10, 11, 12, 13, 14]);
  });

  it('is kept after a picture lost in a calm moment, though the camera starts to move in it and jumps after it', async () => {
    const start = FIRST + 2;
    const moved = (frame: number) => (frame < start ? frame / 4 : start / 4 + 4 * (frame - start));
    const show = (frame: number) => scene(moved(frame) + (frame >= FIRST + COUNT ? 9 : 0), 4, frame);
    const input = hole();
    const known = decode(input, show);
    known.delete(FIRST);
    const { pictures } = await rebuildPictures(input, known);
    expect(pictures.map(({ pixels }) => pixels.kind)).toEqual(['raw', ...Array(COUNT - 1).fill('original')]);
  });

  it('is rebuilt when that loses almost nothing, and the decoded pictures are grey', async () => {
    const grey = new Uint8Array(format().pictureBytes).fill(128);
    const isIn = (frame: number) => frame >= FIRST && frame < FIRST + COUNT;
    const show = (frame: number) => (isIn(frame) && frame < FIRST + COUNT - 1 ? grey : scene(0, 0, 1));
    const faded = (frame: number) =>
      frame === FIRST + COUNT - 1 ? mixed(grey, scene(0, 0, 1)) : show(frame);
    expect(await keptOf(hole(), faded)).toEqual([]);
  });

  it('is kept as decoded before a cut to a view of the same colours, though the damage began after its first picture', async () => {
    const end = FIRST + COUNT;
    const show = (frame: number) => scene(frame < end ? 0 : 5, 4, frame);
    const input = hole({ sceneCuts: [end] });
    const { finding } = input.task;
    if (finding.detail.kind !== 'corrupted_section') throw new Error('It is damage.');
    const detail = { ...finding.detail, damagedDataFrames: [FIRST + 1] };
    const task = { ...input.task, finding: { ...finding, detail } };
    const known = decode({ ...input, task }, show);
    known.delete(FIRST + 1);
    const { method } = await rebuildPictures({ ...input, task }, known);
    expect(method).toBe('decoded');
    // Without a known cut, the same is a jump of the motion.
    const jumped = await rebuildPictures({ ...input, task, sceneCuts: [] }, known);
    expect(jumped.method).not.toBe('decoded');
  });

  it('measures the step of the motion on intact pictures of one shot after it, or else before it', () => {
    expect(stepsBeside(hole())).toEqual([FIRST + COUNT, FIRST - 2, FIRST + COUNT + 1]);
    expect(stepsBeside(hole({ sceneCuts: [FIRST + COUNT + 1] }))).toEqual([FIRST - 2, FIRST + COUNT + 1]);
    expect(stepsBeside(hole({ isBad: () => true }))).toEqual([]);
  });
});
