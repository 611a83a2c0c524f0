import { existsSync } from 'node:fs';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { corruptSamples, makeMovingClip } from '#server/test/broken-clips.ts';
import { runTool, TOOL_RUNS } from '#server/media/ffmpeg/tools.ts';
import { testTools as tools } from '#server/test/media-job.ts';
import { lumaPsnr } from '#server/test/psnr.ts';
import { decodeHashes, encodeSource, pictureTypes, sharedFolder } from '#server/test/rendered-clips.ts';
import { renderEdit, shownTimes } from '#server/test/rendered-edits.ts';
import type { PictureEdit } from '../../picture-edit.ts';

const folder = sharedFolder();

/** Hash of each picture as a forgiving decoder shows it. */
async function shownHashes(file: string): Promise<string[]> {
  return (await decodeHashes(file, '-v quiet -threads 1')).hashes;
}

const ONE_GROUP = '-pix_fmt yuv420p -c:v libx264 -g 600';
/** A size that is no multiple of 16, because pictures also refer to what lies in the margin. */
const SOURCE = 'testsrc2=s=328x198:r=30:d=2';
/** Bytes of one verbatim picture of the clips, 640 x 368 of 4:2:0. */
const VERBATIM_BYTES = 640 * 368 * 1.5;
/** Each picture refers to the one before. */
const PLAIN = `${ONE_GROUP} -preset veryfast -bf 0`;
/** Four pictures lie between a picture and its reference, so the decoder's concealment is not always improved. */
const PYRAMID = 'B pictures in a pyramid';
const MAKERS = {
  'each picture refers to the one before': PLAIN,
  'variable-length coding': `${ONE_GROUP} -profile:v baseline -preset fast`,
  [PYRAMID]: `${ONE_GROUP} -preset medium -bf 3`,
  'renewal in stripes': `${ONE_GROUP} -preset veryfast -bf 0 -x264-params intra-refresh=1:keyint=25`,
};

/** A clip by an encoder with these options; made once for all tests that need it. */
async function movingClip(video: string, width = 640, height = 360, seconds = 2): Promise<string> {
  const name = `${video} ${width}`.replaceAll(/\W+/g, '-');
  const outputPath = path.join(folder.path, `${name}.mp4`);
  const encode = video.split(' ');
  if (!existsSync(outputPath))
    await makeMovingClip({ tools, outputPath, seconds, width, height, sound: false, encode });
  return outputPath;
}

/** The first of these pictures that differs from the intact clip. */
async function firstChanged(clip: string, hashes: readonly string[]): Promise<number> {
  const { hashes: truth } = await decodeHashes(clip);
  return hashes.findIndex((hash, frame) => hash !== truth[frame]);
}

/** Keeps all pictures from the damaged one on as the decoder conceals the loss. */
async function keepFrom(broken: string, damaged: number, end: number): Promise<PictureEdit> {
  const times = await shownTimes(broken);
  const pictures = times.slice(damaged, end).map((ptsTicks, index) => {
    const frame = damaged + index;
    return { ptsTicks, pixels: { kind: 'original', frame, intact: frame !== damaged } as const };
  });
  return [{ firstFrame: damaged, endFrame: end, pictures, shiftAfterTicks: 0 }];
}

/** How often some work decodes trials of an exchange. */
async function countDecodes(work: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const onToolRun = (run: unknown) => {
    const label = typeof run === 'object' && run !== null && 'label' in run ? run.label : null;
    if (typeof label === 'string' && /^decode (damaged|exchanged) pictures/.test(label)) count += 1;
  };
  subscribe(TOOL_RUNS, onToolRun);
  try {
    await work();
  } finally {
    unsubscribe(TOOL_RUNS, onToolRun);
  }
  return count;
}

