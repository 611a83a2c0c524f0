import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAnnexBSplitter, isSlice } from '#server/media/h264/nal.ts';
import { probe } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import {
  corruptSamples,
  displayOrderSamples,
  DEFAULT_ENCODE,
  makeMovingClip,
} from '#server/test/broken-clips.ts';
import { analysePicture } from '../analyse-picture.ts';
import { encodeSource } from '#server/test/rendered-clips.ts';
import { checkSliceEnds } from './check-slice-ends.ts';
import { readPackets } from '../packets/read-packets.ts';
import { testTools as tools } from '#server/test/media-job.ts';

let folder = '';
const at = (name: string) => path.join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'damage-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What `ffmpeg -v error` prints while it decodes a clip. */
async function errorsOf(file: string): Promise<string[]> {
  const lines: string[] = [];
  await runFfmpeg(
    {
      label: 'decode',
      logLevel: 'error',
      inputs: [{ path: file, options: ['-threads', '1'] }],
      outputs: [{ path: '-', options: ['-map', '0:v:0', '-f', 'null'] }],
      expectedDurationMs: null,
    },
    { tools, onStderrLine: (line) => (line === '' ? 0 : lines.push(line)) },
  );
  return lines;
}

async function copy(from: string, to: string, options: readonly string[]): Promise<void> {
  await runFfmpeg(
    {
      label: 'rewrap',
      inputs: [{ path: from }],
      outputs: [{ path: to, options: ['-c', 'copy', ...options] }],
      expectedDurationMs: null,
    },
    { tools },
  );
}

/** Silent damage that changes less than this (dB) need not be found. */
const MUST_DIFFER_DB = 50;

/** Luma PSNR of one picture against the undamaged clip. */
async function psnrOf(file: string, frame: number): Promise<number> {
  const lines: string[] = [];
  await runFfmpeg(
    {
      label: 'compare',
      inputs: [{ path: at('clean.mp4') }, { path: file }],
      filterComplex: `[0:v]trim=start_frame=${frame}:end_frame=${frame + 1}[a];[1:v]trim=start_frame=${frame}:end_frame=${frame + 1}[b];[a][b]psnr[out]`,
      logLevel: 'info',
      outputs: [{ path: '-', options: ['-map', '[out]', '-f', 'null'] }],
      expectedDurationMs: null,
    },
    { tools, onStderrLine: (line) => lines.push(line) },
  );
  const found = /PSNR y:(\S+)/.exec(lines.join(' '))?.[1] ?? 'inf';
  return found === 'inf' ? Infinity : Number(found);
}

async function damageIn(file: string) {
  const info = await probe(tools, file, 'mov');
  const { findings } = await analysePicture({ inputPath: file, info, tools });
  return findings.filter(({ kind }) => kind === 'corrupted_section');
}

it('damage in VP9 is found by data that do not end as they should, and none in a clean clip', async () => {
  const encode = '-c:v libvpx-vp9 -crf 12 -b:v 0 -g 10 -deadline realtime -cpu-used 6 -threads 1'.split(' ');
  const size = { width: 320, height: 192, seconds: 2, sound: false };
  await makeMovingClip({ tools, outputPath: at('clean-vp9.mp4'), ...size, scenery: 'zoom', encode });
  expect(await damageIn(at('clean-vp9.mp4'))).toEqual([]);
  const frames = [3, 13, 23, 33, 43, 53];
  const torn = { inputPath: at('clean-vp9.mp4'), outputPath: at('torn-vp9.mp4') };
  await corruptSamples({ tools, ...torn, frames, fault: 'random', amount: 64, place: 0.5, seed: 3 });
  const found = await damageIn(at('torn-vp9.mp4'));
  // One of them may get out of step and back again.
  expect(found.length).toBeGreaterThanOrEqual(5);
  for (const { detail, lastFrame } of found) {
    const own = detail.kind === 'corrupted_section' ? (detail.damagedDataFrames ?? []) : [];
    expect(frames).toEqual(expect.arrayContaining([...own]));
    expect((lastFrame ?? 0) % 10).toBe(9);
  }
});

