import { describe, expect, it } from 'vitest';
import { knownFlaw, knownLimit } from './known-flaws.ts';

describe('knownFlaw', () => {
  it('reports a build before the fix of its line, and none after it', () => {
    expect(knownFlaw('5.1.9-0+deb12u1')).toContain('repaired in 5.1.10');
    expect(knownFlaw('7.1.5-0+deb13u1')).toBeNull();
    expect(knownFlaw('9.0.2-4')).toBeNull();
  });
});

describe('knownLimit', () => {
  it('reports what old and new builds cannot do, and nothing for those between', () => {
    expect(knownLimit('N-47683-g0e8eb07980-static')).toContain('Install a newer one');
    for (const version of ['4.2.2-1ubuntu1', '5.1.9-0+deb12u1', '6.1.1-3ubuntu5'])
      expect(knownLimit(version)).toBeNull();
    for (const version of ['7.1.5-0+deb13u1', '9.0.2-4']) expect(knownLimit(version)).toContain('HEVC');
  });
});
