import { open } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { probe } from '#server/media/probe/probe.ts';
import { makeMovingClip } from '#server/test/broken-clips.ts';
import { testTools as tools } from '#server/test/media-job.ts';
import { sharedFolder } from '#server/test/rendered-clips.ts';
import { keyQuantisers, rateFactorFor } from './smart-render-rate.ts';
import { openSmartSource } from './smart-render-source.ts';

const folder = sharedFolder();

async function readKeys(name: string, encode: readonly string[]): Promise<number[]> {
  const outputPath = path.join(folder.path, `${name}.mp4`);
  await makeMovingClip({ tools, outputPath, seconds: 1, width: 320, height: 192, sound: false, encode });
  const file = await open(outputPath, 'r');
  try {
    const answer = await openSmartSource(file, await probe(tools, outputPath, 'mov'));
    if (!answer.ok) throw new Error(answer.reason);
    return keyQuantisers(answer.source, await answer.source.units(0));
  } finally {
    await file.close();
  }
}

describe('rate factor of new pictures', () => {
  it.each([
    ['fine', 12, '-x264-params cabac=1:slices=1'],
    ['coarse', 30, '-x264-params cabac=1:slices=1'],
    ['variable-length codes, four slices', 20, '-profile:v baseline -x264-params slices=4'],
  ])('follows the quality of key pictures (%s)', async (name, quantiser, more) => {
    const keys = await readKeys(name, [
      ...`-c:v libx264 -preset veryfast -qp ${quantiser}`.split(' '),
      ...more.split(' '),
    ]);
    expect(keys.length).toBeGreaterThan(0);
    // x264 codes key pictures with a quantiser about three steps lower.
    for (const key of keys) {
      expect(key).toBeLessThanOrEqual(quantiser);
      expect(key).toBeGreaterThan(quantiser - 6);
    }
  });

  it('is the usual one beside coarse or unread key pictures, finer beside fine ones, within bounds', () => {
    expect(rateFactorFor([])).toBe(22);
    expect(rateFactorFor([31, 28])).toBe(22);
    expect(rateFactorFor([18])).toBe(20);
    expect(rateFactorFor([3, 4, 30])).toBe(18);
  });
});
