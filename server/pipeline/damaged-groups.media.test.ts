import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probe } from '#server/media/probe.ts';
import { runFfmpeg } from '#server/media/run-ffmpeg.ts';
import { runTool } from '#server/media/tools.ts';
import {
  corruptSamples,
  DEFAULT_ENCODE,
  injectTimestampGaps,
  makeMovingClip,
} from '#server/test/broken-clips.ts';
import { makeFolder, makeTask, mustBeOk, testTools as tools } from '#server/test/media-job.ts';
import { analysePicture } from './analyse/analyse-picture.ts';
import { processVideo } from './process-video.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
const at = (name: string) => path.join(folder.path, name);
beforeAll(async () => {
  folder = await makeFolder();
});
afterAll(() => folder.remove());

/** A clip of two seconds with one damaged picture; `x264` are encoder parameters that shape its groups. */
async function makeBroken(
  name: string,
  x264: string,
  frame: number,
  place = 0.4,
): Promise<{ clean: string; broken: string }> {
  const [clean, broken] = [at(`${name}.mp4`), at(`${name}-broken.mp4`)];
  const encode = [...DEFAULT_ENCODE, '-x264-params', x264];
  await makeMovingClip({
    tools,
    outputPath: clean,
    seconds: 2,
    width: 320,
    height: 192,
    sound: false,
    encode,
  });
  const fault = { fault: 'random', amount: 200, place, seed: 5 } as const;
  await corruptSamples({ tools, inputPath: clean, outputPath: broken, frames: [frame], ...fault });
  return { clean, broken };
}

/** Luma PSNR over all pictures, dB. */
async function psnr(one: string, other: string): Promise<number> {
  const lines: string[] = [];
  await runFfmpeg(
    {
      label: 'compare',
      inputs: [one, other].map((file) => ({ path: file, options: ['-threads', '1'] })),
      filterComplex: '[0:v]settb=1/90000[a];[1:v]settb=1/90000[b];[a][b]psnr[out]',
      logLevel: 'info',
      outputs: [{ path: '-', options: ['-map', '[out]', '-f', 'null'] }],
      expectedDurationMs: null,
    },
    { tools, onStderrLine: (line) => lines.push(line) },
  );
  return Number(/PSNR y:(\S+)/.exec(lines.join(' '))?.[1]);
}

/** Display numbers of the pictures that decode to other values than in the clean clip. */
async function differing(clean: string, broken: string): Promise<number[]> {
  const hashes = async (file: string) => {
    const args = ['-v', 'quiet', '-threads', '1', '-i', file, '-map', '0:v', '-f', 'framemd5', '-'];
    const { stdout } = await runTool('hash', tools.ffmpeg, args);
    return stdout.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  };
  const [want, got] = [await hashes(clean), await hashes(broken)];
  expect(got.length).toBe(want.length);
  return want.flatMap((line, frame) => (line === got[frame] ? [] : [frame]));
}

async function claimed(file: string): Promise<Set<number>> {
  const info = await probe(tools, file, 'mov');
  const { findings } = await analysePicture({ inputPath: file, info, tools });
  const frames = new Set<number>();
  for (const { kind, firstFrame, lastFrame } of findings) {
    if (kind !== 'corrupted_section' || firstFrame === null || lastFrame === null) continue;
    for (let frame = firstFrame; frame <= lastFrame; frame += 1) frames.add(frame);
  }
  return frames;
}

async function mend(file: string) {
  const io = { signal: new AbortController().signal, send: () => undefined };
  return mustBeOk(await processVideo(await makeTask(file, at(`${path.basename(file)}-work`)), io));
}

