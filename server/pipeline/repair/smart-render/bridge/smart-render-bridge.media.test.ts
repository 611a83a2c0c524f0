import { open } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { inNamesOf } from '#server/media/ffmpeg/ffmpeg-names.ts';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { corruptSamples } from '#server/test/broken-clips.ts';
import { onceForEach } from '#server/test/once-for-each.ts';
import { testTools as tools } from '#server/test/media-job.ts';
import { decodeHashes, encodeSource, pictureTypes, sharedFolder } from '#server/test/rendered-clips.ts';
import { renderEdit, shownTimes } from '#server/test/rendered-edits.ts';
import type { ChangedSpan } from '../../picture-edit.ts';

const folder = sharedFolder();

/** A size that is no multiple of 16, because pictures also refer to what lies in the margin. */
const SIZE = { width: 328, height: 198 };
const SOURCE = `testsrc2=s=${SIZE.width}x${SIZE.height}:r=30:d=4`;
const ONE_GROUP = '-pix_fmt yuv420p -c:v libx264 -g 600';
const PLAIN = `${ONE_GROUP} -preset veryfast -bf 0`;
const MAKERS = {
  'each picture refers to the one before': PLAIN,
  'variable-length coding and four references': `${ONE_GROUP} -profile:v baseline -preset fast -refs 4`,
  'B pictures in a pyramid': `${ONE_GROUP} -preset medium -bf 3`,
  'temporal direct prediction': `${ONE_GROUP} -preset veryfast -bf 2 -x264-params direct=temporal:ref=1`,
  'many slices and weighted prediction': `${ONE_GROUP} -preset medium -slices 3 -bf 2`,
};
const FIRST = 40;
const NEW_PICTURES = 3;

/** The clip that an encoder with these options makes of `SOURCE`. */
const clipBy = onceForEach((video: string) =>
  encodeSource(SOURCE, path.join(folder.path, `${video.replaceAll(/\W+/g, '-')}.mp4`), video.split(' ')),
);
const timesOf = onceForEach(shownTimes);
const hashesOf = onceForEach(decodeHashes);

/** Raw pictures from another time of the same clip. */
const rawOf = onceForEach(async (file: string): Promise<string> => {
  const rawPath = `${file}.raw`;
  const chosen = `select='between(n,100,${99 + NEW_PICTURES})'`;
  await runTool(
    'raw',
    tools.ffmpeg,
    await inNamesOf(tools, [
      ...'-v error -y -i'.split(' '),
      file,
      ...`-vf ${chosen} -fps_mode passthrough -f rawvideo`.split(' '),
      rawPath,
    ]),
  );
  return rawPath;
});

async function newPictures(file: string, first: number, count = NEW_PICTURES): Promise<ChangedSpan> {
  const times = await timesOf(file);
  const rawPath = await rawOf(file);
  return {
    firstFrame: first,
    endFrame: first + count,
    pictures: times.slice(first, first + count).map((ptsTicks, index) => {
      return { ptsTicks, pixels: { kind: 'raw', path: rawPath, index } as const };
    }),
    shiftAfterTicks: 0,
  };
}

/** Luma PSNR of picture `frame` of one clip against picture `other` of another. */
async function psnr(file: string, frame: number, truth: string, other: number): Promise<number> {
  const pick = (at: number) => `trim=start_frame=${at}:end_frame=${at + 1},setpts=0`;
  const graph = `[0:v]${pick(frame)}[a];[1:v]${pick(other)}[b];[a][b]psnr`;
  const inputs = ['-i', file, '-i', truth];
  const { stderr } = await runTool('compare', tools.ffmpeg, [
    ...inputs,
    '-filter_complex',
    graph,
    ...'-f null -'.split(' '),
  ]);
  return Number(/PSNR y:([\d.]+)/.exec(stderr)?.[1]);
}