describe('damage that ffmpeg decodes without an error', () => {
  it('is found: 60 changed bytes in 4 pictures, identically in five runs', async () => {
    await makeMovingClip({
      tools,
      outputPath: at('clean.mp4'),
      seconds: 2,
      width: 320,
      height: 192,
      sound: false,
      encode: [...DEFAULT_ENCODE, '-g', '15', '-coder', '0', '-crf', '16'],
    });
    const frames = [10, 23, 40, 55];
    let source = at('clean.mp4');
    const samples = await displayOrderSamples({ inputPath: source });
    for (const [index, frame] of frames.entries()) {
      const outputPath = at(`quiet-${index}.mp4`);
      let seed = 1;
      // Which bytes a decoder ignores depends on its version, so the test searches for some.
      do {
        if (seed > 250) throw new Error('No silent damage was found for this picture.');
        const fault = { fault: 'random', amount: 15, seed, samples } as const;
        await corruptSamples({ tools, inputPath: source, outputPath, frames: [frame], ...fault });
        seed += 1;
      } while ((await errorsOf(outputPath)).length > 0 || (await psnrOf(outputPath, frame)) > MUST_DIFFER_DB);
      source = outputPath;
    }
    expect(await errorsOf(source)).toEqual([]);
    const [clean, damaged] = [await readFile(at('clean.mp4')), await readFile(source)];
    const changed = clean.filter((byte, place) => byte !== damaged[place]).length;
    expect(changed).toBeGreaterThan(48);
    expect(changed).toBeLessThanOrEqual(60);

    const first = await damageIn(source);
    for (const frame of frames) {
      expect(first.some((span) => (span.firstFrame ?? -1) <= frame && (span.lastFrame ?? -1) >= frame)).toBe(
        true,
      );
    }
    for (let run = 0; run < 4; run += 1) expect(await damageIn(source)).toEqual(first);
    expect(await damageIn(at('clean.mp4'))).toEqual([]);
  });
});

describe('a lost picture that nobody refers to', () => {
  /** A clip whose third group of 30 pictures begins. */
  const SCENE = { tools, seconds: 2.1, width: 320, height: 192, sound: false } as const;

  it('is claimed alone, and one that others refer to up to the next key picture', async () => {
    const [clean, lost] = [at('b-pictures.mp4'), at('b-lost.mp4')];
    // Every second picture is a B picture, which no other refers to.
    const encode = [...DEFAULT_ENCODE, '-bf', '1', '-b_strategy', '0', '-g', '30', '-sc_threshold', '0'];
    await makeMovingClip({ ...SCENE, outputPath: clean, encode });
    const claims = async (frame: number) => {
      await corruptSamples({ tools, inputPath: clean, outputPath: lost, frames: [frame], fault: 'lost' });
      return (await damageIn(lost)).map(({ firstFrame, lastFrame }) => [firstFrame, lastFrame]);
    };
    expect(await claims(41)).toEqual([[41, 41]]);
    // The B picture before it refers to it as well.
    expect(await claims(42)).toEqual([[41, 59]]);
  });

  it('is claimed alone in AVI too, which lists pictures in coding order', async () => {
    const [made, clean] = [at('mpeg4-b.mp4'), at('mpeg4-b.avi')];
    const encode = '-c:v mpeg4 -q:v 3 -bf 1 -b_strategy 0 -g 30 -sc_threshold 1000000000'.split(' ');
    await makeMovingClip({ ...SCENE, outputPath: made, encode });
    await copy(made, clean, ['-f', 'avi']);
    const info = await probe(tools, clean, 'avi');
    const { video } = await readPackets({ inputPath: clean, info, tools });
    const times = video.map(({ ptsTicks }) => ptsTicks ?? 0).sort((a, b) => a - b);
    const bytes = await readFile(clean);
    const claims = async (packet: number) => {
      const { ptsTicks = 0, offsetBytes, sizeBytes = 0 } = video[packet] ?? {};
      const from = (offsetBytes ?? 0) + Math.floor(sizeBytes / 3);
      const torn = Buffer.from(bytes).fill(0, from, from + Math.floor(sizeBytes / 2));
      await writeFile(at('mpeg4-torn.avi'), torn);
      const input = { inputPath: at('mpeg4-torn.avi'), info, tools };
      const { findings } = await analysePicture(input);
      const claimed = findings.filter(({ kind }) => kind === 'corrupted_section');
      const frame = times.indexOf(ptsTicks ?? 0);
      return claimed.map(({ firstFrame, lastFrame }) => [
        (firstFrame ?? 0) - frame,
        (lastFrame ?? 0) - frame,
      ]);
    };
    const b = video.findIndex(({ ptsTicks, dtsTicks }, place) => place > 30 && ptsTicks === dtsTicks);
    expect(await claims(b)).toEqual([[0, 0]]);
    // The picture before it in the file is shown after it, and the next ones refer to it.
    expect((await claims(b - 1))[0]?.[0]).toBe(-1);
  });

  it('is recognised by the kind of its slices in HEVC', async () => {
    const [clean, damaged] = [at('hevc-b-pictures.mp4'), at('hevc-b-damaged.mp4')];
    const coding = 'keyint=30:min-keyint=30:scenecut=0:bframes=1:b-adapt=0:open-gop=0:log-level=error';
    const encode = `-c:v libx265 -preset ultrafast -crf 8 -x265-params ${coding} -tag:v hvc1`.split(' ');
    await makeMovingClip({ ...SCENE, outputPath: clean, encode });
    const claims = async (frame: number) => {
      await corruptSamples({
        tools,
        inputPath: clean,
        outputPath: damaged,
        frames: [frame],
        fault: 'zero',
        amount: 12,
        place: 0.3,
      });
      return (await damageIn(damaged)).map(({ firstFrame, lastFrame }) => [firstFrame, lastFrame]);
    };
    expect(await claims(41)).toEqual([[41, 41]]);
    expect(await claims(42)).toEqual([[41, 59]]);
  });
});

