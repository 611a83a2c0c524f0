import { describe, expect, it } from 'vitest';
import { seededRandom } from '#server/test/seeded-random.ts';
import { type FrameLook, tellSounds } from './rebuild-index-part-sounds.ts';

/** Frames of one sound whose gain drifts about a level, with short windows here and there. */
function makeSound(seed: number, level: number, count: number): FrameLook[] {
  const random = seededRandom(seed);
  let gain = level;
  let endsLong = true;
  return Array.from({ length: count }, (_, index) => {
    gain += Math.round(4 * (random() - 0.5)) + Math.round((level - gain) / 8);
    const beginsLong = endsLong;
    endsLong = beginsLong ? random() > 0.03 : random() > 0.4;
    return { gains: [gain, gain + 1], beginsLong, endsLong, digest: `${seed}-${index}` };
  });
}

const even = ({ beginsLong: _begins, endsLong: _ends, ...look }: FrameLook): FrameLook => ({
  ...look,
  beginsLong: true,
  endsLong: true,
});

/** Frames of several sounds, one of each in turn. */
const inTurn = (sounds: readonly FrameLook[][]) =>
  (sounds[0] ?? []).flatMap((_, index) => sounds.flatMap((sound) => sound[index] ?? []));

/** Frames of several sounds, `pieceFrames` of each in turn. */
const inPieces = (sounds: readonly FrameLook[][], pieceFrames: number) =>
  Array.from({ length: Math.ceil((sounds[0]?.length ?? 0) / pieceFrames) }, (_, piece) =>
    sounds.flatMap((sound) => sound.slice(piece * pieceFrames, (piece + 1) * pieceFrames)),
  ).flat();

const lengths = (frames: readonly FrameLook[], most: number) =>
  Array.from({ length: Math.ceil(frames.length / most) }, (_, index) =>
    Math.min(most, frames.length - index * most),
  );

const every = (step: number, from: number, count: number) =>
  Array.from({ length: count }, (_, index) => from + index * step);

describe('tellSounds', () => {
  it.each([1, 2, 3, 4, 6, 12, 24])(
    'finds one where there is one, with %s frames between pictures',
    (most) => {
      for (const seed of [1, 2, 3, 4, 5]) {
        const frames = makeSound(seed, 150, 288);
        expect(tellSounds(frames, lengths(frames, most))).toHaveLength(1);
      }
    },
  );

  it('tells two of different levels apart by their gains', () => {
    const frames = inTurn([makeSound(1, 150, 200).map(even), makeSound(2, 170, 200).map(even)]);
    expect(tellSounds(frames, lengths(frames, 3))).toEqual([every(2, 0, 200), every(2, 1, 200)]);
  });

  it('tells two of the same level apart by their windows', () => {
    const frames = inTurn([makeSound(3, 150, 300), makeSound(4, 150, 300)]);
    expect(tellSounds(frames, lengths(frames, 3))).toEqual([every(2, 0, 300), every(2, 1, 300)]);
  });

  it('tells five apart', () => {
    const frames = inTurn([1, 2, 3, 4, 5].map((seed) => makeSound(seed, 130 + 10 * seed, 200)));
    expect(tellSounds(frames, lengths(frames, 7))).toEqual([0, 1, 2, 3, 4].map((at) => every(5, at, 200)));
  });

  it('tells two apart of which one is the other with more in it', () => {
    const program = makeSound(1, 150, 200).map(even);
    // A voice in every third second.
    const mixed = program.map((look, index) =>
      index % 141 < 47 ? { ...look, gains: look.gains.map((gain) => gain + 1), digest: `m${index}` } : look,
    );
    const frames = inTurn([mixed, program]);
    expect(tellSounds(frames, lengths(frames, 4))).toEqual([every(2, 0, 200), every(2, 1, 200)]);
  });

  it('tells two apart that lie in pieces between the pictures', () => {
    const sounds = [makeSound(1, 150, 240), makeSound(2, 170, 240)];
    const frames = inPieces(sounds, 12);
    const parts = tellSounds(frames, lengths(frames, 24));
    expect(parts).toHaveLength(2);
    expect(parts[0]?.map((index) => frames[index]?.digest)).toEqual(sounds[0]?.map(({ digest }) => digest));
  });

  it('parts no silence, whose frames are all alike', () => {
    const silence = Array.from({ length: 200 }, () => ({
      gains: [160, 160],
      beginsLong: true,
      endsLong: true,
      digest: 'silence',
    }));
    expect(tellSounds(silence, lengths(silence, 2))).toHaveLength(1);
  });
});
