import { describe, expect, it } from 'vitest';
import { CabacDecoder } from '#server/media/cabac/cabac-decoder.ts';
import { codePictures } from '#server/test/h264-streams.ts';
import { sharedFolder } from '#server/test/rendered-clips.ts';
import { seededRandom } from '#server/test/seeded-random.ts';
import { AVC_CONTEXT_COUNT } from './avc-contexts.ts';
import { MbState } from './mb-state.ts';
import { openMarkedSlice } from './slice-data.ts';
import { openSlice, openTorn } from './torn-picture.ts';
import { unusualStart } from './unusual-start.ts';

const folder = sharedFolder();
const CALM = 'mandelbrot=s=640x352:r=25,trim=duration=0.6';
const TORN = 5;
/** Macroblocks that the reader may be ahead of what it tells by, as it takes bytes before it needs them. */
const AHEAD = 2;

type Coded = Awaited<ReturnType<typeof codePictures>>;

/**
 * A picture whose last slice is overwritten from a place on, and the macroblock that the first of these bytes belongs
 * to.
 */
function torn({ sets, picture }: Coded, share: number, random: () => number) {
  const units = picture.map((unit) => Buffer.from(unit));
  const last = units.at(-1) ?? Buffer.alloc(0);
  const at = Math.floor(share * last.length);
  const { opened } = openSlice(Buffer.from(last), sets.sps, sets.pps);
  let truth = opened.start.firstMb;
  const state = new MbState(sets.sps.widthMbs, sets.sps.heightMbs);
  openMarkedSlice(opened, state, new CabacDecoder(AVC_CONTEXT_COUNT)).read((mark) => {
    if (mark.at <= at) truth = mark.mb;
  });
  for (let byte = at; byte < at + 24; byte += 1) last[byte] = 4 + Math.floor(random() * 252);
  return { units, truth, firstOfSlice: opened.start.firstMb };
}

describe('unusualStart', () => {
  it.each([
    ['one slice', 'cabac=1:slices=1'],
    ['three slices', 'cabac=1:slices=3'],
  ])('notices wrong data sooner than by impossible values (%s)', async (name, params) => {
    const coded = await codePictures(folder.path, name, params, TORN, CALM);
    const { sets, others } = coded;
    const random = seededRandom(5);
    let [late, soon, count] = [0, 0, 0];
    for (const share of [0.2, 0.3, 0.4, 0.5, 0.6, 0.7]) {
      const { units, truth, firstOfSlice } = torn(coded, share, random);
      const lost = openTorn(units, sets.sps, sets.pps)?.lost;
      if (!lost) continue;
      const noticed = await unusualStart(units, sets, others, lost);
      expect(noticed?.firstOfSlice).toBe(firstOfSlice);
      expect(noticed?.first).toBeGreaterThanOrEqual(truth - AHEAD);
      expect(noticed?.first).toBeLessThanOrEqual(lost.first);
      late += lost.first - truth;
      soon += (noticed?.first ?? Infinity) - truth;
      count += 1;
    }
    expect(count).toBeGreaterThan(3);
    expect(soon).toBeLessThan(late / 2);
  });

  it('returns null when too few pictures show what is usual', async () => {
    const coded = await codePictures(folder.path, 'few', 'cabac=1:slices=1', TORN, CALM);
    const { units } = torn(coded, 0.3, seededRandom(5));
    const lost = openTorn(units, coded.sets.sps, coded.sets.pps)?.lost;
    expect(lost && (await unusualStart(units, coded.sets, [], lost))).toBeNull();
  });

  it.each([
    ['a whole picture', 'cabac=1'],
    ['variable-length codes', 'cabac=0:8x8dct=0'],
  ])('returns null for %s', async (name, params) => {
    const { sets, picture, others } = await codePictures(folder.path, name, params, TORN, CALM);
    expect(await unusualStart(picture, sets, others, { first: 100 })).toBeNull();
  });
});
