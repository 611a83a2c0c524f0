import { describe, expect, it } from 'vitest';
import type { Defect, MediaSummary, RepairReport } from '#common/report.ts';
import { FAKE_MEDIA, fakeReport } from '#server/test/fake-report.ts';
import { layOutPreview } from './lay-out.ts';

const MEDIA: MediaSummary = { ...FAKE_MEDIA, durationMs: 20_000, frameCount: 600 };

function defect(id: string, startMs: number, endMs: number, change: Partial<Defect> = {}): Defect {
  return {
    id,
    kind: 'corrupted_section',
    startMs,
    endMs,
    firstFrame: null,
    lastFrame: null,
    count: 1,
    confidence: 1,
    detector: 'detect-corruption',
    measure: { name: 'damaged pictures', unit: 'frames', threshold: 0, before: 1, after: 0 },
    action: 'rebuilt_frames',
    outcome: 'repaired',
    explanation: '',
    ...change,
  };
}

function report(defects: Defect[], resultMs = 20_000, media: Partial<MediaSummary> = {}): RepairReport {
  const shape = { ...MEDIA, ...media };
  return fakeReport({
    original: { sha256: 'a'.repeat(64), sizeBytes: 1, media: shape },
    result: { sha256: 'b'.repeat(64), sizeBytes: 1, media: { ...shape, durationMs: resultMs } },
    defects,
  });
}

function layOut(...given: Parameters<typeof report>) {
  const plan = layOutPreview(report(...given));
  if (!plan) throw new Error('nothing was planned');
  return plan;
}

describe('the plan of a comparison', () => {
  it('shows each repaired place with a second on either side, one after the other', () => {
    const { layout, pieceFrames } = layOut([defect('a', 4000, 4200), defect('b', 12_000, 12_600)]);
    expect(layout.pieces).toEqual([
      {
        originalStartMs: 3000,
        originalEndMs: 5200,
        resultStartMs: 3000,
        resultEndMs: 5200,
        previewStartMs: 0,
        previewEndMs: 2200,
      },
      {
        originalStartMs: 11_000,
        originalEndMs: 13_600,
        resultStartMs: 11_000,
        resultEndMs: 13_600,
        previewStartMs: 2200,
        previewEndMs: 4800,
      },
    ]);
    expect(pieceFrames).toEqual([66, 78]);
    expect(layout.places.map((place) => [place.defectId, place.previewStartMs, place.previewEndMs])).toEqual([
      ['a', 1000, 1200],
      ['b', 3200, 3800],
    ]);
    expect(layout).toMatchObject({ width: 854, height: 480, durationMs: 4800, leftOut: 0 });
  });

  it('joins places whose surroundings overlap, and does not show what was only noted', () => {
    const { layout } = layOut([
      defect('wind', 0, 20_000, { kind: 'wind_noise', action: 'suppressed_wind' }),
      defect('gap', 12_000, 12_200),
      defect('dark', 100, 19_000, { kind: 'poor_lighting', outcome: 'flagged', action: 'none' }),
    ]);
    expect(layout.pieces).toHaveLength(1);
    expect(layout.durationMs).toBe(20_000);
    expect(layout.places.map(({ defectId, previewStartMs }) => [defectId, previewStartMs])).toEqual([
      ['wind', 0],
      ['gap', 12_000],
    ]);
  });

  it('follows a result from which repeats were removed', () => {
    const removed = defect('r', 5000, 5200, { kind: 'stuttered_cut', action: 'removed_repeats' });
    const later = defect('l', 15_000, 15_100);
    const { layout } = layOut([removed, later], 19_800);
    expect(layout.pieces[0]).toMatchObject({ originalEndMs: 6200, resultEndMs: 6000 });
    expect(layout.pieces[1]).toMatchObject({ originalStartMs: 14_000, resultStartMs: 13_800 });
    expect(layout.places[1]).toMatchObject({ startMs: 15_000, previewStartMs: 3200 });
  });

  it('starts both sides together again after a place that moved the time', () => {
    const removed = defect('r', 5000, 5200, { kind: 'stuttered_cut', action: 'removed_repeats' });
    const wind = defect('w', 0, 20_000, { kind: 'wind_noise', action: 'suppressed_wind' });
    const { layout } = layOut([wind, removed, defect('l', 5600, 5700)], 19_800);
    expect(layout.pieces).toHaveLength(2);
    // Half-way to the next place, which must not be in the piece whose sides run apart.
    expect(layout.pieces[0]).toMatchObject({ originalEndMs: 5400, resultEndMs: 5200 });
    expect(layout.pieces[1]).toMatchObject({ originalStartMs: 5400, resultStartMs: 5200 });
    expect(layout.places.map(({ previewStartMs }) => previewStartMs)).toEqual([0, 5000, 5600]);
  });

  it('stays short for a long clip and says what is left out', () => {
    const long = { durationMs: 3_600_000 };
    const wind = defect('w', 0, 3_600_000, { kind: 'wind_noise', action: 'suppressed_wind' });
    expect(layOut([wind], 3_600_000, long).layout.durationMs).toBe(31_000);
    const many = Array.from({ length: 200 }, (_, index) =>
      defect(`d${index}`, index * 10_000, index * 10_000 + 50),
    );
    const { layout } = layOut(many, 3_600_000, long);
    expect(layout.durationMs).toBeLessThanOrEqual(90_000);
    expect(layout.places.length + layout.leftOut).toBe(200);
    expect(layout.leftOut).toBeGreaterThan(0);
  });

  it.each([
    [{ width: 1080, height: 1920 }, 480, 854],
    [{ width: 1920, height: 1080, rotation: 90 }, 480, 854],
    [{ width: 320, height: 240 }, 320, 240],
    [{ width: 2560, height: 1080 }, 854, 360],
  ])('keeps the aspect ratio of %o', (media, width, height) => {
    expect(layOut([defect('a', 0, 100)], 20_000, media).layout).toMatchObject({ width, height });
  });

  it.each([
    [29.97002997, 30_000, 1001],
    [59.94, 30_000, 1001],
    [60, 30, 1],
    [23.976, 24_000, 1001],
    [27.413, 27_413, 1000],
    [null, 30, 1],
  ])('plays %s pictures a second without repeating any', (frameRate, num, den) => {
    expect(layOut([defect('a', 0, 100)], 20_000, { frameRate }).rate).toEqual({ num, den });
  });

  it('is not made when nothing was repaired or nothing is visible', () => {
    expect(layOutPreview(report([]))).toBeNull();
    expect(layOutPreview(report([defect('a', 0, 9, { outcome: 'left_alone' })]))).toBeNull();
    expect(layOutPreview(report([defect('a', 0, 9)], 20_000, { width: null, height: null }))).toBeNull();
  });
});