describe('a damaged B picture that others refer to', () => {
  /** Pictures 4, 8, 12 ... are P pictures, 2, 6, 10 ... B pictures for those beside them. */
  const pyramid = (refs: number) =>
    `keyint=60:min-keyint=60:scenecut=0:bframes=3:b-adapt=0:b-pyramid=normal:ref=${refs}`;

  async function claims(name: string, coding: string, frame: number) {
    const [clean, damaged] = [at(`${name}.mp4`), at(`${name}-damaged.mp4`)];
    const scene = { tools, seconds: 2, width: 320, height: 192, sound: false } as const;
    await makeMovingClip({
      ...scene,
      outputPath: clean,
      encode: [...DEFAULT_ENCODE, '-x264-params', coding],
    });
    const fault = { fault: 'zero', amount: 12, place: 0.3 } as const;
    await corruptSamples({ tools, inputPath: clean, outputPath: damaged, frames: [frame], ...fault });
    return (await damageIn(damaged)).map(({ firstFrame, lastFrame }) => [firstFrame, lastFrame]);
  }

  it('is claimed with those alone whose slices can name it', async () => {
    expect(await claims('one-reference', pyramid(1), 42)).toEqual([[41, 43]]);
    expect(await claims('one-reference', pyramid(1), 44)).toEqual([[41, 59]]);
    expect(await claims('three-references', pyramid(3), 42)).toEqual([
      [41, 43],
      [45, 59],
    ]);
  });

  it('is claimed with all up to the next key picture where references are not followed', async () => {
    expect(await claims('fields', `${pyramid(1)}:tff=1`, 42)).toEqual([
      [41, 43],
      [45, 59],
    ]);
  });
});

describe('several lost pictures before frame numbers that restart', () => {
  it('are claimed with everything that refers to them, and intact ones that the decoder omits after them are not damaged', async () => {
    const x264 = ['-x264-params', 'keyint=60:min-keyint=60:bframes=0:ref=1:scenecut=0'];
    const encode = [...DEFAULT_ENCODE, ...x264];
    const scene = { tools, seconds: 2, width: 320, height: 192, sound: false } as const;
    await makeMovingClip({ ...scene, outputPath: at('wrap.mp4'), encode });
    // Picture 16 is the first whose number is 0 again: 16 pictures from 13 on never come out.
    const lost = [13, 14, 15, 16];
    const input = { tools, inputPath: at('wrap.mp4'), outputPath: at('wrap-lost.mp4') };
    await corruptSamples({ ...input, frames: lost, fault: 'lost' });
    const info = await probe(tools, at('wrap-lost.mp4'), 'mov');
    const { findings } = await analysePicture({ inputPath: at('wrap-lost.mp4'), info, tools });
    expect(findings.filter(({ kind }) => kind === 'corrupted_section')).toMatchObject([
      { firstFrame: 13, lastFrame: 59, detail: { damagedDataFrames: lost } },
    ]);
  });
});

