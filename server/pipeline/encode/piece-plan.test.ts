import { describe, expect, it } from 'vitest';
import type { VideoPacket } from '../analyse/packets/read-packets.ts';
import { PIECE_MS, planPieces } from './piece-plan.ts';

/** Pictures at 10 a second, timescale 10, with a key picture every `keyEvery` pictures. */
function packets(count: number, keyEvery: number): VideoPacket[] {
  return Array.from({ length: count }, (_, at) => ({
    ptsTicks: at,
    dtsTicks: at,
    durationTicks: 1,
    sizeBytes: 100,
    offsetBytes: at * 100,
    keyframe: at % keyEvery === 0,
    shown: true,
  }));
}

describe('planPieces', () => {
  const least = PIECE_MS / 100;

  it('cuts at key pictures, not before a piece is long enough, and puts every picture into one piece', () => {
    const pieces = planPieces(packets(4 * least, 20), 10) ?? [];
    expect(pieces.length).toBeGreaterThan(2);
    expect(pieces.flatMap(({ times }) => times)).toEqual(Array.from({ length: 4 * least }, (_, at) => at));
    for (const [at, { startTicks, times }] of pieces.entries()) {
      expect(startTicks).toBe(at === 0 ? null : times[0]);
      expect((startTicks ?? 0) % 20).toBe(0);
      expect(pieces[at - 1]?.endTicks ?? startTicks).toBe(startTicks);
      expect(times.length).toBeGreaterThanOrEqual(least / 2);
    }
    expect(pieces.at(-1)?.endTicks).toBeNull();
  });

  it('leaves pictures that are displayed before their key picture in the previous piece', () => {
    const listed = packets(2 * least, least);
    const moved = listed.map((packet, at) => {
      if (at === least) return { ...packet, ptsTicks: least + 1 };
      return at === least + 1 ? { ...packet, ptsTicks: least } : packet;
    });
    const [head, tail] = planPieces(moved, 10) ?? [];
    expect(head?.times.at(-1)).toBe(least);
    expect(tail?.times[0]).toBe(least + 1);
  });

  it('is one piece without a second key picture, and none when times are unknown', () => {
    expect(planPieces(packets(3 * least, 1000), 10)).toHaveLength(1);
    expect(planPieces([], 10)).toBeNull();
    const hidden = packets(3 * least, 20).map((packet, at) => ({ ...packet, shown: at > 2 }));
    expect(planPieces(hidden, 10)).toBeNull();
    const twice = packets(3 * least, 20).map((packet) => ({
      ...packet,
      ptsTicks: Math.max(1, packet.ptsTicks ?? 0),
    }));
    expect(planPieces(twice, 10)).toBeNull();
  });
});
