import { describe, expect, it } from 'vitest';
import { ANALYTICS_COLUMNS } from '#common/api/analytics.ts';
import { NO_ISSUES } from '#common/video.ts';
import { aggregateMonths, lastMonths, type VideoFact } from './aggregate-months.ts';
import { toAnalyticsCsv } from './analytics-csv.ts';

const NOW = Date.UTC(2026, 2, 15);

function video(fact: Partial<VideoFact> = {}): VideoFact {
  return {
    createdAt: NOW,
    status: 'completed',
    durationMs: 90_000,
    issues: NO_ISSUES,
    fixesApplied: {},
    ...fact,
  };
}

describe('lastMonths', () => {
  it('goes back over the turn of the year without gaps', () => {
    expect(lastMonths(NOW, 5)).toEqual(['2025-11', '2025-12', '2026-01', '2026-02', '2026-03']);
  });

  it('is right on the last millisecond of a month with 31 days', () => {
    expect(lastMonths(Date.UTC(2026, 2, 31, 23, 59, 59, 999), 2)).toEqual(['2026-02', '2026-03']);
  });
});

describe('aggregateMonths', () => {
  it('counts a video in its UTC month', () => {
    const { months } = aggregateMonths(
      [
        video({ createdAt: Date.UTC(2026, 1, 28, 23, 59, 59, 999) }),
        video({ createdAt: Date.UTC(2026, 2, 1) }),
        video({ createdAt: Date.UTC(2026, 2, 2), status: 'failed' }),
        video({ createdAt: Date.UTC(2026, 2, 3), status: 'processing' }),
      ],
      [],
      2,
      NOW,
    );
    expect(months.map(({ month, videos, completed, failed }) => [month, videos, completed, failed])).toEqual([
      ['2026-02', 1, 1, 0],
      ['2026-03', 3, 1, 1],
    ]);
  });

  it('sums defects by kind, where a yes counts as one', () => {
    const issues = { ...NO_ISSUES, stutteredCuts: 3, windNoise: true };
    const { totals } = aggregateMonths([video({ issues }), video({ issues })], [], 1, NOW);
    expect(totals.defects).toMatchObject({ stuttered_cut: 6, wind_noise: 2, audio_sync: 0 });
  });

  it('counts only minutes of clips in which something was repaired', () => {
    const { totals } = aggregateMonths(
      [video({ fixesApplied: { stutteredCuts: 2, windNoise: true } }), video({ fixesApplied: {} })],
      [],
      1,
      NOW,
    );
    expect(totals).toMatchObject({ issuesFixed: 3, minutesMended: 1.5, minutesSaved: 15 });
  });

  it('credits at most an hour per clip, however many pictures were missing', () => {
    const { totals } = aggregateMonths([video({ fixesApplied: { droppedFrames: 214 } })], [], 1, NOW);
    expect(totals).toMatchObject({ issuesFixed: 214, minutesSaved: 60 });
  });

  it('counts a shared object once, in the month it first came, and carries older bytes over', () => {
    const { months, totals } = aggregateMonths(
      [],
      [
        { sha256: 'b', sizeBytes: 50, createdAt: Date.UTC(2026, 2, 2) },
        { sha256: 'a', sizeBytes: 100, createdAt: Date.UTC(2026, 1, 2) },
        { sha256: 'a', sizeBytes: 100, createdAt: Date.UTC(2026, 2, 3) },
        { sha256: 'old', sizeBytes: 7, createdAt: Date.UTC(2020, 0, 1) },
      ],
      2,
      NOW,
    );
    expect(months.map((month) => [month.addedBytes, month.storedBytes])).toEqual([
      [100, 107],
      [50, 157],
    ]);
    expect(totals.storedBytes).toBe(157);
  });
});

describe('toAnalyticsCsv', () => {
  it('writes one line a month with as many values as columns', () => {
    const { months } = aggregateMonths([video({ fixesApplied: { windNoise: true } })], [], 2, NOW);
    const lines = toAnalyticsCsv(months).split('\r\n');
    expect(lines).toHaveLength(4);
    expect(lines[0]?.split(',')).toEqual([...ANALYTICS_COLUMNS]);
    expect(lines[2]).toBe('2026-03,1,1,0,0,0,0,0,0,0,0,0,1,1.50,5.00,0,0');
    expect(lines[3]).toBe('');
  });
});
