import { describe, expect, it } from 'vitest';
import { LEVELS, levelFor } from './reputation.ts';

describe('levelFor', () => {
  it.each([
    [0, 'Newcomer'],
    [49, 'Newcomer'],
    [50, 'Contributor'],
    [149, 'Contributor'],
    [150, 'Innovator'],
    [299, 'Innovator'],
    [300, 'Expert'],
    [499, 'Expert'],
    [500, 'Guru'],
    [999, 'Guru'],
    [1000, 'Legend'],
    [99_999, 'Legend'],
  ])('gives %i points the level %s', (points, name) => expect(levelFor(points).name).toBe(name));

  it('never falls below the first level', () => expect(levelFor(-1).name).toBe('Newcomer'));

  it('gives every level its own colour and icon', () => {
    expect(new Set(LEVELS.map((level) => level.icon)).size).toBe(LEVELS.length);
    expect(new Set(LEVELS.map((level) => level.colour)).size).toBe(LEVELS.length);
  });
});
