import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probe } from '#server/media/probe.ts';
import { injectHiddenDrops, makeMovingClip } from '#server/test/broken-clips.ts';
import { makeFolder, testTools as tools } from '#server/test/media-job.ts';
import { analysePicture } from '../analyse/analyse-picture.ts';
import type { Finding } from '../analyse/analysis.ts';
import { lookAgain } from './look-again.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
beforeAll(async () => {
  folder = await makeFolder();
});
afterAll(() => folder.remove());

describe('lookAgain', () => {
  it('knows in a stretch too that the sound outlasts the pictures', async () => {
    const [clean, resultPath] = [path.join(folder.path, 'clean.mp4'), path.join(folder.path, 'result.mp4')];
    await makeMovingClip({ tools, outputPath: clean, seconds: 8, width: 320, height: 192, scenery: 'pan' });
    const holes = [{ frame: 100, count: 4 }];
    await injectHiddenDrops({ tools, inputPath: clean, outputPath: resultPath, holes });
    const info = await probe(tools, resultPath, 'mov');
    const lost = (findings: readonly Finding[]) =>
      findings.filter(({ kind }) => kind === 'dropped_frames').map(({ firstFrame }) => firstFrame);
    const whole = await analysePicture({ inputPath: resultPath, info, tools });
    const seen = await lookAgain({ resultPath, info, tools, freshFrames: [100], known: [] });
    expect(seen.decoded).toBeLessThan(100);
    expect(lost(seen.findings)).toEqual(lost(whole.findings));
  });
});
