import { describe, expect, it } from 'vitest';
import {
  contextOf,
  decodeH264,
  makeH264Stream,
  picturesOf,
  STREAM_WIDTH,
} from '#server/test/h264-streams.ts';
import { sharedFolder } from '#server/test/rendered-clips.ts';
import { onceForEach } from '#server/test/once-for-each.ts';
import { seededRandom } from '#server/test/seeded-random.ts';
import { isSlice } from '../nal.ts';
import { readMarking } from '../reference-marking.ts';
import { parseSliceHeader, type SliceContext } from '../slice-header.ts';
import { openTorn, readsToEnd, type StandInPart, type TornPicture } from './torn-picture.ts';

const folder = sharedFolder();

const KINDS = {
  'CABAC, B pictures': '-preset medium -bf 3 -b-pyramid normal',
  'CABAC, each refers to the one before, weighted': '-preset slow -bf 0 -vf fade=out:0:40',
  'CAVLC, baseline': '-profile:v baseline',
  'CAVLC, B pictures, several slices': '-preset medium -x264-params cabac=0:bframes=3:slices=3',
};

/** Rows of luma in front of the part that is given up which its filter may have changed (ITU-T H.264, 8.7). */
const FILTERED_ROWS = 3;

function headOf(slice: Buffer, context: SliceContext) {
  return {
    ...parseSliceHeader(slice, context.sps),
    marking: readMarking(slice, context),
    fromFrameNum: null,
  };
}

/** Changes bytes of the largest slice of a picture until a part of it cannot be read. */
function tear(picture: readonly Buffer[], context: SliceContext, random: () => number): TornPicture | null {
  const [largest] = [...picture].sort((a, b) => b.length - a.length);
  if (!largest || largest.length < 80) return null;
  for (let times = 0; times < 10; times += 1) {
    const bytes = Buffer.from(largest);
    const at = 30 + Math.floor(random() * (largest.length - 40));
    for (let byte = at; byte < at + 8; byte += 1) bytes[byte] = 4 + Math.floor(random() * 252);
    const units = picture.map((unit) => (unit === largest ? bytes : unit));
    const torn = openTorn(units, context.sps, [context.pps]);
    if (torn) return torn;
  }
  return null;
}

/** The stream that an encoder with these options makes. */
const streamBy = onceForEach((options: string) => makeH264Stream(folder.path, options));

describe('openTorn', () => {
  for (const [name, options] of Object.entries(KINDS)) {
    it(`returns null for intact pictures (${name})`, async () => {
      const units = await streamBy(options);
      const context = contextOf(units);
      for (const picture of picturesOf(units)) {
        expect(openTorn(picture, context.sps, [context.pps])).toBeNull();
        expect(readsToEnd(picture, context.sps, [context.pps])).toBe(true);
        const longer = picture.map((unit) => Buffer.concat([unit, Buffer.from([0x5b, 0xe7, 0x96])]));
        expect(readsToEnd(longer, context.sps, [context.pps])).toBe(false);
        expect(readsToEnd(picture.slice(0, -1), context.sps, [context.pps])).toBe(false);
      }
    });

    it(`ends the readable part at the given place and adds others after it (${name})`, async () => {
      const units = await streamBy(options);
      const context = contextOf(units);
      const { widthMbs } = context.sps;
      const pictures = picturesOf(units);
      const others = units.filter((unit) => !isSlice(unit));
      const random = seededRandom(11);
      let mendedCount = 0;
      for (let at = 1; at < 30; at += 7) {
        const own = pictures[at] ?? [];
        const torn = tear(own, context, random);
        const [first] = own;
        if (!torn || !first) continue;
        const before = [...others, ...pictures.slice(0, at).flat()];
        const truth = await decodeH264(folder.path, [...before, ...own]);
        const damaged = torn.lost;
        const head = headOf(first, context);
        const raw = (mb: number) => new Uint8Array(384).map((_, byte) => (mb + byte) % 256);
        const moved = (mb: number) => ({ x: 4 * ((mb % 5) - 2), y: mb % 3 === 0 ? 40 : 0 });
        const parts: StandInPart[] = [
          { head, kind: 'I', at: raw },
          { head, kind: 'P', at: moved },
          { head, kind: 'P', at: (mb) => (mb % 4 === 1 ? raw(mb) : moved(mb)) },
        ];
        for (const part of parts) {
          const cut = Math.max(torn.firstOfSlice, damaged.first - Math.floor(random() * widthMbs));
          const { pictures: shown, complaints } = await decodeH264(folder.path, [
            ...before,
            ...torn.mend(cut, part),
          ]);
          expect(complaints).toEqual([]);
          expect(shown).toHaveLength(truth.pictures.length);
          const changed = shown.flatMap((picture, place) =>
            picture.equals(truth.pictures[place] ?? picture) ? [] : [place],
          );
          expect(changed.length).toBeLessThanOrEqual(1);
          mendedCount += 1;
          const picture = shown[changed[0] ?? 0];
          if (part.kind !== 'I' || changed.length === 0 || !picture) continue;
          const mb = damaged.end - 1;
          const row = 16 * Math.floor(mb / widthMbs);
          const from = row * STREAM_WIDTH + 16 * (mb % widthMbs);
          expect([...picture.subarray(from, from + 16)]).toEqual([...raw(mb).subarray(0, 16)]);
        }
      }
      expect(mendedCount).toBeGreaterThan(6);
    });

    it(`keeps everything intact before the cut unchanged (${name})`, async () => {
      const units = await streamBy(options);
      const context = contextOf(units);
      const pictures = picturesOf(units);
      const others = units.filter((unit) => !isSlice(unit));
      let compared = 0;
      for (let at = 1; at < 30; at += 5) {
        const own = pictures[at] ?? [];
        const last = own.at(-1);
        const [first] = own;
        if (!last || !first || last.length < 40) continue;
        // Cut off, all that can be read is true.
        const cutOff = own.map((unit) =>
          unit === last ? unit.subarray(0, Math.floor((2 * unit.length) / 3)) : unit,
        );
        const torn = openTorn(cutOff, context.sps, [context.pps]);
        if (!torn) continue;
        const before = [...others, ...pictures.slice(0, at).flat()];
        const truth = await decodeH264(folder.path, [...before, ...own]);
        // What is read of the last bytes may lie beyond them.
        const cut = Math.max(torn.firstOfSlice, torn.lost.first - 4);
        const part: StandInPart = { head: headOf(first, context), kind: 'P', at: () => ({ x: 0, y: 0 }) };
        const { pictures: shown, complaints } = await decodeH264(folder.path, [
          ...before,
          ...torn.mend(cut, part),
        ]);
        expect(complaints).toEqual([]);
        const rows = 16 * Math.floor(cut / context.sps.widthMbs) - FILTERED_ROWS;
        if (rows <= 0) continue;
        compared += 1;
        for (const [place, picture] of shown.entries()) {
          const top = (bytes: Buffer | undefined) => bytes?.subarray(0, rows * STREAM_WIDTH).toString('hex');
          expect(top(picture)).toBe(top(truth.pictures[place]));
        }
      }
      expect(compared).toBeGreaterThan(2);
    });
  }
});
