import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probe } from '#server/media/probe/probe.ts';
import {
  corruptSamples,
  type CorruptSamplesInput,
  DEFAULT_ENCODE,
  injectHiddenDrops,
  injectRepeats,
  injectTimestampGaps,
  makeMovingClip,
} from '#server/test/broken-clips.ts';
import { makeFolder, makeTask, mustBeOk, testTools as tools } from '#server/test/media-job.ts';
import { analyseVideo } from './analyse/analyse-video.ts';
import { processVideo } from './process-video.ts';
import { verifyClaims } from './publish/verify-claims.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
const at = (name: string) => path.join(folder.path, name);
beforeAll(async () => {
  folder = await makeFolder();
  await makeMovingClip({ tools, outputPath: at('clean.mp4'), seconds: 3, width: 320, height: 192 });
});
afterAll(() => folder.remove());

/** One group, so that damage extends from its place to the end of the clip. */
const encode = [...DEFAULT_ENCODE, '-x264-params', 'keyint=250:min-keyint=250:scenecut=0:bframes=0:ref=1'];

type Torn = Partial<CorruptSamplesInput> & Pick<CorruptSamplesInput, 'fault'>;

async function mendTorn(name: string, torn: Torn = { fault: 'random', amount: 64, place: 0.5, seed: 5 }) {
  await corruptSamples({
    tools,
    inputPath: at(`${name}.mp4`),
    outputPath: at(`${name}-torn.mp4`),
    frames: [30],
    ...torn,
  });
  const originalPath = at(`${name}-torn.mp4`);
  const io = { signal: new AbortController().signal, send: () => undefined };
  const { resultPath, report } = mustBeOk(
    await processVideo(await makeTask(originalPath, at(`${name}-work`)), io),
  );
  const claims = await verifyClaims({ originalPath, repairedPath: resultPath ?? '', report, tools });
  expect(claims.filter(({ confirmed }) => !confirmed)).toEqual([]);
  const damage = report.defects.find(({ kind }) => kind === 'corrupted_section');
  expect(damage).toMatchObject({ outcome: 'repaired', action: 'concealed_frames' });
  expect(damage?.firstFrame).toBeLessThanOrEqual(30);
  return { report, damage, resultPath };
}

/** Analyses what a clip shows, ignoring what it notes about itself. */
async function lookAt(inputPath: string) {
  const info = await probe(tools, inputPath, 'mov');
  return analyseVideo({ inputPath, info, tools, believesFile: false });
}

describe('in a stretch that refers to damaged data', () => {
  it('held pictures are found and rebuilt', async () => {
    const runs = [{ frame: 50, count: 4 }];
    const files = { inputPath: at('clean.mp4'), outputPath: at('held.mp4') };
    await injectRepeats({ tools, ...files, history: 'held', runs, encode });
    const { report, damage } = await mendTorn('held');
    const stutter = report.defects.filter(({ kind }) => kind === 'stuttered_cut');
    expect(stutter).toMatchObject([
      { firstFrame: 51, lastFrame: 54, outcome: 'repaired', action: 'rebuilt_frames' },
    ]);
    expect(damage?.lastFrame).toBeGreaterThan(54);
    expect(damage?.explanation).toContain('4 of them repeat');
  });

  it('copies that made the clip longer are removed', async () => {
    const runs = [{ frame: 50, count: 4 }];
    const files = { inputPath: at('clean.mp4'), outputPath: at('inserted.mp4') };
    await injectRepeats({ tools, ...files, history: 'inserted', runs, encode });
    const { report } = await mendTorn('inserted');
    const stutter = report.defects.filter(({ kind }) => kind === 'stuttered_cut');
    expect(stutter).toMatchObject([{ firstFrame: 51, lastFrame: 54, action: 'removed_repeats' }]);
  });

  it('copies are found although one of them is damaged itself', async () => {
    const runs = [{ frame: 50, count: 5 }];
    const files = { inputPath: at('clean.mp4'), outputPath: at('lost.mp4') };
    await injectRepeats({ tools, ...files, history: 'inserted', runs, encode });
    const { report } = await mendTorn('lost', { fault: 'flip', place: 0.5, seed: 5, frames: [30, 53] });
    const stutter = report.defects.filter(({ kind }) => kind === 'stuttered_cut');
    expect(stutter).toMatchObject([{ firstFrame: 51, lastFrame: 55, action: 'removed_repeats' }]);
  });

  it('pictures that the times show as missing are restored', async () => {
    const files = { inputPath: at('clean.mp4'), outputPath: at('gap.mp4') };
    await injectTimestampGaps({ tools, ...files, holes: [{ frame: 50, count: 3 }], encode });
    const { report } = await mendTorn('gap');
    const holes = report.defects.filter(({ kind }) => kind === 'dropped_frames');
    expect(holes).toMatchObject([{ count: 3, outcome: 'repaired', action: 'rebuilt_frames' }]);
  });

  it('pictures that are missing without a trace in the times are restored, and a second analysis finds nothing more', async () => {
    const size = { width: 320, height: 192, seconds: 4 };
    await makeMovingClip({ tools, outputPath: at('zooming.mp4'), scenery: 'zoom', ...size });
    const files = { inputPath: at('zooming.mp4'), outputPath: at('hidden.mp4') };
    await injectHiddenDrops({ tools, ...files, holes: [{ frame: 50, count: 2 }], encode });
    const { report, resultPath } = await mendTorn('hidden');
    const holes = report.defects.filter(({ kind }) => kind === 'dropped_frames');
    expect(holes).toMatchObject([
      { firstFrame: 49, count: 2, outcome: 'repaired', action: 'rebuilt_frames' },
    ]);
    const inputPath = resultPath ?? '';
    const again = await lookAt(inputPath);
    expect(again.findings.filter(({ kind }) => kind === 'dropped_frames')).toEqual([]);
  });
});

