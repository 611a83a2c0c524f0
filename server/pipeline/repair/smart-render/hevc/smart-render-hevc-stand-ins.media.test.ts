import { copyFile, open } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { hevcNalType, isHevcSlice, isSubLayerNonReference } from '#server/media/hevc/hevc-nal.ts';
import { splitSample } from '#server/media/h264/nal.ts';
import { readExactly } from '#server/media/mp4/file-bytes.ts';
import { findVideoTrack, readMovie } from '#server/media/mp4/movie.ts';
import { readSamples } from '#server/media/mp4/sample-table.ts';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { corruptSamples } from '#server/test/broken-clips.ts';
import { testTools as tools } from '#server/test/media-job.ts';
import { decodeHashes, encodeSource, sharedFolder } from '#server/test/rendered-clips.ts';
import { renderEdit, shownTimes } from '#server/test/rendered-edits.ts';
import type { PictureEdit } from '../../picture-edit.ts';

const folder = sharedFolder();
const [WIDTH, HEIGHT] = [328, 184];

interface Maker {
  readonly name: string;
  /** Encoder settings in addition to those of all clips. */
  readonly params: string;
  readonly pixelFormat?: string;
  readonly tag?: string;
}

const MAKERS: readonly Maker[] = [
  { name: 'one-long-group', params: 'bframes=4:b-pyramid=1:sao=1' },
  {
    name: 'open-groups-ten-bits',
    params: 'keyint=24:open-gop=1:bframes=3:ctu=32',
    pixelFormat: 'yuv420p10le',
  },
  {
    name: 'small-blocks-and-slices',
    params: 'bframes=2:ctu=16:min-cu-size=8:tu-intra-depth=2:slices=2:strong-intra-smoothing=0',
  },
  { name: 'scaling-lists-blocks-of-16', params: 'bframes=3:min-cu-size=16:scaling-list=default' },
  { name: 'sets-in-band', params: 'bframes=3:repeat-headers=1:keyint=30', tag: 'hev1' },
];

async function make({ name, params, pixelFormat = 'yuv420p', tag = 'hvc1' }: Maker): Promise<string> {
  const source = `testsrc2=s=${WIDTH}x${HEIGHT}:r=30:d=2`;
  return encodeSource(source, path.join(folder.path, `${name}.mp4`), [
    '-pix_fmt',
    pixelFormat,
    '-tag:v',
    tag,
    ...'-c:v libx265 -preset ultrafast -x265-params'.split(' '),
    `log-level=error:scenecut=0:keyint=600:b-adapt=0:${params}`,
  ]);
}

interface Shown {
  /** Number in decode order. */
  readonly sample: number;
  /** No other picture of its sub-layer refers to it. */
  readonly isDisposable: boolean;
  readonly isKey: boolean;
}

/** The pictures of a clip in display order. */
async function shownPictures(file: string): Promise<Shown[]> {
  const handle = await open(file);
  try {
    const { stbl } = findVideoTrack(await readMovie(handle), 0);
    const samples = readSamples(stbl).map((sample, number) => ({ ...sample, number }));
    const found: Shown[] = [];
    for (const { number, offset, sizeBytes } of samples.sort((a, b) => a.pts - b.pts)) {
      const slice = splitSample(await readExactly(handle, offset, sizeBytes), 4).find(isHevcSlice);
      const isPlain = slice !== undefined && hevcNalType(slice) < 16;
      const isDisposable = isPlain && isSubLayerNonReference(slice);
      found.push({ sample: number, isDisposable, isKey: slice !== undefined && !isPlain });
    }
    return found;
  } finally {
    await handle.close();
  }
}

/** Display numbers of the pictures that no other of their sub-layer refers to. */
async function disposable(file: string): Promise<number[]> {
  return (await shownPictures(file)).flatMap(({ isDisposable }, frame) => (isDisposable ? [frame] : []));
}

/** Display numbers of B pictures that only their two neighbours refer to, in clips with one reference for each. */
async function middles(file: string): Promise<number[]> {
  const shown = await shownPictures(file);
  return shown.flatMap((picture, frame) => {
    const [left, right, next] = [shown[frame - 1], shown[frame + 1], shown[frame + 2]];
    if (!left?.isDisposable || !right?.isDisposable || !next || picture.isDisposable) return [];
    return next.sample < picture.sample ? [frame] : [];
  });
}