describe('a damaged picture in a long group', () => {
  for (const [name, video] of Object.entries(MAKERS)) {
    it(`is exchanged alone, and every other coded picture stays (${name})`, async () => {
      const id = name.replaceAll(' ', '-');
      const clip = await movingClip(video);
      const broken = path.join(folder.path, `${id}-broken.mp4`);
      const types = await pictureTypes(clip);
      const damaged = types.findIndex((type, frame) => frame >= 20 && type === 'P');
      await corruptSamples({
        inputPath: clip,
        outputPath: broken,
        frames: [damaged],
        tools,
        fault: 'random',
        amount: 24,
        place: 0.5,
        seed: 3,
      });
      const before = await shownHashes(broken);
      const edit = await keepFrom(broken, damaged, before.length);
      const first = await firstChanged(clip, before);
      const { output, result } = await renderEdit(folder.path, broken, id, edit);
      if (!result.done) throw new Error(result.reason);
      const after = await decodeHashes(output);
      expect(after.warnings).toBe('');
      expect(after.hashes).toHaveLength(before.length);
      expect(after.hashes.slice(0, first)).toEqual(before.slice(0, first));
      expect(result.framesKept).toBeGreaterThanOrEqual(result.framesTotal - 4);
      const growthBytes = (await stat(output)).size - (await stat(broken)).size;
      // The readable part keeps its data. B pictures of the pyramid depend on it; the edit takes them for intact.
      if (name !== PYRAMID) expect(growthBytes).toBeLessThan(VERBATIM_BYTES / 10);
      const [was, is] = [await lumaPsnr(broken, clip), await lumaPsnr(output, clip)];
      // The damage was real, and the result is better than the decoder's concealment.
      expect(was).toBeLessThan(40);
      expect(is).toBeGreaterThan(was + (name === PYRAMID ? -0.1 : 1));
    });
  }

  it('is decoded twice when nothing conceals it better: as it is, and with the picture in its place', async () => {
    const clip = await movingClip(PLAIN);
    const broken = path.join(folder.path, 'few-broken.mp4');
    const harm = { fault: 'random', amount: 24, place: 0.5, seed: 3 } as const;
    await corruptSamples({ tools, inputPath: clip, outputPath: broken, frames: [30], ...harm });
    const edit = await keepFrom(broken, 30, (await shownTimes(broken)).length);
    // The first decode already showed what it could be concealed from.
    expect(await countDecodes(() => renderEdit(folder.path, broken, 'few', edit))).toBe(2);
  });

  it('is exchanged for what the decoder put in its place when all of it is lost, in open groups after one start', async () => {
    const video =
      '-pix_fmt yuv420p -c:v libx264 -preset medium -g 24 -bf 2 -x264-params open-gop=1:scenecut=0';
    const source = 'testsrc2=s=328x198:r=30:d=3';
    const clip = await encodeSource(source, path.join(folder.path, 'open.mp4'), video.split(' '));
    const types = await pictureTypes(clip);
    const lost = types.findIndex((type, frame) => frame >= 30 && type === 'P');
    const next = types.findIndex((type, frame) => frame > lost && type === 'I');
    expect(next).toBeGreaterThan(lost);
    const broken = path.join(folder.path, 'open-broken.mp4');
    await corruptSamples({ inputPath: clip, outputPath: broken, frames: [lost], tools, fault: 'lost' });
    const times = await shownTimes(broken);
    const first = lost - 2;
    const pictures = times.slice(first, next).map((ptsTicks, index) => {
      const frame = first + index;
      return { ptsTicks, pixels: { kind: 'original', frame, intact: frame !== lost } as const };
    });
    const edit = [{ firstFrame: first, endFrame: next, pictures, shiftAfterTicks: 0 }];
    const { output, result } = await renderEdit(folder.path, broken, 'open', edit);
    if (!result.done) throw new Error(result.reason);
    expect(result.framesKept).toBeGreaterThanOrEqual(result.framesTotal - 8);
    const [truth, after] = [await decodeHashes(clip), await decodeHashes(output)];
    expect(after.warnings).toBe('');
    expect(after.hashes.slice(next)).toEqual(truth.hashes.slice(next));
    expect(after.hashes.slice(0, first)).toEqual(truth.hashes.slice(0, first));
  });

  it('is exchanged alone after a lost picture of the same group that is rebuilt', async () => {
    const clip = path.join(folder.path, 'behind.mp4');
    const video = `${ONE_GROUP} -preset medium -bf 2 -x264-params b-adapt=0:b-pyramid=none`;
    await makeMovingClip({
      tools,
      outputPath: clip,
      seconds: 3,
      fps: 24,
      sound: false,
      encode: video.split(' '),
    });
    const types = await pictureTypes(clip);
    const find = (type: string, from: number) =>
      types.findIndex((own, frame) => frame >= from && own === type);
    const [lost, damaged] = [find('B', 20), find('P', 40)];
    const [once, broken] = ['once', 'behind-broken'].map((name) => path.join(folder.path, `${name}.mp4`));
    if (!once || !broken) throw new Error('The files have no names.');
    await corruptSamples({ tools, inputPath: clip, outputPath: once, frames: [lost], fault: 'lost' });
    const cut = { frames: [damaged], fault: 'cut', place: 0.4 } as const;
    await corruptSamples({ tools, inputPath: once, outputPath: broken, ...cut });
    const rawPath = path.join(folder.path, 'behind.raw');
    const chosen = `select='eq(n,${lost})'`;
    const decode = [
      '-v',
      'error',
      '-y',
      '-i',
      clip,
      '-vf',
      chosen,
      '-frames:v',
      '1',
      '-f',
      'rawvideo',
      rawPath,
    ];
    await runTool('raw', tools.ffmpeg, decode);
    const times = await shownTimes(broken);
    const edit: PictureEdit = [
      {
        firstFrame: lost,
        endFrame: lost + 1,
        pictures: [{ ptsTicks: times[lost] ?? 0, pixels: { kind: 'raw', path: rawPath, index: 0 } }],
        shiftAfterTicks: 0,
        mendsDamage: true,
      },
      ...(await keepFrom(broken, damaged, times.length)).map((span) => ({ ...span, mendsDamage: true })),
    ];
    const { output, result } = await renderEdit(folder.path, broken, 'behind', edit);
    if (!result.done) throw new Error(result.reason);
    const [truth, after] = [await decodeHashes(clip), await decodeHashes(output)];
    expect(after.warnings).toBe('');
    expect(after.hashes).toHaveLength(truth.hashes.length);
    const differing = truth.hashes.flatMap((hash, frame) => (hash === after.hashes[frame] ? [] : [frame]));
    expect(differing.slice(0, 2)).toEqual([lost, damaged - 2]);
    // The result is better than the decoder's concealment: 35.9 instead of 32.7 dB.
    expect(await lumaPsnr(output, clip)).toBeGreaterThan((await lumaPsnr(broken, clip)) + 2);
    expect(result.framesKept).toBeGreaterThanOrEqual(result.framesTotal - 6);
  });

  it.each([
    [1, 640, 360],
    [3, 640, 360],
    // More pictures than the clip may hold sample by sample: they are coded as moved blocks.
    [6, 1280, 720],
  ])(
    'moves on from the one before where all of it is lost (%i in a row, %i x %i)',
    async (count, width, height) => {
      const clip = await movingClip(PLAIN, width, height, count > 3 ? 1.5 : 2);
      const broken = path.join(folder.path, `gone-${count}-broken.mp4`);
      const lost = Array.from({ length: count }, (_, at) => 30 + at);
      await corruptSamples({ tools, inputPath: clip, outputPath: broken, frames: lost, fault: 'lost' });
      const times = await shownTimes(broken);
      const pictures = times.slice(30).map((ptsTicks, index) => {
        const frame = 30 + index;
        return { ptsTicks, pixels: { kind: 'original', frame, intact: !lost.includes(frame) } as const };
      });
      const edit = [{ firstFrame: 30, endFrame: times.length, pictures, shiftAfterTicks: 0 }];
      const { output, result } = await renderEdit(folder.path, broken, `gone-${count}`, edit);
      if (!result.done) throw new Error(result.reason);
      expect(result.framesKept).toBe(result.framesTotal - count);
      const [truth, after] = [await decodeHashes(clip), await decodeHashes(output)];
      expect(after.warnings).toBe('');
      expect(after.hashes.slice(0, 30)).toEqual(truth.hashes.slice(0, 30));
      // The decoder repeats the picture before, which lags behind up to the end of the group.
      expect(await lumaPsnr(output, clip)).toBeGreaterThan(
        (await lumaPsnr(broken, clip)) + (count > 3 ? 1 : 2),
      );
    },
  );

  it('is re-encoded with what follows when its own data are not known to be the only damaged ones', async () => {
    const clip = await encodeSource(
      SOURCE,
      path.join(folder.path, 'all.mp4'),
      `${ONE_GROUP} -bf 0`.split(' '),
    );
    const times = await shownTimes(clip);
    const pictures = times.slice(20).map((ptsTicks, index) => {
      return { ptsTicks, pixels: { kind: 'original', frame: 20 + index } as const };
    });
    // More verbatim pictures than a small clip may hold.
    const edit = [{ firstFrame: 20, endFrame: times.length, pictures, shiftAfterTicks: 0 }];
    const { output, result } = await renderEdit(folder.path, clip, 'all', edit);
    if (!result.done) throw new Error(result.reason);
    expect(result.framesKept).toBe(20);
    expect((await decodeHashes(output)).warnings).toBe('');
  });
});
