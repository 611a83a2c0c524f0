import { describe, expect, it } from 'vitest';
import { createUnitLog } from './unit-log.ts';

function logOf(...lines: readonly string[]) {
  const log = createUnitLog();
  for (const line of lines) log.read(line);
  return log;
}
const unit = (address: string) => `[h264 @ ${address}] [debug] nal_unit_type: 9(AUD), nal_ref_idc: 0`;
const complaint = (address: string) =>
  `[h264 @ ${address}] [error] error while decoding MB 3 4, bytestream -7`;

describe('the log of the units that a decoder reads', () => {
  it('counts its complaints for each unit', () => {
    const log = logOf(unit('0xb'), unit('0xb'), complaint('0xb'), complaint('0xb'), unit('0xb'));
    expect(log.finish(3)).toEqual([0, 2, 0]);
    expect(log.finish(4)).toBeNull();
  });

  it('takes others that look at the beginning for no decoder, also where all are few', () => {
    const probe = [unit('0xa'), unit('0xa')];
    const log = logOf(...probe, unit('0xb'), unit('0xb'), complaint('0xb'));
    expect(log.finish(2)).toEqual([0, 1]);
  });

  it('knows the decoder that got the address of one that is gone', () => {
    const log = logOf(unit('0xa'), unit('0xa'), unit('0xa'), complaint('0xa'), unit('0xa'));
    expect(log.finish(2)).toEqual([1, 0]);
  });

  it('does not count what other parts say', () => {
    const other = '[extract_extradata @ 0xa] [debug] nal_unit_type: 9(AUD), nal_ref_idc: 0';
    const log = logOf(other, unit('0xb'), '[h264 @ 0xb] [debug] nal_unit_type: 1(SLICE), nal_ref_idc: 3');
    expect(log.finish(1)).toEqual([0]);
  });
});
