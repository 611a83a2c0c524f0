import { describe, expect, it } from 'vitest';
import { unitRulesOf } from './rebuild-index-units.ts';

/** HEVC settings with four-byte lengths and without parameter sets (ISO/IEC 14496-15, 8.3.3.1). */
const hvcC = Buffer.alloc(23, 0);
hvcC[21] = 3;
const entry = { coding: 'hvc1', bytes: Buffer.alloc(0), boxes: [{ type: 'hvcC', at: 0, payload: hvcC }] };

describe('unitRulesOf', () => {
  it('counts the Dolby Vision unit that phones write after each HEVC picture as part of it', () => {
    const rules = unitRulesOf({ entries: [entry] });
    const unit = (type: number) => Buffer.from([type << 1, 1, 0x80]);
    const isPart = (type: number) => rules?.isPart(unit(type));
    expect([1, 19, 32, 40, 62].map(isPart)).toEqual([true, true, true, true, true]);
    expect([41, 48, 63].map(isPart)).toEqual([false, false, false]);
  });
});