it('a jump over a picture whose data are lost is none of a loss that nobody sees', async () => {
  const groups = 'keyint=30:min-keyint=30:scenecut=0:bframes=2:b-adapt=0';
  const encoder = [...DEFAULT_ENCODE, '-x264-params', groups];
  const size = { width: 320, height: 192, seconds: 3, sound: false };
  await makeMovingClip({ tools, outputPath: at('one.mp4'), scenery: 'zoom', encode: encoder, ...size });
  const inputPath = at('one-torn.mp4');
  // No picture refers to it, so the pictures on both sides of it are intact.
  await corruptSamples({
    tools,
    inputPath: at('one.mp4'),
    outputPath: inputPath,
    frames: [41],
    fault: 'lost',
  });
  const { findings } = await lookAt(inputPath);
  expect(findings.map(({ kind, firstFrame, lastFrame }) => [kind, firstFrame, lastFrame])).toEqual([
    ['corrupted_section', 41, 41],
  ]);
});

it('a hole within damage that lies over a cut shows the shot behind the cut', async () => {
  const groups = [...DEFAULT_ENCODE, '-x264-params', 'keyint=10:min-keyint=10:scenecut=0:bframes=0:ref=1'];
  const size = { width: 320, height: 192, seconds: 4, fps: 30 };
  // A new shot begins at picture 45, inside the group that is damaged from its second picture on.
  await makeMovingClip({ tools, outputPath: at('cuts.mp4'), scenery: 'cuts', ...size });
  const files = { inputPath: at('cuts.mp4'), outputPath: at('cut-gap.mp4') };
  await injectTimestampGaps({ tools, ...files, holes: [{ frame: 50, count: 6 }], encode: groups });
  const torn = at('cut-torn.mp4');
  const fault = { fault: 'random', amount: 24, place: 0.7, seed: 5 } as const;
  await corruptSamples({ tools, inputPath: at('cut-gap.mp4'), outputPath: torn, frames: [41], ...fault });
  const io = { signal: new AbortController().signal, send: () => undefined };
  const { resultPath, report } = mustBeOk(await processVideo(await makeTask(torn, at('cut-work')), io));
  const kinds = report.defects.map(({ kind, action }) => [kind, action]);
  expect(kinds).toEqual([
    ['corrupted_section', 'concealed_frames'],
    ['dropped_frames', 'rebuilt_frames'],
  ]);
  const inputPath = resultPath ?? '';
  const again = await lookAt(inputPath);
  // A picture of the shot before would add two cuts.
  expect(again.sceneCuts).toEqual([45, 90]);
});

it('damage is not rebuilt into pictures that jump themselves', async () => {
  const groups = [...DEFAULT_ENCODE, '-x264-params', 'keyint=30:min-keyint=30:scenecut=0:bframes=2:ref=3'];
  const size = { width: 320, height: 192, seconds: 4 };
  await makeMovingClip({ tools, outputPath: at('zoom.mp4'), scenery: 'zoom', ...size });
  const files = { inputPath: at('zoom.mp4'), outputPath: at('zoom-twice.mp4') };
  const runs = [{ frame: 50, count: 2 }];
  await injectRepeats({ tools, ...files, history: 'inserted', runs, encode: groups });
  const originalPath = at('zoom-torn.mp4');
  const torn = { inputPath: at('zoom-twice.mp4'), outputPath: originalPath };
  await corruptSamples({ tools, ...torn, frames: [53], fault: 'lost' });
  const io = { signal: new AbortController().signal, send: () => undefined };
  const { resultPath, report } = mustBeOk(
    await processVideo(await makeTask(originalPath, at('zoom-work')), io),
  );
  const inputPath = resultPath ?? '';
  const again = await lookAt(inputPath);
  expect(again.findings.filter(({ kind }) => kind === 'dropped_frames')).toEqual([]);
  const claims = await verifyClaims({ originalPath, repairedPath: inputPath, report, tools });
  expect(claims.filter(({ confirmed }) => !confirmed)).toEqual([]);
});
