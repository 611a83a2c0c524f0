import { HevcError } from './hevc-error.ts';

/** Errors for faults in slice data, created once like those of H.264 (`SLICE_FAULT`). */
export const HEVC_SLICE_FAULT = {
  quantiser: new HevcError('A step of the quantiser is impossible.'),
  coefficient: new HevcError('A coefficient is impossible.'),
  vector: new HevcError('A motion vector is impossible.'),
  plainSamples: new HevcError('Plain samples do not begin where they should.'),
  tooShort: new HevcError('The data of a slice end too early.'),
  early: new HevcError('A slice ends too early.'),
  behindPicture: new HevcError('A slice does not end with its picture.'),
  substream: new HevcError('A substream does not end with its blocks.'),
  end: new HevcError('A slice does not end where its data do.'),
} as const;
