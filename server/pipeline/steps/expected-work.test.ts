import { describe, expect, it } from 'vitest';
import { createExpectedWork } from './expected-work.ts';
import { picturesToRepaint, type ClipMeasures } from './step-costs.ts';

/** 720p30 with sound. */
function aClip(durationMs: number): ClipMeasures {
  return {
    durationMs,
    video: [{ width: 1280, height: 720, frameRate: 30, frameCount: null, durationMs }],
    audio: [{ channels: 1, durationMs }],
  };
}
const CLIP = aClip(12_000);
const SHARES = Array.from({ length: 21 }, (_, at) => at / 20);

describe('createExpectedWork', () => {
  it('expects less the longer a clip shows no sign, and next to nothing at its end', () => {
    const work = createExpectedWork(false, CLIP);
    const expected = SHARES.map((share) => work.later(share));
    expect(expected).toEqual([...expected].sort((a, b) => b - a));
    expect(expected.at(-1)).toBeLessThan(0.25);
  });

  it('takes a bar without signs as far off as one whose repeats show halfway, and neither by a fifth', () => {
    const work = createExpectedWork(false, CLIP);
    work.see('calm_sound');
    const told = (share: number) => share / (1 + work.later(share));
    const end = 1 / (1 + work.later(1));
    const clean = Math.max(...SHARES.map((share) => Math.abs(told(share) - share * end)));
    const early = told(0.5);
    work.see('picture');
    const broken = early - told(0.5);
    expect(clean).toBeLessThan(0.2);
    expect(broken).toBeLessThan(0.2);
    expect(Math.abs(clean - broken)).toBeLessThan(0.08);
  });

  it('expects less of a repair beside a longer analysis', () => {
    const share = (durationMs: number) => {
      const work = createExpectedWork(false, aClip(durationMs));
      work.see('picture');
      return work.later(0);
    };
    expect(share(36_000)).toBeLessThan(0.7 * share(12_000));
  });

  it('expects the repair of what has shown, whatever the place', () => {
    const work = createExpectedWork(false, CLIP);
    work.see('picture');
    work.see('calm_sound');
    expect(work.later(0)).toBe(work.later(0.9));
    // Four clips of 720p with repeats, holes or damage took 1.6 to 1.8 times their analysis, one with wind 0.4 more.
    expect(work.later(0.5)).toBeGreaterThan(1.4);
    expect(work.later(0.5)).toBeLessThan(2);
    const calm = work.later(0.5);
    work.see('wind');
    expect(work.later(0.5)).toBeGreaterThan(calm + 0.3);
  });

  it('is not sure of a repair where pictures look like repeats, which those of a calm clip do', () => {
    const [holes, repeats] = [createExpectedWork(false, CLIP), createExpectedWork(false, CLIP)];
    holes.see('picture');
    repeats.later(0.2);
    repeats.see('picture');
    expect(repeats.later(0.5)).toBeLessThan(0.8 * holes.later(0.5));
    expect(repeats.later(0.5)).toBeGreaterThan(0.4 * holes.later(0.5));
    // As likely to the end.
    expect(repeats.later(1)).toBeGreaterThan(0.4 * holes.later(1));
  });

  it('expects less behind an analysis that damage makes longer', () => {
    const [whole, damaged] = [createExpectedWork(false, CLIP), createExpectedWork(false, CLIP)];
    whole.see('picture');
    damaged.see('damage');
    expect(damaged.later(0.5)).toBeLessThan(whole.later(0.5));
    expect(damaged.later(0.5)).toBeGreaterThan(0.3 * whole.later(0.5));
  });

  it('keeps to coding everything anew when that is certain', () => {
    const work = createExpectedWork(true, CLIP);
    work.see('calm_sound');
    expect(work.later(1)).toBe(work.later(0));
  });
});

describe('picturesToRepaint', () => {
  const keyframe = Array.from({ length: 200 }, (_, at) => at % 50 === 0 && at <= 100);

  const at = (firstFrame: number) => ({ firstFrame, keepsCount: true, isDamage: false });

  it('counts the rest of each group that is changed, once', () => {
    expect(picturesToRepaint([], keyframe)).toBe(0);
    expect(picturesToRepaint([at(5), at(45)], keyframe)).toBe(45);
    expect(picturesToRepaint([at(45), at(50)], keyframe)).toBeGreaterThan(
      picturesToRepaint([at(45)], keyframe),
    );
  });

  it('expects the long rest of a group to stay where its pictures keep their number', () => {
    const early = picturesToRepaint([at(102)], keyframe);
    expect(early).toBeLessThan(20);
    expect(picturesToRepaint([at(102), at(140)], keyframe)).toBeGreaterThan(early);
    expect(picturesToRepaint([{ ...at(102), keepsCount: false }], keyframe)).toBe(90);
  });

  it('expects damage to be exchanged, and looked at for it', () => {
    const damaged = picturesToRepaint([{ ...at(102), isDamage: true }], keyframe);
    expect(damaged).toBeGreaterThan(picturesToRepaint([at(102)], keyframe));
    expect(damaged).toBeLessThan(90);
  });

  it('takes a place behind the last picture for the last group', () => {
    expect(picturesToRepaint([at(200)], keyframe)).toBeLessThan(30);
  });
});
