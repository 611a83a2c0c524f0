import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { probe } from '#server/media/probe/probe.ts';
import { DEFAULT_ENCODE, injectRepeats, makeMovingClip, type RepeatRun } from '#server/test/broken-clips.ts';
import { moveSound } from '#server/test/broken-sound.ts';
import { detailedPicture } from '#server/test/detailed-picture.ts';
import { testTools as tools } from '#server/test/media-job.ts';
import { encodeSource, sharedFolder } from '#server/test/rendered-clips.ts';
import { analysePicture } from '../analyse-picture.ts';

const folder = sharedFolder();
const at = (name: string) => path.join(folder.path, name);

async function repeatsIn(file: string) {
  const { findings } = await analysePicture({
    inputPath: file,
    info: await probe(tools, file, 'mov'),
    tools,
  });
  return findings.flatMap(({ detail, firstFrame, lastFrame }) =>
    detail.kind === 'stuttered_cut' ? [{ history: detail.history, firstFrame, lastFrame }] : [],
  );
}

/** Writes `repeats.mp4` and gives the truth about it. */
async function plant(
  history: 'held' | 'inserted',
  runs: readonly RepeatRun[],
  encode: readonly string[] = DEFAULT_ENCODE,
  source = 'pan.mp4',
) {
  const outputPath = at('repeats.mp4');
  const truth = await injectRepeats({ tools, inputPath: at(source), outputPath, history, runs, encode });
  return truth.map(({ firstFrame, lastFrame }) => ({ history, firstFrame, lastFrame }));
}

async function planted(...what: Parameters<typeof plant>) {
  const truth = await plant(...what);
  return { truth, found: await repeatsIn(at('repeats.mp4')) };
}

const CLOSE: readonly RepeatRun[] = [40, 58, 78, 95, 120].map((frame) => ({ frame, count: 3 }));

describe('repeats in a coded clip', () => {
  beforeAll(() => makeMovingClip({ tools, outputPath: at('pan.mp4'), seconds: 6 }));

  it('are found and separated when several runs are close together', async () => {
    const held = await planted('held', CLOSE);
    expect(held.found).toEqual(held.truth);
    const inserted = await planted('inserted', CLOSE);
    expect(inserted.found).toEqual(inserted.truth);
  });

  it('are found in the first and the last second', async () => {
    const { truth, found } = await planted('inserted', [
      { frame: 3, count: 4 },
      { frame: 174, count: 5 },
    ]);
    expect(found).toEqual(truth);
  });

  it('are found as copies when late sound ends with the picture that they made longer', async () => {
    const truth = await plant('inserted', [
      { frame: 60, count: 8 },
      { frame: 120, count: 8 },
    ]);
    const outputPath = at('late.mp4');
    await moveSound({ tools, inputPath: at('repeats.mp4'), outputPath, offsetMs: 533 });
    expect(await repeatsIn(outputPath)).toEqual(truth);
  });

  it('are found when the encoder leaves much noise in them', async () => {
    const encode = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '28', '-threads', '1'];
    const { truth, found } = await planted('held', CLOSE, encode);
    expect(found).toEqual(truth);
  });
});

describe('repeats of a ball flying over black', () => {
  beforeAll(() =>
    encodeSource(
      'color=black:size=640x360:rate=30:duration=6,format=yuv420p[black];color=red:size=48x48:rate=30:duration=6[ball];' +
        "[black][ball]overlay=x='mod(160*t,592)':y='abs(mod(120*t,624)-312)':eval=frame",
      at('ball.mp4'),
      [...DEFAULT_ENCODE, '-pix_fmt', 'yuv420p'],
    ),
  );

  it('are found and separated, though it is small and everything else is still', async () => {
    const runs = [40, 85, 130].map((frame, k) => ({ frame, count: 2 + k }));
    for (const history of ['held', 'inserted'] as const) {
      const { truth, found } = await planted(history, runs, DEFAULT_ENCODE, 'ball.mp4');
      expect(found).toEqual(truth);
    }
  });
});

describe('a coded clip without repeats', () => {
  it('is left alone when a still fades in, rests and fades out', async () => {
    const still =
      `${await detailedPicture(tools, 640, 360)},loop=-1:1,settb=1/30,setpts=N,` +
      'trim=end_frame=120,fade=in:30:20,fade=out:58:20,fps=30';
    const outputPath = await encodeSource(still, at('still.mp4'), [...DEFAULT_ENCODE, '-pix_fmt', 'yuv420p']);
    expect(await repeatsIn(outputPath)).toEqual([]);
  });

  it('is left alone when a page is scrolled and read', async () => {
    const page =
      `${await detailedPicture(tools, 1280, 720)},loop=-1:1,settb=1/30,setpts=N,` +
      "trim=end_frame=300,crop=640:360:320:y='mod(180*(floor(t)+min(1,2*mod(t,1))),360)',fps=30";
    const outputPath = await encodeSource(page, at('page.mp4'), [...DEFAULT_ENCODE, '-pix_fmt', 'yuv420p']);
    expect(await repeatsIn(outputPath)).toEqual([]);
  });

  it('is left alone when figures are moved by hand, shown twice each, and rest', async () => {
    // A hundred drawings, each shown for two pictures; the 11th to 15th, the 41st to 43rd and the 81st to 88th are the
    // same drawing.
    const drawing = 'floor(n/2)';
    const x = `5*(min(${drawing},10)+clip(${drawing}-15,0,25)+clip(${drawing}-43,0,37)+max(${drawing}-88,0))`;
    const film =
      `${await detailedPicture(tools, 1280, 720)},loop=-1:1,settb=1/30,setpts=N,` +
      `trim=end_frame=200,crop=640:360:x='${x}':y=180,fps=30`;
    const outputPath = await encodeSource(film, at('film.mp4'), [...DEFAULT_ENCODE, '-pix_fmt', 'yuv420p']);
    expect(await repeatsIn(outputPath)).toEqual([]);
  });
});
