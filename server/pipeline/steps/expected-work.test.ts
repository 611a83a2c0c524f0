import { describe, expect, it } from 'vitest';
import { createExpectedWork } from './expected-work.ts';
import type { ClipMeasures } from '../analyse/analysis-costs.ts';
import { picturesToRepaint, type StretchToChange } from './step-costs.ts';

/** 720p30 with sound. */
function aClip(durationMs: number): ClipMeasures {
  return {
    format: 'mov',
    durationMs,
    video: [{ codec: 'h264', width: 1280, height: 720, frameRate: 30, frameCount: null, durationMs }],
    audio: [{ channels: 1, durationMs }],
  };
}
const CLIP = aClip(12_000);
const SHARES = Array.from({ length: 21 }, (_, at) => at / 20);

describe('createExpectedWork', () => {
  it('expects less the longer a clip shows no defect, and almost nothing at its end', () => {
    const work = createExpectedWork(false, CLIP);
    const expected = SHARES.map((share) => work.later(share));
    expect(expected).toEqual([...expected].sort((a, b) => b - a));
    expect(expected.at(-1)).toBeLessThan(0.25);
  });

  it('keeps the bar within a sixth of the truth, about equally without defects and with repeats that show halfway', () => {
    const work = createExpectedWork(false, CLIP);
    work.see('calm_sound');
    const told = (share: number) => share / (1 + work.later(share));
    const end = 1 / (1 + work.later(1));
    const clean = Math.max(...SHARES.map((share) => Math.abs(told(share) - share * end)));
    const early = told(0.5);
    work.see('repeat');
    const broken = early - told(0.5);
    expect(clean).toBeLessThan(0.16);
    expect(broken).toBeLessThan(0.16);
    expect(Math.abs(clean - broken)).toBeLessThan(0.1);
  });

  it('expects less of a repair beside a longer analysis', () => {
    const share = (durationMs: number) => {
      const work = createExpectedWork(false, aClip(durationMs));
      work.see('hole');
      return work.later(0);
    };
    expect(share(36_000)).toBeLessThan(0.7 * share(12_000));
  });

  it('expects the repair of what was found, whatever its position', () => {
    const work = createExpectedWork(false, CLIP);
    work.see('hole');
    work.see('calm_sound');
    expect(work.later(0)).toBe(work.later(0.9));
    expect(work.later(0.5)).toBeGreaterThan(1);
    expect(work.later(0.5)).toBeLessThan(1.6);
    const calm = work.later(0.5);
    work.see('wind');
    expect(work.later(0.5)).toBeGreaterThan(calm + 0.3);
  });

  it('is not certain of a repair when pictures look like repeats, as those of a calm clip do', () => {
    const [holes, repeats] = [createExpectedWork(false, CLIP), createExpectedWork(false, CLIP)];
    holes.see('hole');
    repeats.see('repeat');
    expect(repeats.later(0.5)).toBeLessThan(0.8 * holes.later(0.5));
    expect(repeats.later(0.5)).toBeGreaterThan(0.4 * holes.later(0.5));
    // Equally likely to the end.
    expect(repeats.later(1)).toBeGreaterThan(0.4 * holes.later(1));
  });

  it('is nearly certain when the sizes of the pictures show repeats, and expects a cost for each place', () => {
    const [hole, one, three] = [1, 2, 3].map(() => createExpectedWork(false, CLIP));
    hole?.see('hole');
    one?.see('repeats', 1);
    three?.see('repeats', 3);
    expect(one?.later(0)).toBeGreaterThan(0.8 * (hole?.later(0) ?? 1));
    expect(three?.later(0)).toBeGreaterThan(2 * (one?.later(0) ?? 1));
  });

  it('expects about as much after an analysis that damage makes longer, because its repair takes longer too', () => {
    const [whole, damaged] = [createExpectedWork(false, CLIP), createExpectedWork(false, CLIP)];
    whole.see('hole');
    damaged.see('damage');
    expect(damaged.later(0.5)).toBeLessThan(whole.later(0.5));
    expect(damaged.later(0.5)).toBeGreaterThan(0.3 * whole.later(0.5));
  });

  it('expects a search for changed bytes where damage is heard, until it runs', () => {
    const [heard, torn] = [createExpectedWork(false, CLIP), createExpectedWork(false, CLIP)];
    heard.see('damage');
    torn.see('damage', 1);
    expect(heard.later(0.5)).toBeGreaterThan(torn.later(0.5));
    expect(heard.laterThanSearch()).toBeLessThan(heard.later(1));
    expect(heard.laterThanSearch()).toBe(torn.laterThanSearch());
  });

  it('sticks to re-encoding everything when that is certain', () => {
    const work = createExpectedWork(true, CLIP);
    work.see('calm_sound');
    expect(work.later(1)).toBe(work.later(0));
  });
});

describe('picturesToRepaint', () => {
  const keyframe = Array.from({ length: 200 }, (_, at) => at % 50 === 0 && at <= 100);

  const at = (firstFrame: number) => ({ firstFrame, keepsCount: true, isDamage: false });

  const repainted = (stretches: readonly StretchToChange[]) =>
    picturesToRepaint(stretches, keyframe).pictures;

  it('counts the rest of each changed group once', () => {
    expect(picturesToRepaint([], keyframe)).toEqual({ groups: 0, pictures: 0 });
    expect(picturesToRepaint([at(5), at(45), at(60)], keyframe).groups).toBe(2);
    expect(repainted([at(5), at(45)])).toBe(45);
    expect(repainted([at(45), at(50)])).toBeGreaterThan(repainted([at(45)]));
  });

  it('expects the long rest of a group to stay when its pictures keep their number', () => {
    const early = repainted([at(102)]);
    expect(early).toBeLessThan(30);
    expect(repainted([at(102), at(140)])).toBeGreaterThan(early);
    expect(repainted([{ ...at(102), keepsCount: false }])).toBe(90);
  });

  it('expects damage to be exchanged, and examined for it', () => {
    const damaged = repainted([{ ...at(102), isDamage: true }]);
    expect(damaged).toBeGreaterThan(repainted([at(102)]));
    expect(damaged).toBeLessThan(90);
    // In HEVC many ways to conceal it are tried.
    const hevc = picturesToRepaint([{ ...at(102), isDamage: true }], keyframe, 'hevc');
    expect(hevc.pictures).toBeGreaterThan(4 * damaged);
  });

  it('assigns a place after the last picture to the last group', () => {
    expect(repainted([at(200)])).toBeLessThan(30);
  });
});
