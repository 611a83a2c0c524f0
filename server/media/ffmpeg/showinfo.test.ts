import { describe, expect, it } from 'vitest';
import { pictureTicks, showinfoNumber } from './showinfo.ts';

const line = (pts: string) =>
  `[Parsed_showinfo_1 @ 0x55d0c8] [info] n:   7 pts: ${pts} pts_time:0.25 duration: 512 fmt:yuv420p type:B `;

describe('pictureTicks', () => {
  it.each([
    ['3584', 3584],
    ['-1024', -1024],
    ['NOPTS', null],
  ])('parses pts %s', (pts, ticks) => {
    expect(pictureTicks(line(pts))).toBe(ticks);
  });

  it('parses a line that another thread has started', () => {
    const torn = '    Stream #0:0: Video: rawvideo n:   1 pts:    512 pts_time:0.04    duration:    512 ';
    expect(pictureTicks(torn)).toBe(512);
    expect(showinfoNumber(torn)).toBe(0);
    expect(showinfoNumber(line('1'))).toBe(1);
  });

  it('ignores all other lines', () => {
    expect(pictureTicks('[h264 @ 0x55d0c8] [error] n: 7 pts: 12 of another kind')).toBeUndefined();
    expect(
      pictureTicks('[Parsed_showinfo_1 @ 0x55d0c8] [info] config in time_base: 1/12800'),
    ).toBeUndefined();
  });
});
