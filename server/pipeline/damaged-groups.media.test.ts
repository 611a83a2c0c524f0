import { open, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cutPart } from '#server/media/mp4/cut-part.ts';
import { readListedMovie } from '#server/media/mp4/listed-movie.ts';
import { findVideoTrack } from '#server/media/mp4/movie.ts';
import { readSamples } from '#server/media/mp4/sample-table.ts';
import { probe } from '#server/media/probe/probe.ts';
import { runsInThreads, versionOf } from '#server/media/ffmpeg/ffmpeg-names.ts';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import {
  corruptSamples,
  injectRepeats,
  DEFAULT_ENCODE,
  injectTimestampGaps,
  makeMovingClip,
} from '#server/test/broken-clips.ts';
import { makeFolder, makeTask, mustBeOk, testTools as tools } from '#server/test/media-job.ts';
import { lumaPsnr } from '#server/test/psnr.ts';
import { analysePicture } from './analyse/analyse-picture.ts';
import { processVideo } from './process-video.ts';
import { verifyClaims } from './publish/verify-claims.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
const at = (name: string) => path.join(folder.path, name);
beforeAll(async () => {
  folder = await makeFolder();
});
afterAll(() => folder.remove());

/** A clip of two seconds without sound; `x264` are encoder parameters that shape its groups. */
const makeSilent = (outputPath: string, x264: string) =>
  makeMovingClip({
    tools,
    outputPath,
    seconds: 2,
    width: 320,
    height: 192,
    sound: false,
    encode: [...DEFAULT_ENCODE, '-x264-params', x264],
  });

/** A clip of two seconds with one damaged picture; `x264` are encoder parameters that shape its groups. */
async function makeBroken(
  name: string,
  x264: string,
  frame: number,
  place = 0.4,
): Promise<{ clean: string; broken: string }> {
  const [clean, broken] = [at(`${name}.mp4`), at(`${name}-broken.mp4`)];
  await makeSilent(clean, x264);
  const fault = { fault: 'random', amount: 200, place, seed: 5 } as const;
  await corruptSamples({ tools, inputPath: clean, outputPath: broken, frames: [frame], ...fault });
  return { clean, broken };
}

/** A clip without sound, with zeros in picture 47. */
async function makeTorn(
  name: string,
  encode: readonly string[],
  place: number,
): Promise<{ clean: string; broken: string }> {
  const [clean, broken] = [at(`${name}.mp4`), at(`${name}-torn.mp4`)];
  const size = { seconds: 2.7, width: 640, height: 352, sound: false };
  await makeMovingClip({ tools, outputPath: clean, ...size, encode });
  const fault = { fault: 'zero', amount: 64, place, seed: 5 } as const;
  await corruptSamples({ tools, inputPath: clean, outputPath: broken, frames: [47], ...fault });
  return { clean, broken };
}

/** Verifies every claim of a report on the damaged clip and its result. */
const checkClaims = (
  originalPath: string,
  { resultPath, report }: Pick<Awaited<ReturnType<typeof mend>>, 'resultPath' | 'report'>,
) => verifyClaims({ originalPath, repairedPath: resultPath ?? '', report, tools });

/** Display numbers of the pictures that decode differently from the clean clip. */
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

/**
 * Keeps only the first coded pictures of a clip; the 56th is the P picture of a new run of B pictures. Cut here because
 * some builds of ffmpeg hide that picture with an edit list.
 */
async function cutBehind(clip: string, outputPath: string, count: number): Promise<void> {
  const file = await open(clip, 'r');
  try {
    const movie = await readListedMovie(file);
    const track = findVideoTrack(movie, 0);
    await cutPart({ file, movie, track, samples: readSamples(track.stbl).slice(0, count), outputPath });
  } finally {
    await file.close();
  }
}