/** A copy of a clip with some samples (decode order) overwritten by zeros. */
async function withoutSamples(file: string, name: string, lost: readonly number[]): Promise<string> {
  const copy = path.join(folder.path, `${name}.mp4`);
  await copyFile(file, copy);
  const handle = await open(copy, 'r+');
  try {
    const samples = readSamples(findVideoTrack(await readMovie(handle), 0).stbl);
    for (const sample of lost) {
      const { offset = 0, sizeBytes = 0 } = samples[sample] ?? {};
      await handle.write(Buffer.alloc(sizeBytes), 0, sizeBytes, offset);
    }
  } finally {
    await handle.close();
  }
  return copy;
}

/** The decoded pictures of an intact clip, laid end to end in one file. */
async function rawPictures(file: string): Promise<string> {
  const raw = `${file}.raw`;
  await runTool('decode', tools.ffmpeg, ['-v', 'error', '-y', '-i', file, '-f', 'rawvideo', raw]);
  return raw;
}

/** Exchanges pictures for those of a raw file, one by one. */
function exchange(frames: readonly number[], times: readonly number[], raw: string): PictureEdit {
  return frames.map((frame) => ({
    firstFrame: frame,
    endFrame: frame + 1,
    pictures: [{ ptsTicks: times[frame] ?? 0, pixels: { kind: 'raw', path: raw, index: frame } }],
    shiftAfterTicks: 0,
  }));
}

/** Luma PSNR of each picture of a clip against another's, dB; Infinity if they are equal. */
async function likeness(file: string, other: string): Promise<number[]> {
  const stats = `${file}.psnr`;
  const graph = `[0:v]settb=1/25,setpts=N[a];[1:v]settb=1/25,setpts=N[b];[a][b]psnr=stats_file=${stats}`;
  const options = ['-lavfi', graph, '-f', 'null', '-'];
  const alone = ['-threads', '1'];
  const inputs = [...alone, '-i', file, ...alone, '-i', other];
  await runTool('compare', tools.ffmpeg, ['-v', 'quiet', ...inputs, ...options]);
  const handle = await open(stats);
  try {
    const lines = (await handle.readFile('utf8')).trim().split('\n');
    return lines.map((line) => Number(/psnr_y:(\S+)/.exec(line)?.[1]?.replace('inf', 'Infinity')));
  } finally {
    await handle.close();
  }
}

