import { describe, expect, it } from 'vitest';
import { createDenseMemory } from '#server/media/network/dense-kernel.ts';
import { seededRandom } from '#server/test/seeded-random.ts';
import {
  createPitchFollower,
  createPitchScorer,
  PITCHES,
  type PitchView,
} from './repair-wind-noise-pitch.ts';

const BINS = 128;
const FRAMES = 30;
const score = createPitchScorer(BINS);

describe('createPitchFollower', () => {
  it('follows the harmonics of a gliding voice and not the gaps between them, through frames where it is covered', () => {
    const spacing = (at: number) => 11 + 0.05 * at;
    const views = Array.from({ length: FRAMES }, (_, at) =>
      makeView((k) => (at % 10 === 5 ? 0 : 2 + 2 * Math.cos((2 * Math.PI * k) / spacing(at)))),
    );
    follower().follow(views, new Float32Array(PITCHES), FRAMES);
    for (const [at, { comb }] of views.entries()) {
      for (const harmonic of [1, 2, 3, 4]) {
        expect(comb[Math.round(harmonic * spacing(at))]).toBeGreaterThan(0.3);
        expect(comb[Math.round((harmonic + 0.5) * spacing(at))]).toBeLessThan(-0.3);
      }
    }
  });

  it('is weak when nothing stands out at even distances', () => {
    const random = seededRandom(3);
    const views = Array.from({ length: FRAMES }, () => makeView(() => 4 * random() - 3));
    follower().follow(views, new Float32Array(PITCHES), FRAMES);
    const most = Math.max(...views.map(({ comb }) => Math.max(...comb.subarray(2))));
    expect(most).toBeLessThan(0.5);
  });

  it('continues from earlier frames that it was told to keep', () => {
    const random = seededRandom(4);
    const make = () => Array.from({ length: FRAMES }, () => makeView(() => 5 * random() - 1));
    const views = make();
    const copies = views.map(({ scores }) => ({ scores, comb: new Float32Array(BINS) }));
    follower().follow(views, new Float32Array(PITCHES), FRAMES);
    const inTwo = follower();
    const kept = new Float32Array(PITCHES);
    inTwo.follow(copies, kept, 12);
    inTwo.follow(copies.slice(12), kept, FRAMES - 12);
    expect(copies.map(({ comb }) => [...comb])).toEqual(views.map(({ comb }) => [...comb]));
  });
});

function follower() {
  return createPitchFollower(createDenseMemory(30_000), BINS, FRAMES);
}

function makeView(ratio: (bin: number) => number): PitchView {
  const scores = new Float32Array(PITCHES);
  score(
    Float32Array.from({ length: BINS }, (_, k) => ratio(k)),
    scores,
  );
  return { scores, comb: new Float32Array(BINS) };
}
