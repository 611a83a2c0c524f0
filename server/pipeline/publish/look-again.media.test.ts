import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { TOOL_RUNS } from '#server/media/ffmpeg/tools.ts';
import { probe } from '#server/media/probe/probe.ts';
import { DEFAULT_ENCODE, injectHiddenDrops, makeMovingClip } from '#server/test/broken-clips.ts';
import { makeFolder, testTools as tools } from '#server/test/media-job.ts';
import { analysePicture } from '../analyse/analyse-picture.ts';
import type { Finding } from '../analyse/analysis.ts';
import { lookAgain } from './look-again.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
/** A clip that lacks four pictures. */
let lacking: Awaited<ReturnType<typeof makeLacking>>;
beforeAll(async () => {
  folder = await makeFolder();
  lacking = await makeLacking();
});
afterAll(() => folder.remove());

async function makeLacking() {
  const [clean, resultPath] = [path.join(folder.path, 'clean.mp4'), path.join(folder.path, 'result.mp4')];
  await makeMovingClip({ tools, outputPath: clean, seconds: 8, width: 320, height: 192, scenery: 'pan' });
  const holes = [{ frame: 100, count: 4 }];
  await injectHiddenDrops({ tools, inputPath: clean, outputPath: resultPath, holes });
  return { resultPath, info: await probe(tools, resultPath, 'mov') };
}

describe('lookAgain', () => {
  it('knows also in a stretch that the sound outlasts the pictures', async () => {
    const { resultPath, info } = lacking;
    const lost = (findings: readonly Finding[]) =>
      findings.filter(({ kind }) => kind === 'dropped_frames').map(({ firstFrame }) => firstFrame);
    const whole = await analysePicture({ inputPath: resultPath, info, tools });
    const seen = await lookAgain({
      resultPath,
      info,
      tools,
      freshFrames: [100],
      known: [],
      wasDamaged: false,
    });
    expect(seen.decoded).toBeLessThan(100);
    expect(lost(seen.findings)).toEqual(lost(whole.findings));
  });

  it('examines the ends of data once more only where the original has damaged ones', async () => {
    const { resultPath, info } = lacking;
    const runsOf = async (wasDamaged: boolean) => {
      const labels: string[] = [];
      const note = (run: unknown) => labels.push(z.object({ label: z.string() }).parse(run).label);
      subscribe(TOOL_RUNS, note);
      await lookAgain({ resultPath, info, tools, freshFrames: [100], known: [], wasDamaged });
      unsubscribe(TOOL_RUNS, note);
      return labels.filter((label) => label === 'check the ends of slices').length;
    };
    expect(await runsOf(true)).toBeGreaterThan(0);
    expect(await runsOf(false)).toBe(0);
  });

  it('does not mistake what a part of the clip lacks for damage when the picture is refreshed in stripes', async () => {
    const resultPath = path.join(folder.path, 'stripes.mp4');
    const groups = 'keyint=30:min-keyint=30:intra-refresh=1:scenecut=0:bframes=0:ref=4';
    const encode = [...DEFAULT_ENCODE, '-x264-params', groups];
    const size = { width: 320, height: 192, seconds: 8 };
    await makeMovingClip({ tools, outputPath: resultPath, scenery: 'zoom', encode, ...size });
    const info = await probe(tools, resultPath, 'mov');
    const { findings } = await lookAgain({
      resultPath,
      info,
      tools,
      freshFrames: [130],
      known: [],
      wasDamaged: true,
    });
    expect(findings.filter(({ kind }) => kind === 'corrupted_section')).toEqual([]);
  });
});