describe('damage in groups of pictures', () => {
  it.each([
    ['open groups', 'open-gop=1:keyint=20:min-keyint=20:bframes=3:scenecut=0', 16],
    ['a slow renewal in stripes', 'intra-refresh=1:keyint=20:bframes=0:scenecut=0', 25],
  ])('is claimed as far as it reaches in %s', async (name, x264, frame) => {
    const { clean, broken } = await makeBroken(name.replaceAll(' ', '-'), x264, frame);
    const spoilt = await differing(clean, broken);
    const found = await claimed(broken);
    expect(spoilt.length).toBeGreaterThan(3);
    expect(spoilt.filter((picture) => !found.has(picture))).toEqual([]);
  });

  it('in a key picture is concealed from what stands before it, as in one decode of the whole clip', async () => {
    const { clean, broken } = await makeBroken('key', 'keyint=20:min-keyint=20:scenecut=0', 40, 0.02);
    const { resultPath, report } = await mend(broken);
    const damage = report.defects.find(({ kind }) => kind === 'corrupted_section');
    expect(damage).toMatchObject({ outcome: 'repaired', action: 'concealed_frames' });
    expect(await psnr(resultPath ?? '', clean)).toBeGreaterThan((await psnr(broken, clean)) - 1);
  });

  it('in a clip that a cut by stream copy left without pictures before its last one is mended alone', async () => {
    const [whole, cut, broken] = [at('whole.mp4'), at('cut.mp4'), at('cut-broken.mp4')];
    const x264 = ['-x264-params', 'keyint=25:min-keyint=25:bframes=3:b-adapt=0:b-pyramid=none:scenecut=0'];
    const encode = [...DEFAULT_ENCODE, ...x264];
    await makeMovingClip({ tools, outputPath: whole, seconds: 3, width: 320, height: 192, encode });
    // The file that the first P picture of a new run of B pictures ends.
    const frames = ['-c', 'copy', '-frames:v', '56'];
    await runTool('cut', tools.ffmpeg, ['-v', 'error', '-i', whole, ...frames, '-y', cut]);
    const info = await probe(tools, cut, 'mov');
    const { pictures } = await analysePicture({ inputPath: cut, info, tools });
    const [last, before] = [pictures?.ptsTicks.at(-1) ?? 0, pictures?.ptsTicks.at(-2) ?? 0];
    expect(last - before).toBeGreaterThan(2 * (pictures?.medianIntervalTicks ?? Infinity));
    const fault = { fault: 'random', amount: 200, seed: 5 } as const;
    await corruptSamples({ tools, inputPath: cut, outputPath: broken, frames: [35], ...fault });
    const { report } = await mend(broken);
    expect(report.notes).toEqual([]);
    expect(report.video).toMatchObject({ treatment: 'smart_render', unitsTotal: 56 });
    expect(report.checks.filter(({ passed }) => !passed)).toEqual([]);
  });

  it('holes in the times of such a clip are filled without coding all pictures anew', async () => {
    const broken = at('holes.mp4');
    const x264 = ['-x264-params', 'keyint=250:bframes=3:b-adapt=0:b-pyramid=none:scenecut=0'];
    const encode = [...DEFAULT_ENCODE, ...x264];
    const holes = [{ frame: 30, count: 3 }];
    await injectTimestampGaps({ tools, inputPath: at('cut.mp4'), outputPath: broken, holes, encode });
    const { report } = await mend(broken);
    expect(report.video.treatment).toBe('smart_render');
    expect(report.checks.filter(({ passed }) => !passed)).toEqual([]);
    const filled = report.defects.filter(({ kind }) => kind === 'dropped_frames');
    expect(filled).toMatchObject([{ count: 3, outcome: 'repaired' }]);
  });

  it('in the first picture of a clip of one group leaves a clip that decodes in silence', async () => {
    const { clean, broken } = await makeBroken('one', 'keyint=250:scenecut=0', 0);
    expect((await claimed(broken)).size).toBe((await differing(clean, broken)).length);
    const { resultPath, report } = await mend(broken);
    const damage = report.defects.find(({ kind }) => kind === 'corrupted_section');
    expect(damage?.outcome).toBe('repaired');
    expect(damage?.explanation).toContain('no whole picture is left');
    const strict = ['-v', 'warning', '-threads', '1', '-err_detect', 'aggressive', '-i', resultPath ?? ''];
    expect((await runTool('decode', tools.ffmpeg, [...strict, '-f', 'null', '-'])).stderr).toBe('');
  });
});
