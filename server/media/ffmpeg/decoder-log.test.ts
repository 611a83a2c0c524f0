import { describe, expect, it } from 'vitest';
import { concealedMacroblocks, endsPreparations, failedMacroblock } from './decoder-log.ts';

describe('what decoders say of a picture', () => {
  it('counts guessed macroblocks, with and without the name of the decoder', () => {
    const words = 'concealing 370 DC, 370 AC, 365 MV errors in P frame';
    expect(concealedMacroblocks(words)).toBe(370);
    expect(concealedMacroblocks(`[h264 @ 0x55d0] [info] ${words}`)).toBe(370);
    expect(concealedMacroblocks(`[vist#0:0/h264 @ 0x1] [dec:h264 @ 0x2] [info] ${words}`)).toBe(370);
  });

  it('reads no count from any other line', () => {
    expect(concealedMacroblocks('[h264 @ 0x55d0] [error] error while decoding MB 12 4')).toBeNull();
    expect(concealedMacroblocks('file about concealing 3 DC, said.mp4')).toBeNull();
  });

  it('finds where decoding failed', () => {
    const words = 'error while decoding MB 12 4, bytestream 812';
    expect(failedMacroblock(words)).toEqual({ column: 12, row: 4 });
    expect(failedMacroblock(`[h264 @ 0x55d0] [error] ${words}`)).toEqual({ column: 12, row: 4 });
    expect(failedMacroblock('file about error while decoding MB 1 2.mp4')).toBeNull();
    expect(failedMacroblock('concealing 370 DC, 370 AC, 365 MV errors in P frame')).toBeNull();
  });

  it('recognises the line between the preparations and the decoding', () => {
    expect(endsPreparations('Stream mapping:')).toBe(true);
    expect(endsPreparations('[info] Stream mapping:')).toBe(true);
    expect(endsPreparations('title : Stream mapping:')).toBe(false);
  });
});