/** Presentation times of all coded pictures, ascending, before edit lists. */
async function codedTimes(clip: string): Promise<{ times: number[]; timescale: number }> {
  const file = await open(clip, 'r');
  try {
    const track = findVideoTrack(await readListedMovie(file), 0);
    const times = readSamples(track.stbl).map(({ pts }) => pts);
    return { times: times.sort((a, b) => a - b), timescale: track.timescale };
  } finally {
    await file.close();
  }
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
    expect(await lumaPsnr(resultPath ?? '', clean)).toBeGreaterThan((await lumaPsnr(broken, clean)) - 1);
  });

  it('in a key picture that is rebuilt leaves those behind it that are kept as the whole clip shows them', async () => {
    const x264 = 'keyint=10:min-keyint=10:scenecut=0:bframes=2';
    const { clean, broken } = await makeBroken('rebuilt-key', x264, 30, 0.05);
    const { resultPath, report } = await mend(broken);
    const damage = report.defects.find(({ kind }) => kind === 'corrupted_section');
    expect(damage?.explanation).toContain('of them kept as far as they can be read');
    expect(await lumaPsnr(resultPath ?? '', clean)).toBeGreaterThan((await lumaPsnr(broken, clean)) - 1);
  });

  it('right behind a key picture is concealed from the group before, nearer to the truth than by the decoder', async () => {
    const { broken, clean } = await makeBroken(
      'behind-key',
      'keyint=10:min-keyint=10:scenecut=0:bframes=0:ref=1',
      21,
      0.1,
    );
    const { report, resultPath } = await mend(broken);
    expect(report.video.treatment).toBe('smart_render');
    expect(report.defects).toContainEqual(
      expect.objectContaining({ firstFrame: 21, action: 'concealed_frames' }),
    );
    expect(await differing(broken, resultPath ?? '')).toEqual([21, 22, 23, 24, 25, 26, 27, 28, 29]);
    expect(await lumaPsnr(resultPath ?? '', clean)).toBeGreaterThan((await lumaPsnr(broken, clean)) + 1);
    const claims = await checkClaims(broken, { resultPath, report });
    expect(claims.filter(({ confirmed }) => !confirmed)).toEqual([]);
  });

  it('in one of several slices is concealed there alone, by what the slices beside it show', async () => {
    const x264 = ['-x264-params', 'keyint=40:min-keyint=40:scenecut=0:bframes=0:slices=3'];
    const { clean, broken } = await makeTorn('slices', [...DEFAULT_ENCODE, ...x264], 0.45);
    const { report, resultPath } = await mend(broken);
    expect(report.defects).toContainEqual(
      expect.objectContaining({ kind: 'corrupted_section', firstFrame: 47, action: 'concealed_frames' }),
    );
    expect(report.video.treatment).toBe('smart_render');
    expect(await lumaPsnr(resultPath ?? '', clean)).toBeGreaterThan((await lumaPsnr(broken, clean)) + 1);
    const claims = await checkClaims(broken, { resultPath, report });
    expect(claims.filter(({ confirmed }) => !confirmed)).toEqual([]);
  });

  it('of HEVC keeps what can be read of it and moves on behind that, nearer to the truth than what the decoder held', async () => {
    const coding = '-c:v libx265 -preset fast -crf 24 -tag:v hvc1 -pix_fmt yuv420p -x265-params'.split(' ');
    const encode = [...coding, 'log-level=error:pools=1:bframes=0:keyint=40:min-keyint=40:scenecut=0'];
    const { clean, broken } = await makeTorn('hevc-moves', encode, 0.3);
    const { report, resultPath } = await mend(broken);
    expect(report.defects).toContainEqual(
      expect.objectContaining({ kind: 'corrupted_section', firstFrame: 47, action: 'concealed_frames' }),
    );
    expect(report.video.treatment).toBe('smart_render');
    expect(report.video.unitsKept).toBe((report.video.unitsTotal ?? 0) - 1);
    const [result, torn] = [resultPath ?? '', 47];
    expect(await lumaPsnr(result, clean, torn)).toBeGreaterThan(await lumaPsnr(broken, clean, torn));
    // Newer decoders show something closer in the rest of a damaged picture, so pictures that refer to it may be closer
    // than with moved blocks.
    if (!runsInThreads(await versionOf(tools)))
      expect(await lumaPsnr(result, clean)).toBeGreaterThan((await lumaPsnr(broken, clean)) + 1);
    const claims = await checkClaims(broken, { resultPath, report });
    expect(claims.filter(({ confirmed }) => !confirmed)).toEqual([]);
  });

  it('in a key picture is nothing that held pictures of its group are rebuilt from', async () => {
    const [clean, held, broken] = [at('key-clean.mp4'), at('key-held.mp4'), at('key-held-broken.mp4')];
    const encode = '-c:v mpeg4 -q:v 3 -g 30 -bf 0 -sc_threshold 1000000000 -threads 1'.split(' ');
    await makeMovingClip({ tools, outputPath: clean, seconds: 3, width: 320, height: 192, encode });
    const runs = [{ frame: 48, count: 3 }];
    await injectRepeats({ tools, inputPath: clean, outputPath: held, history: 'held', runs, encode });
    const fault = { fault: 'random', amount: 200, place: 0.3, seed: 5 } as const;
    await corruptSamples({ tools, inputPath: held, outputPath: broken, frames: [30], ...fault });
    const { resultPath, report } = await mend(broken);
    const repaired = report.defects.filter(({ outcome }) => outcome === 'repaired');
    expect(repaired).toMatchObject([
      { kind: 'corrupted_section', firstFrame: 30, action: 'concealed_frames' },
      { kind: 'stuttered_cut', firstFrame: 49, lastFrame: 51, action: 'rebuilt_frames' },
    ]);
    // Decoded from a grey field they would lose 16 dB.
    expect(await lumaPsnr(resultPath ?? '', clean)).toBeGreaterThan((await lumaPsnr(broken, clean)) - 9);
  });

  it('in a key picture of HEVC makes no repeats of a shot that has come to rest before it', async () => {
    const [clean, broken] = [at('rest.mp4'), at('rest-broken.mp4')];
    const x265 = 'log-level=none:keyint=12:min-keyint=12:scenecut=0:bframes=0';
    const encode = [
      '-c:v',
      'libx265',
      '-preset',
      'veryfast',
      '-crf',
      '20',
      '-pix_fmt',
      'yuv420p',
      '-x265-params',
      x265,
    ];
    const size = { seconds: 2, width: 320, height: 192, sound: false };
    await makeMovingClip({ tools, outputPath: clean, ...size, encode });
    const fault = { fault: 'random', amount: 200, place: 0.3, seed: 5 } as const;
    await corruptSamples({ tools, inputPath: clean, outputPath: broken, frames: [36], ...fault });
    const info = await probe(tools, broken, 'mov');
    const { findings } = await analysePicture({ inputPath: broken, info, tools });
    expect(findings).toContainEqual(expect.objectContaining({ kind: 'corrupted_section' }));
    expect(findings.filter(({ kind }) => kind === 'stuttered_cut')).toEqual([]);
  });

  it('in VP9, all of which is coded anew, stays as one thread shows it', async () => {
    const [clean, broken] = [at('vp9.mp4'), at('vp9-broken.mp4')];
    const encode = '-c:v libvpx-vp9 -crf 32 -b:v 0 -g 60 -deadline realtime -cpu-used 8 -threads 1'.split(
      ' ',
    );
    const size = { width: 320, height: 192, seconds: 3, sound: false };
    await makeMovingClip({ tools, outputPath: clean, ...size, encode });
    const fault = { fault: 'zero', amount: 64, place: 0.1, seed: 5 } as const;
    await corruptSamples({ tools, inputPath: clean, outputPath: broken, frames: [20], ...fault });
    const { resultPath, report } = await mend(broken);
    const damage = report.defects.find(({ kind }) => kind === 'corrupted_section');
    expect(damage).toMatchObject({ outcome: 'repaired', action: 'concealed_frames' });
    expect(await lumaPsnr(resultPath ?? '', clean)).toBeGreaterThan((await lumaPsnr(broken, clean)) - 1);
  });

  it('in a clip that a cut by stream copy left without pictures before its last one is mended alone', async () => {
    const [whole, cut, broken] = [at('whole.mp4'), at('cut.mp4'), at('cut-broken.mp4')];
    const x264 = ['-x264-params', 'keyint=25:min-keyint=25:bframes=3:b-adapt=0:b-pyramid=none:scenecut=0'];
    const encode = [...DEFAULT_ENCODE, ...x264];
    await makeMovingClip({ tools, outputPath: whole, seconds: 3, width: 320, height: 192, encode });
    await cutBehind(whole, cut, 56);
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

  it('holes are filled where an edit list that hides the last picture shows the one before it longer', async () => {
    const [whole, hidden] = [at('holes.mp4'), at('holes-hidden.mp4')];
    const bytes = await readFile(whole);
    const list = bytes.indexOf('elst');
    expect(list).toBeGreaterThan(0);
    const { times, timescale } = await codedTimes(whole);
    const [first = 0, before = 0, last = 0] = [times[0], times.at(-2), times.at(-1)];
    // After the version and the number of edits comes the duration of the first edit, in milliseconds in all ffmpeg
    // files.
    const endTicks = before + (last - before) / 2 - first;
    bytes.writeUInt32BE(Math.round((1000 * endTicks) / timescale), list + 12);
    await writeFile(hidden, bytes);
    const { report } = await mend(hidden);
    expect(report.notes).toContain('The file hides 1 frame by an edit list; it stays in the file.');
    expect(report.video.treatment).toBe('smart_render');
    const filled = report.defects.filter(({ kind }) => kind === 'dropped_frames');
    expect(filled).toMatchObject([{ count: 3, outcome: 'repaired' }]);
    expect(report.checks.filter(({ passed }) => !passed)).toEqual([]);
  });

  it('in the first picture of a clip of one group leaves a clip that decodes in silence', async () => {
    const { clean, broken } = await makeBroken('one', 'keyint=250:scenecut=0', 0);
    expect((await claimed(broken)).size).toBe((await differing(clean, broken)).length);
    const { resultPath, report } = await mend(broken);
    const damage = report.defects.find(({ kind }) => kind === 'corrupted_section');
    expect(damage?.outcome).toBe('repaired');
    expect(damage?.explanation).toContain('no intact frame is left to fill');
    expect(damage?.explanation).toContain('may be grey or smeared');
    const strict = ['-v', 'warning', '-threads', '1', '-err_detect', 'aggressive', '-i', resultPath ?? ''];
    expect((await runTool('decode', tools.ffmpeg, [...strict, '-f', 'null', '-'])).stderr).toBe('');
  });

  it('that leaves nothing of the first group is held from the second one, whose coded pictures all stay', async () => {
    const { clean } = await makeBroken('first', 'keyint=15:min-keyint=15:scenecut=0:bframes=2:slices=4', 0);
    const broken = at('first-lost.mp4');
    const sample = 'packet=pos,size';
    const args = ['-v', 'error', '-select_streams', 'v:0', '-show_entries', sample, '-of', 'csv=p=0', clean];
    const { stdout } = await runTool('find the first picture', tools.ffprobe, args);
    const [size = 0, pos = 0] = (stdout.split('\n')[0] ?? '').split(',').map(Number);
    await writeFile(broken, (await readFile(clean)).fill(0, pos, pos + size));
    const { resultPath, report } = await mend(broken);
    expect(report.defects.filter(({ kind }) => kind === 'corrupted_section')).toMatchObject([
      { firstFrame: 0, lastFrame: 14, outcome: 'repaired', action: 'held_frames' },
    ]);
    expect(report.video).toMatchObject({ treatment: 'smart_render', unitsKept: 45, unitsTotal: 60 });
    expect(report.checks.filter(({ passed }) => !passed)).toEqual([]);
    const claims = await checkClaims(broken, { resultPath, report });
    expect(claims.filter(({ confirmed }) => !confirmed)).toEqual([]);
  });

  it('that spoils the next key picture in the decoder alone, which shows it as it is in the result, has all claims confirmed', async () => {
    const [clean, broken] = [at('spoilt.mp4'), at('spoilt-broken.mp4')];
    const scene = { tools, seconds: 2, width: 320, height: 192, scenery: 'zoom' } as const;
    const x264 = ['-x264-params', 'keyint=12:min-keyint=12:bframes=0:cabac=0:scenecut=0'];
    await makeMovingClip({ ...scene, outputPath: clean, encode: [...DEFAULT_ENCODE, ...x264] });
    const plan = { tools, inputPath: clean, outputPath: broken, amount: 200, seed: 1 };
    await corruptSamples({ ...plan, frames: [23], fault: 'zero' });
    const { resultPath, report } = await mend(broken);
    const claims = await checkClaims(broken, { resultPath, report });
    expect(claims.map(({ claim }) => claim)).toContain('untouched pictures decode to the same picture');
    expect(claims.filter(({ confirmed }) => !confirmed)).toEqual([]);
  });

  it('that is lost where frame numbers begin anew, so that the decoder leaves out 14 whole ones behind it, costs no other its data', async () => {
    const [clean, broken] = [at('wrap.mp4'), at('wrap-broken.mp4')];
    const scene = { tools, seconds: 2, width: 320, height: 192, sound: false } as const;
    const x264 = ['-x264-params', 'keyint=60:min-keyint=60:bframes=0:ref=2:scenecut=0'];
    await makeMovingClip({ ...scene, outputPath: clean, encode: [...DEFAULT_ENCODE, ...x264] });
    await corruptSamples({ tools, inputPath: clean, outputPath: broken, frames: [16], fault: 'lost' });
    const { resultPath, report } = await mend(broken);
    expect(report.defects.filter(({ kind }) => kind === 'corrupted_section')).toMatchObject([
      { firstFrame: 16, lastFrame: 59, outcome: 'repaired', action: 'concealed_frames' },
    ]);
    expect(report.video).toMatchObject({ treatment: 'smart_render', unitsKept: 59, unitsTotal: 60 });
    expect(report.result.media.frameCount).toBe(60);
    const claims = await checkClaims(broken, { resultPath, report });
    expect(claims.filter(({ confirmed }) => !confirmed)).toEqual([]);
  });
});

describe('processVideo on a clip whose first key picture is lost', () => {
  it.each([
    ['without B pictures', 'keyint=20:scenecut=0:bframes=0'],
    ['with pictures that an edit list hides', 'keyint=20:scenecut=0:bframes=2'],
  ])('carries over everything from the next one on, %s', async (name, x264) => {
    const [clean, broken] = [at(`${name}.mp4`), at(`${name}-lost.mp4`)];
    await makeSilent(clean, x264);
    const copy = ['-map', '0:v', '-c', 'copy', '-bsf:v', "noise=amount=0:drop='lt(n,1)'"];
    await runTool('lose', tools.ffmpeg, ['-v', 'error', '-i', clean, ...copy, broken]);
    const { resultPath, report } = await mend(broken);
    // Of the first group 19 pictures are left, followed by 40 others.
    expect(report.video).toMatchObject({ treatment: 'smart_render', unitsKept: 40, unitsTotal: 59 });
    expect(report.checks.filter(({ passed }) => !passed)).toEqual([]);
    const claims = await checkClaims(broken, { resultPath, report });
    expect(claims.filter(({ confirmed }) => !confirmed)).toEqual([]);
  });
});
