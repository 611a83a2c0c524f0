import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { corruptSamples, DEFAULT_ENCODE, makeMovingClip, type ByteFault } from '#server/test/broken-clips.ts';
import { makeFolder, makeTask, mustBeOk, testTools as tools } from '#server/test/media-job.ts';
import { onceForEach } from '#server/test/once-for-each.ts';
import { processVideo } from './process-video.ts';
import { verifyClaims } from './publish/verify-claims.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
const at = (name: string) => path.join(folder.path, name);
beforeAll(async () => {
  folder = await makeFolder();
});
afterAll(() => folder.remove());

/**
 * Number of pictures that the edit list of the clips hides: they are cut half a second after their first key picture.
 */
const HIDDEN = 15;

/** The whole clip that an encoder with these options makes. */
const wholeBy = onceForEach(async (options: string) => {
  const outputPath = at(`${options.replaceAll(/\W+/g, '-')}.mp4`);
  const size = { seconds: 3, width: 320, height: 192, sound: false } as const;
  await makeMovingClip({ tools, outputPath, ...size, encode: options.split(' ') });
  return outputPath;
});

/** A clip cut without re-encoding, so that an edit list hides its first pictures, some of which are damaged. */
async function makeCut(
  name: string,
  coding: string | { readonly encode: readonly string[] },
  frames: readonly number[],
  fault: ByteFault,
  from = '0.5',
) {
  const [cut, broken] = [at(`${name}.mp4`), at(`${name}-broken.mp4`)];
  const encode = typeof coding === 'string' ? [...DEFAULT_ENCODE, '-x264-params', coding] : coding.encode;
  const whole = await wholeBy(encode.join(' '));
  await runTool('cut', tools.ffmpeg, ['-v', 'error', '-ss', from, '-i', whole, '-c', 'copy', cut]);
  const listing = ['-select_streams', 'v:0', '-show_entries', 'packet=flags', '-of', 'csv=p=0', cut];
  const { stdout } = await runTool('list', tools.ffprobe, ['-v', 'error', ...listing]);
  expect(stdout.split('\n').filter((flags) => flags.includes('D')).length).toBe(HIDDEN);
  await corruptSamples({ tools, inputPath: cut, outputPath: broken, frames, fault, amount: 200, seed: 3 });
  return broken;
}

async function mend(file: string) {
  const io = { signal: new AbortController().signal, send: () => undefined };
  const done = mustBeOk(await processVideo(await makeTask(file, at(`${path.basename(file)}-work`)), io));
  const { resultPath, report } = done;
  expect(report.checks.filter(({ passed }) => !passed)).toEqual([]);
  const claims = await verifyClaims({
    originalPath: file,
    repairedPath: resultPath ?? file,
    report,
    tools,
  });
  expect(claims.filter(({ confirmed }) => !confirmed)).toEqual([]);
  return report;
}

const DAMAGE = { kind: 'corrupted_section', outcome: 'repaired' } as const;

describe('damage in a picture that an edit list hides', () => {
  it.each(['random', 'lost'] as const)(
    'and that shown ones refer to costs that picture alone its coded data (%s)',
    async (fault) => {
      const group = 'keyint=60:min-keyint=60:scenecut=0:bframes=0';
      const report = await mend(await makeCut(`referred-${fault}`, group, [8], fault));
      expect(report.defects.filter(({ kind }) => kind === 'corrupted_section')).toMatchObject([
        { ...DAMAGE, firstFrame: 0, lastFrame: 60 - HIDDEN - 1, action: 'concealed_frames' },
      ]);
      expect(report.video).toMatchObject({ treatment: 'smart_render', unitsKept: 89, unitsTotal: 90 });
    },
  );

  it('and that no picture refers to is no damage of any shown one, and no trouble to the repair of another', async () => {
    const group = 'keyint=60:min-keyint=60:scenecut=0:bframes=1:b-adapt=0';
    const report = await mend(await makeCut('alone', group, [7, HIDDEN + 60], 'random'));
    const damaged = report.defects.filter(({ kind }) => kind === 'corrupted_section');
    expect(damaged).toMatchObject([{ ...DAMAGE, firstFrame: 60, lastFrame: 60 }]);
    expect(report.video).toMatchObject({ treatment: 'smart_render', unitsKept: 89, unitsTotal: 90 });
  });

  it('and that shown ones of HEVC refer to has those coded anew, and no others', async () => {
    const x265 = 'keyint=60:min-keyint=60:scenecut=0:bframes=0:open-gop=0:log-level=none';
    const encode = ['-c:v', 'libx265', '-preset', 'fast', '-x265-params', x265, '-tag:v', 'hvc1'];
    const report = await mend(await makeCut('hevc', { encode }, [8], 'lost'));
    expect(report.defects.filter(({ kind }) => kind === 'corrupted_section')).toMatchObject([
      { ...DAMAGE, firstFrame: 0, lastFrame: 60 - HIDDEN - 1, action: 'concealed_frames' },
    ]);
    expect(report.video).toMatchObject({ treatment: 'smart_render', unitsKept: 30 + HIDDEN, unitsTotal: 90 });
  });

  it('is exchanged along with a shown one of its group, though nothing refers to it', async () => {
    const group = 'keyint=60:min-keyint=60:scenecut=0:bframes=1:b-adapt=0';
    const report = await mend(await makeCut('along', group, [7, 40], 'cut'));
    expect(report.defects.filter(({ kind }) => kind === 'corrupted_section')).toMatchObject([
      { ...DAMAGE, lastFrame: 60 - HIDDEN - 1, action: 'concealed_frames' },
    ]);
    // These two, and at most one B picture that copies motion from the shown one.
    expect(report.video.unitsKept).toBeGreaterThanOrEqual(87);
  });

  it('is told from its neighbours where the shown stretch begins between the times of two pictures', async () => {
    const group = 'keyint=60:min-keyint=60:scenecut=0:bframes=0';
    const report = await mend(await makeCut('between', group, [3], 'random', '0.49'));
    expect(report.video).toMatchObject({ treatment: 'smart_render', unitsKept: 89, unitsTotal: 90 });
  });
});
