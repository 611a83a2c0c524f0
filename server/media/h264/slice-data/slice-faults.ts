import { H264Error } from '../h264-error.ts';

/**
 * Errors for faults in slice data. They are created once, because bytes are tried thousands of times a second and
 * recording stack traces took a sixth of that time.
 */
export const SLICE_FAULT = {
  value: new H264Error('A slice holds an impossible value.'),
  type: new H264Error('A macroblock has an impossible type.'),
  reference: new H264Error('A macroblock names a reference that is not there.'),
  neighbour: new H264Error('A macroblock is made of one that is not there.'),
  behindPicture: new H264Error('A slice goes on behind the picture.'),
  early: new H264Error('A slice ends too early.'),
  unusual: new H264Error('A macroblock has a value that none of its kind has.'),
} as const;