describe('new pictures in a long group', () => {
  for (const [name, video] of Object.entries(MAKERS)) {
    it(`leave all others unchanged, except for a few copied sample by sample (${name})`, async () => {
      const id = name.replaceAll(' ', '-');
      const clip = await clipBy(video);
      const span = await newPictures(clip, FIRST);
      const { output, result } = await renderEdit(folder.path, clip, id, [span]);
      if (!result.done) throw new Error(result.reason);
      const [before, after] = [await hashesOf(clip), await decodeHashes(output)];
      expect(after.warnings).toBe('');
      expect(result.framesKept).toBeGreaterThanOrEqual(result.framesTotal - 12);
      const isTold = (frame: number) =>
        result.reencodedSpans.some(({ firstFrame, endFrame }) => frame >= firstFrame && frame < endFrame);
      const differing = before.hashes.flatMap((hash, frame) => (hash === after.hashes[frame] ? [] : [frame]));
      expect(differing.filter((frame) => !isTold(frame))).toEqual([]);
      expect(differing.slice(0, 1)).not.toEqual([]);
      // B pictures that refer to the new ones are encoded again; the rest of the group decodes to exactly the same
      // samples.
      expect(Math.max(...differing)).toBeLessThan(FIRST + NEW_PICTURES + 6);
      expect(after.hashes).toHaveLength(before.hashes.length);
      expect(await shownTimes(output)).toEqual(await timesOf(clip));
      expect(await psnr(output, FIRST + 1, clip, 101)).toBeGreaterThan(34);
    });
  }

  it.each([
    ['leave the rest as it is between two of them in one group', 'two', 60],
    [
      'leave what stands between two of them as it is, though next to nothing follows the second',
      'between',
      114,
    ],
  ])('%s', async (_name, id, second) => {
    const clip = await clipBy(PLAIN);
    const edit = [await newPictures(clip, 30), await newPictures(clip, second)];
    const { output, result } = await renderEdit(folder.path, clip, id, edit);
    if (!result.done) throw new Error(result.reason);
    const [before, after] = [await hashesOf(clip), await decodeHashes(output)];
    const differing = before.hashes.flatMap((hash, frame) => (hash === after.hashes[frame] ? [] : [frame]));
    expect(differing).toEqual([30, 31, 32, second, second + 1, second + 2]);
    expect(after.warnings).toBe('');
  });

  it('replace one that the decoder never gives, and leave the rest of its group unchanged', async () => {
    const clip = await clipBy(PLAIN);
    const whole = await hashesOf(clip);
    const span = { ...(await newPictures(clip, FIRST, 1)), mendsDamage: true };
    const lost = path.join(folder.path, 'lost-one.mp4');
    await corruptSamples({ tools, inputPath: clip, outputPath: lost, frames: [FIRST], fault: 'lost' });
    expect((await decodeHashes(lost)).hashes.length).toBeLessThan(whole.hashes.length);
    const { output, result } = await renderEdit(folder.path, lost, 'lost', [span]);
    if (!result.done) throw new Error(result.reason);
    const after = await decodeHashes(output);
    expect(after.hashes.length).toBe(whole.hashes.length);
    expect(after.warnings).toBe('');
    expect(result.framesKept).toBeGreaterThan(whole.hashes.length - 4);
  });

  it.each([
    ['copied sample by sample', 'places', SOURCE, 20],
    ['coded with losses, which are too large to be copied', 'large', 'testsrc2=s=800x448:r=30:d=4', 20],
    ['behind key pictures that nothing leads to', 'unled', SOURCE, 21],
  ])(
    'leave all undamaged pictures of open groups behind one start as they are, though a key picture and references are lost in several places (%s)',
    async (_name, id, source, keyint) => {
      const settings = 'open-gop=1:scenecut=0:b-adapt=0:b-pyramid=normal:ref=3';
      const video = `${ONE_GROUP} -g ${keyint} -bf 3 -preset veryfast -x264-params ${settings}`;
      const clip = await encodeSource(source, path.join(folder.path, `${id}.mp4`), video.split(' '));
      const types = await pictureTypes(clip);
      const find = (type: string, from: number) =>
        types.findIndex((own, frame) => frame >= from && own === type);
      const lost = [find('P', 30), find('I', 60), find('P', find('I', 75) + 1)];
      const broken = path.join(folder.path, `${id}-broken.mp4`);
      await corruptSamples({ tools, inputPath: clip, outputPath: broken, frames: lost, fault: 'lost' });
      const [first = 0, second = 0, third = 0] = lost;
      // The first picture is made again, the others stay as the decoder conceals them; pictures that refer to them
      // stay.
      const [raw] = (await newPictures(broken, first, 1)).pictures;
      const times = await shownTimes(broken);
      const spanOf = (at: number) => {
        const [firstFrame, endFrame] = [at - 3, find('I', at + 1)];
        const pictures = times.slice(firstFrame, endFrame).map((ptsTicks, index) => {
          const frame = firstFrame + index;
          return { ptsTicks, pixels: { kind: 'original', frame, intact: frame !== at } as const };
        });
        return { firstFrame, endFrame, pictures, shiftAfterTicks: 0, mendsDamage: true };
      };
      const made = spanOf(first);
      const pictures = made.pictures.map((picture, index) => (index === 3 && raw ? raw : picture));
      const edit = [{ ...made, pictures }, spanOf(second), spanOf(third)];
      const { output, result } = await renderEdit(folder.path, broken, id, edit);
      if (!result.done) throw new Error(result.reason);
      const [truth, after] = [await hashesOf(clip), await decodeHashes(output)];
      expect(after.warnings).toBe('');
      const isUndamaged = (frame: number) =>
        edit.every((span) => frame < span.firstFrame || frame >= span.endFrame);
      const differing = truth.hashes.flatMap((hash, frame) => (hash === after.hashes[frame] ? [] : [frame]));
      expect(differing).toContain(first);
      expect(differing.filter(isUndamaged)).toEqual([]);
      expect(result.framesKept).toBeGreaterThan(result.framesTotal / 2);
    },
  );

  it('leave what precedes a place unchanged when pictures are removed', async () => {
    const clip = await clipBy(PLAIN);
    const times = await timesOf(clip);
    const shiftAfterTicks = (times[100] ?? 0) - (times[102] ?? 0);
    const edit = [
      { ...(await newPictures(clip, 30)), mendsDamage: true },
      { firstFrame: 100, endFrame: 102, pictures: [], shiftAfterTicks },
    ];
    const { output, result } = await renderEdit(folder.path, clip, 'taken', edit);
    if (!result.done) throw new Error(result.reason);
    const [before, after] = [await hashesOf(clip), await decodeHashes(output)];
    const differing = before.hashes.flatMap((hash, frame) => (hash === after.hashes[frame] ? [] : [frame]));
    expect(differing.slice(0, 4)).toEqual([30, 31, 32, 100]);
    expect(after.hashes).toHaveLength(before.hashes.length - 2);
    expect(after.warnings).toBe('');
  });

  it('leave what precedes an unreadable picture unchanged', async () => {
    const clip = await clipBy(PLAIN);
    const span = { ...(await newPictures(clip, 30)), mendsDamage: true };
    const times = await timesOf(clip);
    const broken = path.join(folder.path, 'unread-broken.mp4');
    const fault = {
      inputPath: clip,
      outputPath: broken,
      frames: [100],
      tools,
      fault: 'zero',
      place: 0,
    } as const;
    const [hit] = await corruptSamples(fault);
    const file = await open(broken, 'r+');
    // The lengths of its units are lost too.
    await file.write(Buffer.alloc(16, 0xff), 0, 16, (hit?.offsetBytes ?? 0) - 16);
    await file.close();
    const shiftAfterTicks = (times[100] ?? 0) - (times[101] ?? 0);
    const edit = [span, { firstFrame: 100, endFrame: 101, pictures: [], shiftAfterTicks }];
    const { output, result } = await renderEdit(folder.path, broken, 'unread', edit);
    if (!result.done) throw new Error(result.reason);
    const [before, after] = [await hashesOf(clip), await decodeHashes(output)];
    const differing = before.hashes.flatMap((hash, frame) => (hash === after.hashes[frame] ? [] : [frame]));
    expect(differing.slice(0, 4)).toEqual([30, 31, 32, 100]);
    expect(after.warnings).toBe('');
  });

  it('leave the data of pictures unchanged that only refer to the damage they repair', async () => {
    const clip = await clipBy(PLAIN);
    const times = await timesOf(clip);
    const from = FIRST + 12;
    const pictures = times.slice(from).map((ptsTicks, index) => {
      return { ptsTicks, pixels: { kind: 'original', frame: from + index, intact: true } as const };
    });
    const edit = [
      { ...(await newPictures(clip, FIRST, 1)), mendsDamage: true },
      { firstFrame: from, endFrame: times.length, pictures, shiftAfterTicks: 0, mendsDamage: true },
    ];
    const { output, result } = await renderEdit(folder.path, clip, 'lean', edit);
    if (!result.done) throw new Error(result.reason);
    expect((await decodeHashes(output)).warnings).toBe('');
    expect(result.framesKept).toBeGreaterThan(times.length - 6);
  });

  it('leave the short rest of a group unchanged when they repair damage', async () => {
    const video = `${ONE_GROUP} -g 30 -bf 3 -preset medium -x264-params b-adapt=0:scenecut=0`;
    const clip = await clipBy(video);
    const span = await newPictures(clip, 36, 1);
    const render = async (id: string, mendsDamage: boolean) => {
      const { output, result } = await renderEdit(folder.path, clip, id, [{ ...span, mendsDamage }]);
      if (!result.done) throw new Error(result.reason);
      const [before, after] = [await hashesOf(clip), await decodeHashes(output)];
      expect(after.warnings).toBe('');
      expect(after.hashes[36]).not.toBe(before.hashes[36]);
      return before.hashes.filter((hash, frame) => hash !== after.hashes[frame]).length;
    };
    // Otherwise it is encoded again, because the rest costs less than verbatim pictures.
    expect(await render('short-held', false)).toBeGreaterThan(20);
    expect(await render('short-damage', true)).toBeLessThan(8);
  });

  it.each([
    ['ten bits', '-pix_fmt yuv420p10le -c:v libx264 -g 600 -bf 0 -preset veryfast', FIRST],
    ['a short rest of the group', PLAIN, 95],
  ])('are re-encoded with all that follows when it cannot be kept (%s)', async (name, video, first) => {
    const id = name.replaceAll(' ', '-');
    const clip = await clipBy(video);
    const span = await newPictures(clip, first);
    const { output, result } = await renderEdit(folder.path, clip, id, [span]);
    if (!result.done) throw new Error(result.reason);
    expect(result.framesKept).toBe(first);
    expect((await decodeHashes(output)).warnings).toBe('');
  });
});
