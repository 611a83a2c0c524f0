import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findVideoTrack, readMovie } from '#server/media/mp4/movie.ts';
import { readSamples, type Sample } from '#server/media/mp4/sample-table.ts';
import { probe } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { checkStructure } from './check-structure.ts';
import { testTools as tools } from '#server/test/media-job.ts';

let folder = '';
let clip = '';
let samples: Sample[] = [];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'structure-'));
  clip = path.join(folder, 'clip.mp4');
  await runFfmpeg(
    {
      label: 'make a clip',
      inputs: [{ path: 'testsrc2=s=320x240:r=25:d=3', lavfi: true }],
      outputs: [{ path: clip, options: '-c:v libx264 -preset veryfast -bf 2 -g 25 -crf 12'.split(' ') }],
      expectedDurationMs: null,
    },
    { tools },
  );
  const file = await open(clip);
  samples = readSamples(findVideoTrack(await readMovie(file), 0).stbl);
  await file.close();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Damages a copy of the clip and checks its structure. */
async function checkDamaged(name: string, damage: (bytes: Buffer) => void) {
  const bytes = await readFile(clip);
  damage(bytes);
  const target = path.join(folder, `${name}.mp4`);
  await writeFile(target, bytes);
  return checkStructure(target, await probe(tools, clip, 'mov'));
}

/** Display number of a sample: the number of samples shown before it. */
const frameOf = (sample: Sample) => samples.filter((other) => other.pts < sample.pts).length;

function sampleAt(index: number): Sample {
  const sample = samples[index];
  if (!sample) throw new Error('The clip is too short.');
  return sample;
}