describe('exchanging HEVC pictures alone', () => {
  for (const maker of MAKERS) {
    it(`leaves all other pictures as they were (${maker.name})`, async () => {
      const clean = await make(maker);
      const plain = await disposable(clean);
      const frames = [4, 5, 12, plain.length - 1].map((at) => plain[at] ?? 0);
      const torn = path.join(folder.path, `${maker.name}-torn.mp4`);
      await corruptSamples({ tools, inputPath: clean, outputPath: torn, frames, fault: 'random', seed: 7 });
      const times = await shownTimes(clean);
      const edit = exchange(frames, times, await rawPictures(clean));
      const { output, result } = await renderEdit(folder.path, torn, maker.name, edit);
      if (!result.done) throw new Error(result.reason);
      expect(result.framesKept).toBe(times.length - frames.length);
      expect(result.reencodedSpans).toEqual(frames.map((at) => ({ firstFrame: at, endFrame: at + 1 })));
      expect(await shownTimes(output)).toEqual(times);
      const [before, after] = [await decodeHashes(clean), await decodeHashes(output)];
      expect(after.warnings).toBe('');
      const changed = before.hashes.flatMap((hash, frame) => (after.hashes[frame] === hash ? [] : [frame]));
      expect(changed).toEqual(frames);
      const scores = await likeness(output, clean);
      for (const frame of frames) expect(scores[frame], `picture ${frame}`).toBeGreaterThan(38);
    });
  }

  it('exchanges pictures of which nothing is left, also those that lead a key picture', async () => {
    const clean = await make({ name: 'lost', params: 'keyint=24:min-keyint=24:open-gop=1:bframes=3' });
    const shown = await shownPictures(clean);
    const plain = await disposable(clean);
    const isLeading = (frame: number) =>
      shown.slice(frame).some(({ isKey, sample }) => isKey && sample < (shown[frame]?.sample ?? 0));
    const leading = plain.find(isLeading) ?? 0;
    const trailing = plain.find((frame) => frame > leading + 8 && !isLeading(frame)) ?? 0;
    expect(leading).toBeGreaterThan(0);
    const frames = [leading, trailing];
    const samples = frames.map((frame) => shown[frame]?.sample ?? 0);
    const torn = await withoutSamples(clean, 'lost-torn', samples);
    const times = await shownTimes(clean);
    const edit = exchange(frames, times, await rawPictures(clean));
    const { output, result } = await renderEdit(folder.path, torn, 'lost', edit);
    if (!result.done) throw new Error(result.reason);
    expect(result.framesKept).toBe(times.length - frames.length);
    const [before, after] = [await decodeHashes(clean), await decodeHashes(output)];
    expect(after.warnings).toBe('');
    const changed = before.hashes.flatMap((hash, frame) => (after.hashes[frame] === hash ? [] : [frame]));
    expect(changed).toEqual(frames);
  });

  it('moves a lost picture from the one before, so that those that refer to it keep their data', async () => {
    const clean = await make({
      name: 'lost-middle',
      params: 'bframes=3:b-pyramid=1:ref=1:open-gop=0:keyint=48',
    });
    const middle = (await middles(clean))[2] ?? 0;
    const lost = (await shownPictures(clean))[middle]?.sample ?? 0;
    const torn = await withoutSamples(clean, 'lost-middle-torn', [lost]);
    const times = await shownTimes(clean);
    const touched = [middle - 1, middle, middle + 1];
    const pictures = touched.map((frame) => {
      const pixels = { kind: 'original', frame, intact: frame !== middle } as const;
      return { ptsTicks: times[frame] ?? 0, pixels };
    });
    const edit = [{ firstFrame: middle - 1, endFrame: middle + 2, pictures, shiftAfterTicks: 0 }];
    const { output, result } = await renderEdit(folder.path, torn, 'lost-middle', edit);
    if (!result.done) throw new Error(result.reason);
    expect(result.framesKept).toBe(times.length - 1);
    const [before, after] = [await decodeHashes(clean), await decodeHashes(output)];
    expect(after.warnings).toBe('');
    const changed = before.hashes.flatMap((hash, frame) => (after.hashes[frame] === hash ? [] : [frame]));
    expect(changed.every((frame) => touched.includes(frame))).toBe(true);
  });

  it('leaves what depends on an open group unchanged, though it is decoded after the next key picture', async () => {
    const clean = await make({ name: 'leaning', params: 'keyint=24:open-gop=1:bframes=3:ref=4' });
    const shown = await shownPictures(clean);
    const isLeading = ({ sample }: Shown, frame: number) =>
      shown.slice(frame + 1).some((later) => later.sample < sample && later.isKey);
    const first = shown.findIndex((picture, frame) => frame > 24 && isLeading(picture, frame));
    const frames = [first - 4, first - 3, first - 2, first - 1];
    const raw = `${clean}.negative`;
    const negate = ['-vf', 'negate', '-f', 'rawvideo', raw];
    await runTool('decode', tools.ffmpeg, ['-v', 'error', '-y', '-i', clean, ...negate]);
    const times = await shownTimes(clean);
    const { output, result } = await renderEdit(folder.path, clean, 'leaning', exchange(frames, times, raw));
    if (!result.done) throw new Error(result.reason);
    const [before, after] = [await decodeHashes(clean), await decodeHashes(output)];
    expect(after.warnings).toBe('');
    const isAnew = (frame: number) =>
      result.reencodedSpans.some(({ firstFrame, endFrame }) => frame >= firstFrame && frame < endFrame);
    const changed = before.hashes.flatMap((hash, frame) => (after.hashes[frame] === hash ? [] : [frame]));
    expect(changed.filter((frame) => !isAnew(frame))).toEqual([]);
    expect(changed).toEqual(expect.arrayContaining(frames));
  });

  it('exchanges a damaged picture that others refer to together with those, and keeps what is around', async () => {
    const clean = await make({
      name: 'middle',
      params: 'bframes=3:b-pyramid=1:ref=1:open-gop=0:keyint=48',
    });
    const [first = 0, second = 0] = (await middles(clean)).slice(2);
    const torn = path.join(folder.path, 'middle-torn.mp4');
    const frames = [first, second];
    await corruptSamples({ tools, inputPath: clean, outputPath: torn, frames, fault: 'random', seed: 3 });
    const times = await shownTimes(clean);
    const touched = frames.flatMap((frame) => [frame - 1, frame, frame + 1]);
    const edit = exchange(touched, times, await rawPictures(clean));
    const { output, result } = await renderEdit(folder.path, torn, 'middle', edit);
    if (!result.done) throw new Error(result.reason);
    expect(result.framesKept).toBe(times.length - touched.length);
    const [before, after] = [await decodeHashes(clean), await decodeHashes(output)];
    expect(after.warnings).toBe('');
    const changed = before.hashes.flatMap((hash, frame) => (after.hashes[frame] === hash ? [] : [frame]));
    expect(changed).toEqual(touched);
  });

  it('keeps the data of pictures that refer to a well rebuilt one, and re-encodes them otherwise', async () => {
    const clean = await make({
      name: 'chain',
      params: 'bframes=3:b-pyramid=1:ref=4:open-gop=0:keyint=48:min-keyint=48',
    });
    const middle = (await middles(clean))[3] ?? 0;
    const torn = path.join(folder.path, 'chain-torn.mp4');
    await corruptSamples({
      tools,
      inputPath: clean,
      outputPath: torn,
      frames: [middle],
      fault: 'random',
      seed: 5,
    });
    const times = await shownTimes(clean);
    const raw = await rawPictures(clean);
    const rebuilt = [middle - 1, middle, middle + 1];
    // After the next intact picture, up to the next key picture.
    const tail = Array.from({ length: 48 - middle - 3 }, (_, step) => middle + 3 + step);
    const pictures = tail.map((frame) => {
      return { ptsTicks: times[frame] ?? 0, pixels: { kind: 'original', frame, intact: true } } as const;
    });
    const chain = { firstFrame: tail[0] ?? 0, endFrame: 48, pictures, shiftAfterTicks: 0 };
    const render = async (name: string, scoredDb: number) => {
      const spans = exchange(rebuilt, times, raw).map((span) => ({ ...span, scoredDb }));
      const { output, result, shares } = await renderEdit(folder.path, torn, name, [...spans, chain]);
      if (!result.done) throw new Error(result.reason);
      expect((await decodeHashes(output)).warnings).toBe('');
      return { output, result, shares };
    };
    const well = await render('chain-well', 40);
    expect(well.result.framesKept).toBe(times.length - rebuilt.length);
    // Only trials of the group report progress: nothing is encoded around it.
    expect(well.shares.length).toBeGreaterThan(2);
    const spans = well.result.reencodedSpans.flatMap(({ firstFrame, endFrame }) => {
      return Array.from({ length: endFrame - firstFrame }, (_, index) => firstFrame + index);
    });
    expect(spans).toEqual([...rebuilt, ...tail]);
    const scores = await likeness(well.output, clean);
    for (const frame of tail) expect(scores[frame], `picture ${frame}`).toBeGreaterThan(28);
    const badly = await render('chain-badly', 20);
    expect(badly.result.framesKept).toBe(times.length - rebuilt.length - tail.length);
  });

  it('decodes damaged pictures right after a key picture from an earlier one on, because what the decoder held is visible in them', async () => {
    const clean = await make({ name: 'tail', params: 'bframes=0:keyint=30:min-keyint=30' });
    const torn = path.join(folder.path, 'tail-torn.mp4');
    await corruptSamples({
      tools,
      inputPath: clean,
      outputPath: torn,
      frames: [31],
      fault: 'random',
      seed: 6,
    });
    const times = await shownTimes(torn);
    const pictures = [31, 32, 33, 34, 35, 36].map((frame) => {
      return { ptsTicks: times[frame] ?? 0, pixels: { kind: 'original', frame } } as const;
    });
    const edit = [{ firstFrame: 31, endFrame: 37, pictures, shiftAfterTicks: 0 }];
    const { result } = await renderEdit(folder.path, torn, 'tail', edit);
    if (!result.done) throw new Error(result.reason);
    expect(result.framesKept).toBe(31);
    const decoded = await shownTimes(path.join(folder.path, 'tail-work', 'smart-render-0.mp4'));
    // Everything from the first key picture to the end of the stretch; 30 pictures belong to the second one.
    expect(decoded.length).toBe(times.length);
  });

  it('re-encodes the group when others refer to a damaged picture, but not those before', async () => {
    const clean = await make({ name: 'referred', params: 'bframes=3:b-pyramid=1:keyint=30:open-gop=0' });
    const plain = await disposable(clean);
    const alone = plain[3] ?? 0;
    // A picture that others refer to, but no key picture.
    const referred =
      Array.from({ length: 20 }, (_, step) => 16 + step).find((at) => !plain.includes(at)) ?? 0;
    const times = await shownTimes(clean);
    const edit = exchange([alone, referred], times, await rawPictures(clean));
    const { output, result } = await renderEdit(folder.path, clean, 'referred', edit);
    if (!result.done) throw new Error(result.reason);
    const [first, second] = result.reencodedSpans;
    expect(first).toEqual({ firstFrame: alone, endFrame: alone + 1 });
    expect(second?.endFrame).toBe(30);
    expect(result.framesKept).toBe(times.length - 1 - (30 - (second?.firstFrame ?? 0)));
    const [before, after] = [await decodeHashes(clean), await decodeHashes(output)];
    expect(after.warnings).toBe('');
    const changed = before.hashes.flatMap((hash, frame) => (after.hashes[frame] === hash ? [] : [frame]));
    expect(changed.every((at) => at === alone || (at >= (second?.firstFrame ?? 0) && at < 30))).toBe(true);
  });
});
