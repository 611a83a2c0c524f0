import { describe, expect, it } from 'vitest';
import { firstWait, indexPictures, steadyEnd } from './picture-times.ts';

const steady = (count: number, interval: number) => Array.from({ length: count }, (_, i) => i * interval);

describe('firstWait', () => {
  it('is by how much the first picture is shown longer than usual', () => {
    expect(firstWait([0, ...steady(50, 40).map((time) => time + 400)])).toBe(360);
    expect(firstWait(steady(50, 40))).toBe(0);
    expect(firstWait([0, 400])).toBe(0);
  });

  it('is none where a recording of few pictures a second lacks its second picture', () => {
    expect(firstWait([0, ...steady(28, 114).map((time) => time + 228)])).toBe(0);
    expect(firstWait([0, ...steady(28, 114).map((time) => time + 400)])).toBe(286);
  });
});

describe('steadyEnd', () => {
  it('is one interval after the last picture', () => {
    expect(steadyEnd(steady(50, 40))).toBe(2000);
    expect(steadyEnd([80])).toBe(80);
    expect(steadyEnd([])).toBe(null);
  });

  it('skips pictures at the very end that follow a hole', () => {
    expect(steadyEnd([...steady(50, 40), 2120])).toBe(2000);
    expect(steadyEnd([...steady(50, 40), 2080, 2200])).toBe(2000);
  });

  it('counts holes elsewhere, and all pictures where the rate varies', () => {
    expect(steadyEnd([...steady(25, 40), ...steady(25, 40).map((time) => time + 1200)])).toBe(2200);
    const varying = [0, 30, 90, 120, 200, 230, 330, 350, 500];
    expect(steadyEnd(varying)).toBe(562.5);
  });
});

describe('indexPictures', () => {
  const packets = steady(12, 40).map((ticks) => ({
    ptsTicks: ticks,
    dtsTicks: ticks,
    durationTicks: 40,
    sizeBytes: 100,
    offsetBytes: null,
    keyframe: ticks === 0,
    shown: true,
  }));
  const stream = { timeBase: { num: 1, den: 1000 } };
  const numbersOf = (decodedPts: readonly (number | null)[], codec = 'h264', listed = packets) => {
    const index = indexPictures({ ...stream, codec }, listed, decodedPts);
    return { numbers: index?.frameOfDecoded, undecoded: index?.undecoded };
  };

  it('gives each decoded picture the number of its time', () => {
    expect(numbersOf([0, 40, 80, 200, 240])).toEqual({
      numbers: [0, 1, 2, 5, 6],
      undecoded: [3, 4, 7, 8, 9, 10, 11],
    });
  });

  it('shifts nothing after two pictures that the decoder gave the same time', () => {
    // A key picture was lost: the last picture output before it has the time of the first one after it.
    expect(numbersOf([0, 40, 280, 280, 320, 360])).toEqual({
      numbers: [0, 1, 2, 7, 8, 9],
      undecoded: [3, 4, 5, 6, 10, 11],
    });
    expect(numbersOf([0, 40, 40, 80, 120]).numbers).toEqual([0, 0, 1, 2, 3]);
  });

  it('loses neither of two pictures listed with the same time, of which the decoder moves the second', () => {
    const listed = packets.map((packet, at) => (at === 4 ? { ...packet, ptsTicks: 120 } : packet));
    const times = [0, 40, 80, 120, 121, 200, 240, 280, 320, 360, 400, 440];
    expect(numbersOf(times, 'hevc', listed)).toEqual({ numbers: steady(12, 1), undecoded: [] });
    const twice = listed.map((packet, at) => (at === 6 ? { ...packet, ptsTicks: 200 } : packet));
    expect(numbersOf([0, 40, 80, 120, 121, 200, 201, ...times.slice(7)], 'hevc', twice).undecoded).toEqual(
      [],
    );
    // One of the two is damaged and does not come out.
    const fewer = times.filter((time) => time !== 121);
    expect(numbersOf(fewer, 'hevc', listed).undecoded).toEqual([3]);
  });

  it('shifts nothing after a time that is far too late or unknown', () => {
    expect(numbersOf([0, 40, 400, 120, 160, null, 240]).numbers).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(numbersOf([null, 40, null, null, 120]).numbers).toEqual([0, 1, 2, 2, 3]);
  });

  it('counts AV1 and VP9 pictures that a damaged one takes with it', () => {
    const decoded = [0, 40, 80, 120, 160, 320, 360, 400, 440];
    for (const codec of ['av1', 'vp9']) {
      expect(numbersOf(decoded, codec)).toEqual({
        numbers: [0, 1, 2, 3, 4, 8, 9, 10, 11],
        undecoded: [5, 6, 7],
      });
    }
  });

  it('does not count VP9 packets that show nothing', () => {
    const hidden = packets.flatMap((packet) =>
      packet.ptsTicks % 160 === 120 ? [{ ...packet, ptsTicks: packet.ptsTicks - 7 }, packet] : [packet],
    );
    expect(numbersOf(steady(12, 40), 'vp9', hidden)).toEqual({ numbers: steady(12, 1), undecoded: [] });
    // Nor is the packet before a damaged picture counted.
    const decoded = steady(12, 40).filter((time) => time !== 280);
    expect(numbersOf(decoded, 'vp9', hidden).undecoded).toEqual([7]);
  });

  it('trusts the VP9 decoder when it gives times that no packet has', () => {
    expect(numbersOf([0, 41, 80], 'vp9')).toEqual({ numbers: [0, 1, 2], undecoded: [] });
  });
});
