import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  corruptSamples,
  DEFAULT_ENCODE,
  injectTimestampGaps,
  makeMovingClip,
} from '#server/test/broken-clips.ts';
import { makeFolder, makeTask, mustBeOk, testTools as tools } from '#server/test/media-job.ts';
import { lumaPsnr } from '#server/test/psnr.ts';
import { processVideo } from './process-video.ts';
import { verifyClaims } from './publish/verify-claims.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
const at = (name: string) => path.join(folder.path, name);
beforeAll(async () => {
  folder = await makeFolder();
});
afterAll(() => folder.remove());

const IN_ONE_GROUP = 'keyint=250:min-keyint=250:scenecut=0:ref=1';
const WAYS = [
  // Without B pictures x264's picture order counts have no gap at a missing picture, and an inserted one needs no
  // count.
  {
    name: 'a picture put in alone',
    params: `${IN_ONE_GROUP}:bframes=0`,
    kept: 116,
    hole: 30,
    torn: 60,
    side: 'in front of',
  },
  // With B pictures there is no free count beside the hole, so all pictures behind it are re-encoded.
  {
    name: 'all behind coded anew',
    params: `${IN_ONE_GROUP}:bframes=2:b-adapt=0:b-pyramid=none`,
    kept: 20,
    hole: 90,
    torn: 39,
    side: 'behind',
  },
];

it.each(WAYS)(
  'damage is concealed with a hole in the times $side it, $name',
  async ({ params, kept, hole, torn }) => {
    const encode = [...DEFAULT_ENCODE, '-x264-params', params];
    const [clean, gap, originalPath] = [at('clean.mp4'), at('gap.mp4'), at(`${hole}-${kept}.mp4`)];
    const size = { width: 320, height: 192, seconds: 4 };
    await makeMovingClip({ tools, outputPath: clean, scenery: 'zoom', ...size, encode });
    const holes = [{ frame: hole, count: 3 }];
    await injectTimestampGaps({ tools, inputPath: clean, outputPath: gap, holes, encode });
    await corruptSamples({ tools, inputPath: gap, outputPath: originalPath, frames: [torn], fault: 'lost' });

    const io = { signal: new AbortController().signal, send: () => undefined };
    const task = await makeTask(originalPath, at(`${hole}-${kept}-work`));
    const { resultPath, report } = mustBeOk(await processVideo(task, io));
    const repairedPath = resultPath ?? '';

    const found = report.defects.filter(({ outcome }) => outcome !== 'flagged');
    expect(new Set(found.map((one) => `${one.kind} ${one.outcome}`))).toEqual(
      new Set(['dropped_frames repaired', 'corrupted_section repaired']),
    );
    expect(report.result.media.frameCount).toBe(120);
    expect(report.video.unitsKept).toBeGreaterThanOrEqual(kept);
    expect(report.checks.filter(({ passed }) => !passed)).toEqual([]);
    const claims = await verifyClaims({ originalPath, repairedPath, report, tools });
    expect(claims.filter(({ confirmed }) => !confirmed)).toEqual([]);
    // The hole alone gains less than 1 dB when it is behind the damage.
    expect(await lumaPsnr(repairedPath, clean)).toBeGreaterThan((await lumaPsnr(originalPath, clean)) + 2);
  },
);