describe('checkStructure', () => {
  it('finds nothing in an intact clip', async () => {
    const answer = await checkStructure(clip, await probe(tools, clip, 'mov'));
    const restarts = new Set(samples.flatMap(({ sync }, place) => (sync ? [place] : [])));
    expect(restarts.size).toBe(3);
    expect(answer).toEqual({ checked: true, damagedFrames: [], lost: [], restarts });
  });

  it('finds nothing in pictures behind one length each, as phones write slow motion, and damage in one of them', async () => {
    const delimited = path.join(folder, 'delimited.mp4');
    const options = '-c copy -bsf:v h264_metadata=aud=insert'.split(' ');
    const plan = { label: 'mark the pictures', inputs: [{ path: clip }], expectedDurationMs: null };
    await runFfmpeg({ ...plan, outputs: [{ path: delimited, options }] }, { tools });
    const file = await open(delimited);
    const pictures = readSamples(findVideoTrack(await readMovie(file), 0).stbl);
    await file.close();
    const bytes = await readFile(delimited);
    for (const { offset, sizeBytes } of pictures) {
      for (let at = offset; at < offset + sizeBytes;) {
        const length = bytes.readUInt32BE(at);
        bytes.writeUInt32BE(at === offset ? sizeBytes - 4 : 1, at);
        at += 4 + length;
      }
    }
    await writeFile(delimited, bytes);
    const info = await probe(tools, delimited, 'mov');
    expect(await checkStructure(delimited, info)).toMatchObject({
      checked: true,
      damagedFrames: [],
      lost: [],
    });

    const [torn] = pictures.slice(20);
    if (!torn) throw new Error('The clip is too short.');
    const middle = torn.offset + Math.floor(torn.sizeBytes / 2);
    bytes.fill(0, middle, middle + 20);
    await writeFile(delimited, bytes);
    expect((await checkStructure(delimited, info)).damagedFrames).toMatchObject([
      { frame: frameOf(sampleAt(20)) },
    ]);
  });

  it('distinguishes a damaged message before a picture from damage in the picture', async () => {
    const first = sampleAt(0);
    const { damagedFrames } = await checkDamaged('message', (bytes) => {
      // The encoder's message stands before the first slice; it gets a type that no stream uses.
      expect((bytes[first.offset + 4] ?? 0) & 31).toBe(6);
      bytes.fill(0x99, first.offset + 4, first.offset + 44);
    });
    expect(damagedFrames).toMatchObject([{ frame: 0, beside: true }]);
    const slice = await checkDamaged('slice', (bytes) => {
      const message = bytes.readUInt32BE(first.offset);
      bytes.fill(0x99, first.offset + message + 8, first.offset + message + 48);
    });
    expect(slice.damagedFrames).toHaveLength(1);
    expect(slice.damagedFrames[0]?.beside).toBeUndefined();
  });

  it('names the displayed frame whose data were zeroed, despite reordering', async () => {
    const victim = sampleAt(31);
    const answer = await checkDamaged('zeroed', (bytes) => {
      bytes.fill(0, victim.offset + 60, victim.offset + 90);
    });
    expect(answer.damagedFrames.map(({ frame }) => frame)).toEqual([frameOf(victim)]);
  });

  it('names every frame inside an overwritten stretch', async () => {
    const victims = [40, 41, 42].map(sampleAt);
    const answer = await checkDamaged('garbage', (bytes) => {
      for (const { offset, sizeBytes } of victims) {
        for (let at = 0; at < sizeBytes; at++) bytes[offset + at] = (at * 2654435761) >>> 24;
      }
    });
    expect(answer.damagedFrames.map(({ frame }) => frame)).toEqual(
      victims.map(frameOf).sort((a, b) => a - b),
    );
  });

  it('finds pictures beyond the end of a truncated file', async () => {
    const bytes = await readFile(clip);
    const cutAt = sampleAt(60).offset + 3;
    const target = path.join(folder, 'short.mp4');
    // The index of this clip stands at the end; moving it to the front keeps it readable after the cut.
    await runFfmpeg(
      {
        label: 'move the index',
        inputs: [{ path: clip }],
        outputs: [{ path: target, options: ['-c', 'copy', '-movflags', '+faststart'] }],
        expectedDurationMs: null,
      },
      { tools },
    );
    const front = await readFile(target);
    const moved = front.length - bytes.length;
    const file = await open(target);
    const first = readSamples(findVideoTrack(await readMovie(file), 0).stbl)[0];
    await file.close();
    const info = await probe(tools, target, 'mov');
    const shift = (first?.offset ?? 0) - sampleAt(0).offset;
    expect(Math.abs(moved)).toBeLessThan(64);
    await writeFile(target, front.subarray(0, cutAt + shift));
    const answer = await checkStructure(target, info);
    const lost = samples.slice(60).map(frameOf);
    expect(answer.damagedFrames.map(({ frame }) => frame)).toEqual(lost.sort((a, b) => a - b));
  });

  it('names the displayed HEVC frame whose data were zeroed', async () => {
    const whole = path.join(folder, 'hevc.mp4');
    const encode = '-c:v libx265 -preset ultrafast -crf 12 -x265-params log-level=none:pools=1 -tag:v hvc1';
    await runFfmpeg(
      {
        label: 'make an HEVC clip',
        inputs: [{ path: 'testsrc2=s=320x240:r=25:d=1', lavfi: true }],
        outputs: [{ path: whole, options: encode.split(' ') }],
        expectedDurationMs: null,
      },
      { tools },
    );
    const info = await probe(tools, whole, 'mov');
    expect(await checkStructure(whole, info)).toMatchObject({ checked: true, damagedFrames: [] });
    const file = await open(whole);
    const coded = readSamples(findVideoTrack(await readMovie(file), 0).stbl);
    await file.close();
    const victim = coded[11];
    if (!victim) throw new Error('The clip is too short.');
    const bytes = await readFile(whole);
    bytes.fill(0, victim.offset + 40, victim.offset + 70);
    const target = path.join(folder, 'hevc-zeroed.mp4');
    await writeFile(target, bytes);
    const { damagedFrames } = await checkStructure(target, info);
    const place = coded.filter((other) => other.pts < victim.pts).length;
    expect(damagedFrames.map(({ frame }) => frame)).toEqual([place]);
  });

  it('says that it cannot check other codecs', async () => {
    const other = path.join(folder, 'other.mp4');
    await runFfmpeg(
      {
        label: 'make a clip',
        inputs: [{ path: 'testsrc2=s=64x64:r=25:d=1', lavfi: true }],
        outputs: [{ path: other, options: ['-c:v', 'mpeg4'] }],
        expectedDurationMs: null,
      },
      { tools },
    );
    const info = await probe(tools, other, 'mov');
    expect(await checkStructure(other, info)).toEqual({
      checked: false,
      damagedFrames: [],
      lost: [],
      restarts: null,
    });
  });
});