describe('checkSliceEnds', () => {
  const STRETCHED = 37;

  /**
   * A clip with arithmetic coding. In picture `STRETCHED`, the last slice but one has data after its last macroblock.
   */
  async function makeStretched(slicesEach: number): Promise<string> {
    const encode = [...DEFAULT_ENCODE, '-bf', '0', '-g', '30', '-slices', String(slicesEach)];
    const scene = { tools, seconds: 3, width: 320, height: 192, sound: false } as const;
    await makeMovingClip({ ...scene, outputPath: at('cabac.mp4'), encode });
    return stretch('cabac', STRETCHED * slicesEach + Math.max(0, slicesEach - 2));
  }

  /** Adds data after the last macroblock of a slice. */
  async function stretch(name: string, meant: number): Promise<string> {
    await copy(at(`${name}.mp4`), at(`${name}.h264`), ['-f', 'h264']);
    const splitter = createAnnexBSplitter();
    const units = [...splitter.push(await readFile(at(`${name}.h264`))), ...splitter.end()];
    let slices = 0;
    const stretched = units.map((unit) => {
      if (!isSlice(unit) || slices++ !== meant) return unit;
      return Buffer.concat([
        unit,
        Buffer.from(Array.from({ length: 60 }, (_, place) => 1 + ((place * 89) % 250))),
      ]);
    });
    await writeFile(
      at('long.h264'),
      Buffer.concat(stretched.flatMap((unit) => [Buffer.from([0, 0, 0, 1]), unit])),
    );
    await copy(at('long.h264'), at('long.mp4'), ['-f', 'mp4']);
    return at('long.mp4');
  }

  async function neverRead(file: string): Promise<number[]> {
    const info = await probe(tools, file, 'mov');
    const { video } = await readPackets({ inputPath: file, info, tools });
    const suspects = video.map((_, place) => place);
    return checkSliceEnds({ inputPath: file, info, packets: video, suspects, tools });
  }

  it.each([
    ['data', 1],
    ['third of four slices', 4],
  ])(
    'names the one picture whose %s are not read to their end, and none of an intact clip',
    async (_, each) => {
      const file = await makeStretched(each);
      expect(await errorsOf(file)).toEqual([]);
      expect(await neverRead(file)).toEqual([STRETCHED]);
      expect(await neverRead(at('cabac.mp4'))).toEqual([]);
    },
  );

  /**
   * Drawn shapes that move over one flat colour, coded in pictures of about 150 bytes. One of them, 147, decodes alike
   * with any end; in a clip that stops soon behind it, it is coded otherwise.
   */
  const DRAWN = [
    'color=0x00ff00:s=1280x720:r=25:d=8[flat]',
    'color=0x204080:s=60x60:r=25:d=8[one]',
    'color=0xf0c0a0:s=30x90:r=25:d=8[other]',
    "[flat][one]overlay=x='500+300*sin(t)':y='200+150*cos(1.3*t)'[both]",
    "[both][other]overlay=x='500+300*sin(1.7*t)':y='200+150*cos(2.3*t)',gblur=1.5",
  ].join(';');

  it('names no intact picture where any end gives the same flat colour, and still the one that is not read', async () => {
    const encode = '-pix_fmt yuv420p -c:v libx264 -threads 1 -crf 22 -preset fast -bf 0'.split(' ');
    await encodeSource(DRAWN, at('drawn.mp4'), encode);
    expect(await neverRead(at('drawn.mp4'))).toEqual([]);
    expect(await neverRead(await stretch('drawn', STRETCHED))).toEqual([STRETCHED]);
  });

  it('says nothing when the slices of all suspects are too short to be cut', async () => {
    const grey = ['-c:v', 'libx264', '-g', '60', '-bf', '0'];
    await encodeSource('color=gray:s=64x64:r=25:d=2', at('grey.mp4'), grey);
    const info = await probe(tools, at('grey.mp4'), 'mov');
    const { video } = await readPackets({ inputPath: at('grey.mp4'), info, tools });
    const suspects = video.map((_, place) => place);
    expect(suspects.length).toBe(50);
    expect(
      await checkSliceEnds({ inputPath: at('grey.mp4'), info, packets: video, suspects, tools }),
    ).toEqual([]);
  });
});
