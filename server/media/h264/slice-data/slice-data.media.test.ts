import { describe, expect, it } from 'vitest';
import { contextOf, makeH264Stream, picturesOf } from '#server/test/h264-streams.ts';
import { sharedFolder } from '#server/test/rendered-clips.ts';
import { seededRandom } from '#server/test/seeded-random.ts';
import { CabacDecoder } from '../../cabac/cabac-decoder.ts';
import { H264Error } from '../h264-error.ts';
import { toRbsp } from '../nal.ts';
import { parseSliceHeader, type SliceContext } from '../slice-header.ts';
import { AVC_CONTEXT_COUNT } from './avc-contexts.ts';
import { MbState } from './mb-state.ts';
import { readSliceData } from './slice-data.ts';
import { readSliceStart } from './slice-start.ts';

const folder = sharedFolder();

const KINDS = {
  'CABAC, B pictures, 8 x 8 transform': '-preset slow -bf 3 -refs 4',
  'CABAC, spatial and temporal direct motion, small partitions':
    '-preset medium -x264-params direct=temporal:partitions=all:b-pyramid=normal:bframes=4',
  'CABAC, nothing but intra pictures': '-preset medium -g 1',
  'CABAC, fine': '-preset medium -crf 4',
  'CAVLC, baseline, several slices': '-profile:v baseline -slices 3',
  'CAVLC, B pictures, 8 x 8 transform': '-preset slow -x264-params cabac=0:bframes=3:8x8dct=1',
  'CAVLC, fine': '-preset medium -x264-params cabac=0 -crf 4',
  'weighted fades': '-preset slow -bf 0 -vf fade=out:0:40',
  'intra pictures made of intra ones alone, in stripes':
    '-preset medium -x264-params constrained-intra=1:intra-refresh=1:keyint=20',
};

/** Macroblocks that each slice of a picture ends with, and begins with. */
function readPicture(slices: readonly Buffer[], context: SliceContext): { first: number; end: number }[] {
  const state = new MbState(context.sps.widthMbs, context.sps.heightMbs);
  const cabac = new CabacDecoder(AVC_CONTEXT_COUNT);
  return slices.map((slice) => {
    const rbsp = toRbsp(slice);
    const start = readSliceStart(rbsp, context);
    return { first: start.firstMb, end: readSliceData({ context, rbsp, start }, state, cabac).end };
  });
}

describe('readSliceData', () => {
  for (const [name, options] of Object.entries(KINDS)) {
    it(`reads each slice to the start of the next one (${name})`, async () => {
      const units = await makeH264Stream(folder.path, options);
      const context = contextOf(units);
      const count = context.sps.widthMbs * context.sps.heightMbs;
      const pictures = picturesOf(units);
      expect(pictures).toHaveLength(50);
      for (const picture of pictures) {
        const read = readPicture(picture, context);
        const firsts = picture.map((slice) => parseSliceHeader(slice, context.sps).firstMb);
        expect(read.map(({ first }) => first)).toEqual(firsts);
        expect(read.map(({ end }) => end)).toEqual([...firsts.slice(1), count]);
      }
    });
  }

  it('distinguishes most slices with some changed bytes from intact ones', async () => {
    const random = seededRandom(5);
    for (const options of ['-preset medium', '-profile:v baseline']) {
      const units = await makeH264Stream(folder.path, options);
      const context = contextOf(units);
      const count = context.sps.widthMbs * context.sps.heightMbs;
      const large = picturesOf(units).flatMap(([slice]) => (slice && slice.length > 200 ? [slice] : []));
      const found = large.filter((slice) => {
        const torn = Buffer.from(slice);
        const at = 40 + Math.floor(random() * (slice.length / 2));
        for (let byte = at; byte < at + 8; byte += 1) torn[byte] = 4 + Math.floor(random() * 252);
        try {
          return readPicture([torn], context)[0]?.end !== count;
        } catch (error) {
          return error instanceof H264Error;
        }
      });
      expect(large.length).toBeGreaterThan(20);
      expect(found.length / large.length).toBeGreaterThan(0.9);
    }
  });
});
