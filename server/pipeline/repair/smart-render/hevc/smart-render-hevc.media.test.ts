import { mkdir, open, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { joinSample, splitSample } from '#server/media/h264/nal.ts';
import { HEVC_NAL, hevcNalType, isHevcSlice } from '#server/media/hevc/hevc-nal.ts';
import { container, replaceBox } from '#server/media/mp4/box.ts';
import { readExactly } from '#server/media/mp4/file-bytes.ts';
import { findVideoTrack, readMovie } from '#server/media/mp4/movie.ts';
import { singleEntryStsd, withEntryBox } from '#server/media/mp4/sample-entry.ts';
import { rebuildTrack, writeMovie } from '#server/media/mp4/write-movie.ts';
import type { NewSample } from '#server/media/mp4/write-tables.ts';
import { readSamples, type Sample } from '#server/media/mp4/sample-table.ts';
import { probe } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { testTools as tools } from '#server/test/media-job.ts';
import {
  clipHashes,
  decodeHashes,
  encodeSource,
  renderLimits,
  sharedFolder,
} from '#server/test/rendered-clips.ts';
import {
  expectedPictures,
  original,
  packetsAndFrames,
  renderEdit,
  shownTimes,
  threeChanges,
  timesShown,
} from '#server/test/rendered-edits.ts';
import { turnClip, type Degrees } from '#server/test/turned-clips.ts';
import { smartRender } from '../smart-render.ts';

const folder = sharedFolder();

/** Blocks are coded in squares of 32 pixels; the last column and row of these pictures are halves of one. */
const SIZE = '208x112';
/** A little more than what `threeChanges` touches. */
const SECONDS = 3.5;

interface Maker {
  readonly name: string;
  /** Encoder settings in addition to those of all clips. */
  readonly params: string;
  readonly filter?: string;
  readonly size?: string;
  readonly seconds?: number;
  readonly pixelFormat?: string;
  readonly tag?: 'hvc1' | 'hev1';
  /** Options of a second, copying run. */
  readonly remux?: { readonly input?: string[]; readonly output?: string[] };
  readonly turned?: Degrees;
  readonly extension?: string;
}

const MAKERS: readonly Maker[] = [
  { name: 'closed-groups', params: 'open-gop=0:bframes=3:b-pyramid=1' },
  { name: 'open-groups', params: 'open-gop=1:bframes=4:b-pyramid=1' },
  { name: 'decodable-leading-pictures', params: 'open-gop=0:radl=2:bframes=3' },
  { name: 'temporal-layers', params: 'open-gop=0:bframes=3:temporal-layers=1' },
  { name: 'one-long-group', params: 'keyint=600:bframes=3' },
  { name: 'groups-of-two', params: 'keyint=2:min-keyint=1' },
  {
    name: 'open-groups-ten-bit-full-range-colours',
    params: 'open-gop=1:bframes=3:range=full:colorprim=9:transfer=18:colormatrix=9:chromaloc=2:sar=2',
    pixelFormat: 'yuv420p10le',
  },
  { name: 'several-slices-scaling-lists', params: 'open-gop=0:bframes=2:slices=3:scaling-list=default' },
  { name: 'not-whole-blocks', params: 'open-gop=1:bframes=2', size: '194x102' },
  {
    name: 'variable-rate',
    params: 'open-gop=1:bframes=3',
    filter: "select='not(eq(mod(n,7),3))'",
    seconds: 4,
  },
  { name: 'sets-in-band', params: 'open-gop=1:bframes=2:repeat-headers=1', tag: 'hev1' },
  { name: 'rotated-quicktime', params: 'open-gop=1:bframes=2', turned: 270, extension: 'mov' },
  { name: 'edit-list-start', params: 'open-gop=1:bframes=2', remux: { input: ['-ss', '1.4'] } },
  { name: 'late-video', params: 'open-gop=0:bframes=2', remux: { input: ['-itsoffset', '0.5'] } },
];

async function make(maker: Maker): Promise<string> {
  const extension = maker.extension ?? 'mp4';
  const tag = ['-tag:v', maker.tag ?? 'hvc1'];
  const first = path.join(folder.path, `${maker.name}-made.${extension}`);
  const { size = SIZE, seconds = SECONDS } = maker;
  const picture = `testsrc2=s=${size}:r=30:d=${seconds}[out0]`;
  await encodeSource(`${picture};sine=f=440:d=${seconds}:r=44100[out1]`, first, [
    ...(maker.filter ? ['-vf', maker.filter, '-fps_mode', 'vfr'] : []),
    '-pix_fmt',
    maker.pixelFormat ?? 'yuv420p',
    ...'-c:v libx265 -preset ultrafast -x265-params'.split(' '),
    `log-level=error:scenecut=0:keyint=30:min-keyint=15:${maker.params}`,
    ...tag,
    ...'-c:a aac -aac_coder fast -movflags +faststart'.split(' '),
  ]);
  const second = path.join(folder.path, `${maker.name}.${extension}`);
  if (maker.turned) await turnClip(first, second, maker.turned);
  if (!maker.remux) return maker.turned ? second : first;
  const { input = [], output = [] } = maker.remux;
  await runFfmpeg(
    {
      label: `remux ${maker.name}`,
      inputs: [{ path: first, options: input }, { path: first }],
      outputs: [{ path: second, options: ['-map', '0:v', '-map', '1:a', '-c', 'copy', ...tag, ...output] }],
      expectedDurationMs: null,
    },
    { tools },
  );
  return second;
}

/** What the decoder says about each picture's colours and shape. */
const COLOURS = [
  'color_range',
  'color_space',
  'color_primaries',
  'color_transfer',
  'chroma_location',
  'sample_aspect_ratio',
];

async function videoSamples(file: string): Promise<Sample[]> {
  const handle = await open(file);
  try {
    return readSamples(findVideoTrack(await readMovie(handle), 0).stbl);
  } finally {
    await handle.close();
  }
}

/** NAL unit type of the first slice of each sample, decode order. */
async function pictureTypes(file: string): Promise<(number | undefined)[]> {
  const bytes = await readFile(file);
  const samples = await videoSamples(file);
  return samples.map(({ offset, sizeBytes }) =>
    splitSample(bytes.subarray(offset, offset + sizeBytes), 4)
      .filter(isHevcSlice)
      .map(hevcNalType)
      .at(0),
  );
}

/** Units next to the slices of each picture, display order. */
async function ridersByTime(file: string): Promise<Buffer[][]> {
  const bytes = await readFile(file);
  return (await videoSamples(file))
    .sort((a, b) => a.pts - b.pts)
    .map(({ offset, sizeBytes }) =>
      splitSample(bytes.subarray(offset, offset + sizeBytes), 4).filter(
        (unit) => hevcNalType(unit) === HEVC_NAL.dolbyVision,
      ),
    );
}

interface Extra {
  /** An additional box of the sample description. */
  readonly box: { readonly type: string; readonly payload: Buffer };
  /** NAL unit after the slices of a sample. */
  readonly behind?: (sample: number) => Buffer;
}

/** A copy of a clip's pictures with additional data. */
async function withExtra(file: string, name: string, { box, behind }: Extra): Promise<string> {
  const output = path.join(folder.path, `${name}.mp4`);
  const source = await open(file);
  const spool = await open(path.join(folder.path, `${name}.spool`), 'w+');
  try {
    const movie = await readMovie(source);
    const track = findVideoTrack(movie, 0);
    const [entry] = track.entries;
    if (!entry) throw new Error('The clip has no picture description.');
    const stsd = singleEntryStsd(withEntryBox(entry, box.type, box.payload));
    const trak = replaceBox(track.trak, 'mdia/minf/stbl', (stbl) => {
      return container('stbl', [...(stbl.children ?? []).filter(({ type }) => type !== 'stsd'), stsd]);
    });
    let position = 0;
    const samples: NewSample[] = [];
    for (const [index, old] of readSamples(track.stbl).entries()) {
      const units = splitSample(await readExactly(source, old.offset, old.sizeBytes), 4);
      const bytes = joinSample([...units, ...(behind ? [behind(index)] : [])], 4);
      await spool.write(bytes, 0, bytes.length, position);
      samples.push({ ...old, bytes: { file: spool, offset: position, sizeBytes: bytes.length } });
      position += bytes.length;
    }
    const moov = container(
      'moov',
      (movie.moov.children ?? []).filter(({ type }) => type === 'mvhd'),
    );
    const tracks = [rebuildTrack(trak, track.timescale, samples)];
    await writeMovie(output, { ftyp: movie.ftyp, moov, tracks });
  } finally {
    await source.close();
    await spool.close();
  }
  return output;
}

describe('smartRender of HEVC', () => {
  for (const maker of MAKERS) {
    it(`keeps everything that an edit does not touch (${maker.name})`, async () => {
      const file = await make(maker);
      const made = await packetsAndFrames(file, COLOURS);
      const times = timesShown(made.packets);
      const edit = maker.name === 'edit-list-start' ? threeChanges(times).slice(0, 1) : threeChanges(times);
      const { output, result, shares, info } = await renderEdit(folder.path, file, maker.name, edit);
      if (!result.done) throw new Error(result.reason);

      const before = await clipHashes(file);
      const after = await clipHashes(output);
      expect(before.warnings).toBe('');
      expect(after.warnings).toBe('');
      const planned = expectedPictures(times, edit);
      expect(after.hashes).toHaveLength(planned.length);
      const inSpan = (frame: number) =>
        result.reencodedSpans.some((span) => frame >= span.firstFrame && frame < span.endFrame);
      const kept = planned.filter(({ from }) => from !== null && !inSpan(from));
      if (maker.name !== 'one-long-group') expect(kept.length).toBeGreaterThan(20);
      planned.forEach(({ from }, index) => {
        if (from === null || inSpan(from)) return;
        expect(after.hashes[index], `picture ${from}`).toBe(before.hashes[from]);
      });

      const { packets, frames } = await packetsAndFrames(output, COLOURS);
      expect(timesShown(packets)).toEqual(planned.map(({ pts }) => pts));
      packets.forEach((packet, index) => {
        expect(packet.dts).toBeGreaterThan(packets[index - 1]?.dts ?? -Infinity);
        expect(packet.dts).toBeLessThanOrEqual(packet.pts);
      });
      expect(after.sound).toMatch(/^SHA256=/);
      expect(after.sound).toBe(before.sound);
      expect(frames).toHaveLength(planned.length);
      expect([...new Set(frames)]).toEqual([...new Set(made.frames)]);

      const again = await probe(tools, output, 'mov');
      const [old, fresh] = [info.video[0], again.video[0]];
      for (const field of [
        'rotation',
        'pixelFormat',
        'profile',
        'startMs',
        'codecTag',
        'width',
        'height',
      ] as const) {
        expect(fresh?.[field]).toBe(old?.[field]);
      }
      expect(shares.at(-1)).toBe(1);
      expect(result.heldFrames).toEqual([]);
    });
  }

  it('encodes only the leading pictures of an open group when only they are touched', async () => {
    const file = await make({
      name: 'leading-only',
      params: 'open-gop=1:bframes=3:b-adapt=0:keyint=32',
      seconds: 2.5,
    });
    const times = await shownTimes(file);
    const types = await pictureTypes(file);
    const cra = types.findIndex((type, index) => index > 0 && type === HEVC_NAL.cra);
    // Others refer to the first one; the stretch begins at the key picture's place in decode order.
    expect(types[cra + 1]).toBe(HEVC_NAL.raslR);
    const samples = await videoSamples(file);
    const leader = samples.filter(({ pts }) => pts < (samples[cra + 1]?.pts ?? 0)).length;
    const edit = [
      {
        firstFrame: leader,
        endFrame: leader + 1,
        pictures: [original(times[leader] ?? 0, cra - 1)],
        shiftAfterTicks: 0,
      },
    ];
    const { output, result } = await renderEdit(folder.path, file, 'leading-only', edit);
    if (!result.done) throw new Error(result.reason);
    const [span] = result.reencodedSpans;
    expect(span?.firstFrame).toBe(cra);
    const before = await decodeHashes(file);
    const after = await decodeHashes(output);
    expect(after.warnings).toBe('');
    const same = before.hashes.filter((hash, frame) => after.hashes[frame] === hash).length;
    const leading = types.filter((type) => type === HEVC_NAL.raslR || type === HEVC_NAL.raslN).length;
    expect(same).toBeGreaterThanOrEqual(before.hashes.length - leading);
    expect(await pictureTypes(output)).toContain(HEVC_NAL.blaAlone);
  });

  it('leaves no trace of destroyed bytes before an open group', async () => {
    const intact = await make({
      name: 'destroyed',
      params: 'open-gop=1:bframes=3',
      pixelFormat: 'yuv420p10le',
    });
    const file = path.join(folder.path, 'destroyed-now.mp4');
    const bytes = await readFile(intact);
    const samples = await videoSamples(intact);
    const victim = samples.find((sample, index) => index >= 48 && sample.sizeBytes > 300);
    if (!victim) throw new Error('The clip has no picture to destroy.');
    bytes.fill(0, victim.offset + 100, victim.offset + 280);
    await writeFile(file, bytes);
    expect((await decodeHashes(file)).hashes).not.toEqual((await decodeHashes(intact)).hashes);
    const times = await shownTimes(file);
    const damaged = Array.from({ length: 20 }, (_, step) => 42 + step);
    const edit = [
      {
        firstFrame: 42,
        endFrame: 62,
        pictures: damaged.map((frame) => original(times[frame] ?? 0, frame < 52 ? 41 : 62)),
        shiftAfterTicks: 0,
      },
    ];
    const { output, result } = await renderEdit(folder.path, file, 'destroyed-now', edit);
    if (!result.done) throw new Error(result.reason);
    const before = await decodeHashes(intact);
    const after = await decodeHashes(output);
    expect(after.warnings).toBe('');
    expect(await shownTimes(output)).toEqual(times);
    const [span] = result.reencodedSpans;
    expect(result.reencodedSpans).toHaveLength(1);
    expect(after.hashes).toHaveLength(before.hashes.length);
    before.hashes.forEach((hash, frame) => {
      const outside = frame < (span?.firstFrame ?? 0) || frame >= (span?.endFrame ?? 0);
      if (outside) expect(after.hashes[frame], `picture ${frame}`).toBe(hash);
    });
  });

  it('repairs what it has repaired before', async () => {
    const file = await make({ name: 'twice', params: 'open-gop=1:bframes=3' });
    const times = await shownTimes(file);
    const hold = (frame: number) => [
      {
        firstFrame: frame,
        endFrame: frame + 2,
        pictures: [frame, frame + 1].map((at) => original(times[at] ?? 0, frame - 1)),
        shiftAfterTicks: 0,
      },
    ];
    const once = await renderEdit(folder.path, file, 'twice', hold(40));
    const twice = await renderEdit(folder.path, once.output, 'twice-again', hold(100));
    expect(twice.result.done).toBe(true);
    const [first, second] = [await decodeHashes(once.output), await decodeHashes(twice.output)];
    expect(second.warnings).toBe('');
    first.hashes.slice(0, 90).forEach((hash, frame) => expect(second.hashes[frame]).toBe(hash));
  });

  it('declines with a reason what it cannot keep intact', async () => {
    const plain = await make({ name: 'declined', params: 'bframes=2', seconds: 1 });
    const times = await shownTimes(plain);
    const hold = [{ firstFrame: 5, endFrame: 6, pictures: [original(times[5] ?? 0, 4)], shiftAfterTicks: 0 }];
    const reasonFor = async (file: string, name: string) => {
      const { result } = await renderEdit(folder.path, file, name, hold);
      return result.done ? 'done' : result.reason;
    };
    const deep = await make({
      name: 'declined-422',
      params: 'bframes=2',
      pixelFormat: 'yuv422p10le',
      seconds: 1,
    });
    expect(await reasonFor(deep, 'declined-422')).toMatch(/profile/);
    const twelve = await make({
      name: 'declined-12',
      params: 'bframes=2',
      pixelFormat: 'yuv420p12le',
      seconds: 1,
    });
    expect(await reasonFor(twelve, 'declined-12')).toMatch(/pixel format|profile/);
    for (const [type, reason] of [
      ['lhvC', /second layer/],
      ['dvvC', /Dolby Vision whose pictures do not stand alone/],
    ] as const) {
      // Zeros describe no profile.
      const file = await withExtra(plain, `declined-${type}`, { box: { type, payload: Buffer.alloc(24) } });
      expect(await reasonFor(file, `declined-${type}`)).toMatch(reason);
    }
  });

  it('gives new pictures of a Dolby Vision clip the data of the pictures they replace', async () => {
    const plain = await make({
      name: 'vision',
      params: 'open-gop=1:bframes=3',
      pixelFormat: 'yuv420p10le',
      seconds: 2.5,
    });
    // Version 1.0, profile 8, level 4, data and plain pictures, compatible with HLG.
    const payload = Buffer.concat([Buffer.from([1, 0, 0x10, 0x25, 0x40]), Buffer.alloc(19)]);
    const dataOf = (sample: number) => Buffer.from([HEVC_NAL.dolbyVision << 1, 1, 0x19, 1 + sample, 0x80]);
    const file = await withExtra(plain, 'vision-data', { box: { type: 'dvvC', payload }, behind: dataOf });
    const times = await shownTimes(file);
    const held = [40, 41, 42];
    const edit = [
      {
        firstFrame: 40,
        endFrame: 43,
        pictures: held.map((frame) => original(times[frame] ?? 0, 39)),
        shiftAfterTicks: 0,
      },
    ];
    const { output, result } = await renderEdit(folder.path, file, 'vision', edit);
    if (!result.done) throw new Error(result.reason);
    const [before, after] = [await ridersByTime(file), await ridersByTime(output)];
    expect(after.length).toBe(times.length);
    after.forEach((rider, frame) => {
      expect(rider, `picture ${frame}`).toEqual(before[held.includes(frame) ? 39 : frame]);
    });
  });

  it('keeps the times of a clip whose edit list starts inside a picture', async () => {
    const file = await make({
      name: 'inside',
      params: 'open-gop=1:bframes=2',
      remux: { input: ['-ss', '1.4'] },
    });
    const bytes = await readFile(file);
    const edit = bytes.indexOf('elst') + 16;
    bytes.writeInt32BE(bytes.readInt32BE(edit) - 100, edit);
    const moved = path.join(folder.path, 'inside-moved.mp4');
    await writeFile(moved, bytes);
    const times = await shownTimes(moved);
    const changes = threeChanges(times).slice(0, 1);
    const { output, result } = await renderEdit(folder.path, moved, 'inside-moved', changes);
    if (!result.done) throw new Error(result.reason);
    expect(await shownTimes(output)).toEqual(times);
  });

  it('leaves the clip to another encoder when this ffmpeg has none for HEVC', async () => {
    const file = await make({ name: 'no-encoder', params: 'bframes=2', seconds: 1 });
    const tool = path.join(folder.path, 'ffmpeg-without-x265');
    await writeFile(tool, '#!/bin/sh\ncase "$*" in *libx265*) exit 1;; *) exec ffmpeg "$@";; esac\n', {
      mode: 0o755,
    });
    const times = await shownTimes(file);
    const workDir = path.join(folder.path, 'no-encoder-work');
    await mkdir(workDir);
    const result = await smartRender({
      inputPath: file,
      outputPath: path.join(folder.path, 'no-encoder-out.mp4'),
      workDir,
      info: await probe(tools, file, 'mov'),
      edit: [{ firstFrame: 5, endFrame: 6, pictures: [original(times[5] ?? 0, 4)], shiftAfterTicks: 0 }],
      tools: { ...tools, ffmpeg: tool },
      limits: renderLimits,
    });
    expect(result).toEqual({ done: false, reason: 'This server has no encoder for HEVC of this kind.' });
  });
});
