import { describe, expect, it } from 'vitest';
import { layOver } from './lay-over.ts';
import type { ChangedSpan, NewPicture } from './picture-edit.ts';
import type { Verdict } from './picture-task.ts';
import type { PictureRepair } from './repair-pictures.ts';

const decoded = (frame: number): NewPicture => ({ ptsTicks: frame, pixels: { kind: 'original', frame } });
const rebuilt = (frame: number): NewPicture => ({
  ptsTicks: frame,
  pixels: { kind: 'raw', path: 'new.raw', index: 0 },
});

const numbers = (first: number, end: number) => Array.from({ length: end - first }, (_, at) => first + at);

function repair(name: string, span: ChangedSpan): PictureRepair {
  const verdict: Verdict = {
    finding: {
      kind: span.underDamage ? 'stuttered_cut' : 'corrupted_section',
      startMs: 0,
      endMs: 0,
      firstFrame: span.firstFrame,
      lastFrame: span.endFrame - 1,
      count: 1,
      confidence: 1,
      detector: name,
      measure: { name: 'pictures', unit: 'frames', threshold: 0, value: 1 },
      detail: { kind: 'poor_lighting' },
    },
    outcome: 'repaired',
    action: 'rebuilt_frames',
    after: null,
    explanation: name,
  };
  return { span, verdict };
}

function damage(first: number, end: number, picture: (frame: number) => NewPicture): PictureRepair {
  const pictures = numbers(first, end).map(picture);
  const span = { firstFrame: first, endFrame: end, pictures, shiftAfterTicks: 0, mendsDamage: true };
  return repair('damage', span);
}

function repeats(first: number, end: number): PictureRepair {
  const pictures = numbers(first, end).map(rebuilt);
  const span = { firstFrame: first, endFrame: end, pictures, shiftAfterTicks: 0 };
  return repair('repeats', { ...span, mendsDamage: true, underDamage: 'decoded' });
}

const places = (spans: readonly ChangedSpan[]) =>
  spans
    .map(({ firstFrame, endFrame, pictures }) => [firstFrame, endFrame, pictures.length])
    .sort(([a = 0], [b = 0]) => a - b);

describe('layOver', () => {
  it('cuts damage that is kept as decoded around a repair in it, and says so', () => {
    const { spans, verdicts, dropped } = layOver([damage(10, 30, decoded), repeats(15, 18)]);
    expect(places(spans)).toEqual([
      [10, 15, 5],
      [15, 18, 3],
      [18, 30, 12],
    ]);
    expect(spans.flatMap(({ pictures }) => pictures.map(({ ptsTicks }) => ptsTicks)).sort()).toEqual(
      numbers(10, 30),
    );
    expect(verdicts.map(({ explanation }) => explanation).join()).toContain('3 of them repeat');
    expect(dropped).toEqual([]);
  });

  it('leaves nothing to do inside rebuilt damage', () => {
    const { spans, dropped } = layOver([damage(10, 20, rebuilt), repeats(15, 18)]);
    expect(places(spans)).toEqual([[10, 20, 10]]);
    expect(dropped.map(({ finding }) => finding.detector)).toEqual(['repeats']);
  });

  it('keeps the part of repeats that extends beyond rebuilt damage', () => {
    const { spans, verdicts } = layOver([damage(10, 20, rebuilt), repeats(18, 23)]);
    expect(places(spans)).toEqual([
      [10, 20, 10],
      [20, 23, 3],
    ]);
    expect(verdicts).toHaveLength(2);
  });

  it('gives each place one picture when repeats overlap rebuilt and kept damage', () => {
    const torn = [damage(12, 14, rebuilt), damage(15, 30, decoded)];
    const { spans } = layOver([...torn, repeats(11, 17)]);
    expect(places(spans)).toEqual([
      [11, 12, 1],
      [12, 14, 2],
      [14, 17, 3],
      [17, 30, 13],
    ]);
  });

  it('removes copies that made the clip longer, and inserts what is missing between kept pictures', () => {
    const underDamage = 'decoded' as const;
    const removal = { firstFrame: 15, endFrame: 18, pictures: [], shiftAfterTicks: -3, underDamage };
    const insertion = {
      firstFrame: 25,
      endFrame: 25,
      pictures: [rebuilt(24)],
      shiftAfterTicks: 0,
      underDamage,
    };
    const both = [repair('copies', removal), repair('hole', insertion)];
    expect(places(layOver([damage(10, 30, decoded), ...both]).spans)).toEqual([
      [10, 15, 5],
      [15, 18, 0],
      [18, 25, 7],
      [25, 25, 1],
      [25, 30, 5],
    ]);
    const { spans, dropped } = layOver([damage(10, 30, rebuilt), ...both]);
    expect(places(spans)).toEqual([
      [10, 15, 5],
      [15, 18, 0],
      [18, 30, 12],
    ]);
    expect(dropped.map(({ finding }) => finding.detector)).toEqual(['hole']);
    const filled = repair('hole', { ...insertion, underDamage: 'whole' });
    expect(places(layOver([damage(10, 30, rebuilt), filled]).spans)).toEqual([
      [10, 25, 15],
      [25, 25, 1],
      [25, 30, 5],
    ]);
  });
});
