import { describe, expect, it } from 'vitest';
import { type LiveFindings, MAX_LIVE_DEFECTS } from '#common/live-findings.ts';
import type { Finding } from '../analyse/analysis.ts';
import { createLiveFindings } from './live-findings.ts';
import { toDefects } from '../publish/build-report.ts';
import type { Verdict } from '../repair/picture-task.ts';

function stutterAt(startMs: number): Finding {
  return {
    kind: 'stuttered_cut',
    startMs,
    endMs: startMs + 80,
    firstFrame: startMs / 40,
    lastFrame: startMs / 40 + 1,
    count: 2,
    confidence: 0.9,
    detector: 'detect-stutter',
    measure: { name: 'change', unit: 'ratio', threshold: 0.4, value: 0.01 },
    detail: { kind: 'stuttered_cut', history: 'held', startsAtCut: false, endsAtCut: false },
  };
}
const verdictOn = (finding: Finding, outcome: Verdict['outcome']): Verdict => ({
  finding,
  outcome,
  action: 'none',
  after: null,
  explanation: '',
});

function start() {
  const told: LiveFindings[] = [];
  return { told, live: createLiveFindings((findings) => told.push(findings)) };
}

describe('createLiveFindings', () => {
  it('reports every defect in order of time under the name that the report gives it', () => {
    const { told, live } = start();
    const findings = [stutterAt(4000), stutterAt(1000)];
    live.found(findings, 10_000);
    expect(told).toHaveLength(1);
    expect(told[0]).toMatchObject({ durationMs: 10_000, total: 2 });
    const report = toDefects(findings.map((finding) => verdictOn(finding, 'repaired')));
    expect(told[0]?.defects.map(({ id, startMs }) => [id, startMs])).toEqual(
      report.map(({ id, startMs }) => [id, startMs]),
    );
    expect(told[0]?.defects.map(({ state }) => state)).toEqual(['found', 'found']);
  });

  it('reports a repair when it is made, and withdraws it when a check rejects it', () => {
    const { told, live } = start();
    live.found([stutterAt(1000), stutterAt(4000)], 10_000);
    live.settle([verdictOn(stutterAt(4000), 'repaired')]);
    expect(told.at(-1)?.defects.map(({ state }) => state)).toEqual(['found', 'repaired']);
    live.settle([verdictOn(stutterAt(4000), 'left_alone')]);
    expect(told.at(-1)?.defects.map(({ state }) => state)).toEqual(['found', 'left_alone']);
  });

  it('also reports what was done: pictures that keep traces of their damage are not mended', () => {
    const { told, live } = start();
    live.found([stutterAt(1000)], 10_000);
    live.settle([verdictOn(stutterAt(1000), 'repaired')]);
    live.settle([{ ...verdictOn(stutterAt(1000), 'repaired'), action: 'concealed_frames' }]);
    expect(told.at(-1)?.defects[0]).toMatchObject({ state: 'repaired', action: 'concealed_frames' });
  });

  it('reports nothing twice, and nothing about unknown places', () => {
    const { told, live } = start();
    live.found([stutterAt(1000)], 10_000);
    live.settle([verdictOn(stutterAt(1000), 'repaired')]);
    live.settle([verdictOn(stutterAt(1000), 'repaired'), verdictOn(stutterAt(2000), 'repaired')]);
    expect(told).toHaveLength(2);
  });

  it('limits the list and counts all', () => {
    const { told, live } = start();
    live.found(
      Array.from({ length: MAX_LIVE_DEFECTS + 20 }, (_, i) => stutterAt(i * 400)),
      60_000,
    );
    expect(told[0]?.defects).toHaveLength(MAX_LIVE_DEFECTS);
    expect(told[0]?.total).toBe(MAX_LIVE_DEFECTS + 20);
  });

  it('reports that nothing was found, and stays silent when the length is unknown', () => {
    const known = start();
    known.live.found([], 10_000);
    expect(known.told).toEqual([{ durationMs: 10_000, total: 0, defects: [] }]);
    const unknown = start();
    unknown.live.found([stutterAt(1000)], 0);
    unknown.live.settle([verdictOn(stutterAt(1000), 'repaired')]);
    expect(unknown.told).toEqual([]);
  });
});
