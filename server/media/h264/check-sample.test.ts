import { describe, expect, it } from 'vitest';
import { findSampleFault } from './check-sample.ts';
import { splitSample } from './nal.ts';

/** An application's own unit, of type 31, as one of them puts it in front of key pictures. */
const OWN = [0x1f, 0x01, 0x70, 0x75, 0x82, 0xc8];
/** Key slices that begin a picture, and that go on with one. */
const FIRST_SLICE = [0x65, 0x88, 0x84, 0x21, 0xa0, 0x7f];
const LATER_SLICE = [0x65, 0x12, 0x84, 0x21, 0xa0, 0x7f];

const sampleOf = (...units: readonly (readonly number[])[]) =>
  Buffer.from(units.flatMap((unit) => [0, 0, 0, unit.length, ...unit]));

describe('findSampleFault', () => {
  it("does not mistake an application's own unit before an intact picture for damage", () => {
    expect(findSampleFault(sampleOf(FIRST_SLICE, LATER_SLICE), 4)).toBeNull();
    expect(findSampleFault(sampleOf(OWN, FIRST_SLICE, LATER_SLICE), 4)).toBeNull();
  });

  it('reports such a unit when it may be a damaged slice', () => {
    expect(findSampleFault(sampleOf(FIRST_SLICE, OWN), 4)).not.toBeNull();
    expect(findSampleFault(sampleOf(OWN, LATER_SLICE), 4)).not.toBeNull();
    expect(findSampleFault(sampleOf(OWN), 4)).not.toBeNull();
  });

  it('reads a picture behind one length, with start codes between its units, as phones write slow motion', () => {
    const prefix = [0x6e, 0xc0, 0x80, 0x0f];
    const code = [0, 0, 0, 1];
    const inOne = (...units: readonly (readonly number[])[]) =>
      sampleOf(units.flatMap((unit, at) => (at === 0 ? unit : [...code, ...unit])));
    expect(findSampleFault(inOne(prefix, [0x06, 0x05, 0x01], FIRST_SLICE), 4)).toBeNull();
    expect(findSampleFault(inOne([0x09, 0xf0], FIRST_SLICE), 4)).toBeNull();
    expect(splitSample(inOne(prefix, FIRST_SLICE), 4)).toEqual(
      [prefix, FIRST_SLICE].map((unit) => Buffer.from(unit)),
    );
    // Damage in such a picture, and start codes where none can be.
    expect(findSampleFault(inOne(prefix, [...FIRST_SLICE, 0, 0, 0, 0, 7]), 4)).not.toBeNull();
    expect(findSampleFault(inOne(prefix, [0xe5, 0x88]), 4)).not.toBeNull();
    expect(findSampleFault(inOne([...prefix, 0x12], FIRST_SLICE), 4)).not.toBeNull();
    expect(findSampleFault(inOne(FIRST_SLICE, LATER_SLICE), 4)).not.toBeNull();
  });

  it('reports bytes in it that cannot occur, and the forbidden bit', () => {
    expect(findSampleFault(sampleOf([0x1f, 1, 0, 0, 1, 5], FIRST_SLICE), 4)).not.toBeNull();
    expect(findSampleFault(sampleOf([0x9f, 1, 2], FIRST_SLICE), 4)).not.toBeNull();
  });
});
