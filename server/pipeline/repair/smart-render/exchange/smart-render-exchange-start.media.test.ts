import { expect, it } from 'vitest';
import type { LostBlocks } from '#server/media/lost-blocks.ts';
import { openTorn } from '#server/media/h264/slice-data/torn-picture.ts';
import { codePictures } from '#server/test/h264-streams.ts';
import { sharedFolder } from '#server/test/rendered-clips.ts';
import { seededRandom } from '#server/test/seeded-random.ts';
import { rawFormat } from '../../rebuild-pictures/rebuild-pictures-raw.ts';
import { startOfLoss } from './smart-render-exchange-start.ts';

const folder = sharedFolder();
const [WIDTH, HEIGHT, TORN] = [640, 352, 5];
const FORMAT = rawFormat('yuv420p', WIDTH, HEIGHT);

/**
 * A damaged picture, its impossible data, and a decoder's report that begins `guessedBefore` macroblocks before them.
 */
async function torn(guessedBefore: number) {
  const view = `mandelbrot=s=${WIDTH}x${HEIGHT}:r=25,trim=duration=0.6`;
  const { sets, picture, others } = await codePictures(folder.path, 'start', 'slices=1', TORN, view);
  const units = picture.map((unit) => Buffer.from(unit));
  const last = units.at(-1) ?? Buffer.alloc(0);
  const random = seededRandom(5);
  const at = Math.floor(0.5 * last.length);
  for (let byte = at; byte < at + 24; byte += 1) last[byte] = 4 + Math.floor(random() * 252);
  const lost = openTorn(units, sets.sps, sets.pps)?.lost;
  if (!lost || !FORMAT) throw new Error('nothing is torn');
  const all = [...others.slice(0, TORN), units, ...others.slice(TORN)];
  const source = {
    ...sets,
    samples: all,
    units: (sample: number) => Promise.resolve([...(all[sample] ?? [])]),
  };
  // Identical pictures show no fault.
  const still = { pixels: new Uint8Array(FORMAT.pictureBytes).fill(90), ticks: 0 };
  const told: LostBlocks = { ...lost, first: lost.first - guessedBefore };
  const input = { sample: TORN, units, damaged: [TORN] };
  const around = { earlier: still, before: still, damaged: still };
  return { told, found: await startOfLoss(source, input, told, around, FORMAT) };
}

it('a loss begins where its data are unusual, sooner than a decoder reports', async () => {
  const { told, found } = await torn(0);
  expect(found).toEqual({ ...told, first: found.first });
  expect(found.first).toBeLessThan(told.first);
});

it('a loss begins no later than where a decoder guesses', async () => {
  const { told, found } = await torn(200);
  expect(found).toEqual(told);
});
