import { open } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readExactly } from '#server/media/mp4/file-bytes.ts';
import { readMovie } from '#server/media/mp4/movie.ts';
import { readSamples } from '#server/media/mp4/sample-table.ts';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { testTools } from '#server/test/media-job.ts';
import { sharedFolder } from '#server/test/rendered-clips.ts';
import { seededRandom } from '#server/test/seeded-random.ts';
import { readAacConfig } from './aac-config.ts';
import { createAacFrameReader } from './aac-frame.ts';
import { quieterFrame } from './aac-gain.ts';

/** Noise with clicks, so that long and short windows, noise and escapes occur; channels that are partly alike. */
const source = (rateHz: number, channels: number) =>
  [
    `aevalsrc=exprs='0.4*sin(440*2*PI*t)+0.3*(random(0)-0.5)+0.9*lt(mod(t,0.23),0.002)`,
    channels === 2 ? `|0.4*sin(440*2*PI*t)+0.2*(random(1)-0.5)+0.2*sin(3000*t*t)'` : `'`,
    `:s=${rateHz}:d=3`,
  ].join('');

describe('reading AAC frames to their end', () => {
  const folder = sharedFolder();

  async function framesOf(rateHz: number, channels: number, bitRate: string) {
    const clip = path.join(folder.path, `${rateHz}-${channels}.m4a`);
    const made = ['-v', 'error', '-f', 'lavfi', '-i', source(rateHz, channels)];
    await runTool('make sound', testTools.ffmpeg, [...made, '-c:a', 'aac', '-b:a', bitRate, '-y', clip]);
    const file = await open(clip, 'r');
    try {
      const [track] = (await readMovie(file)).tracks;
      if (!track) throw new Error('There is no track.');
      const frames: Buffer[] = [];
      for (const { offset, sizeBytes } of readSamples(track.stbl)) {
        frames.push(await readExactly(file, offset, sizeBytes));
      }
      const config = readAacConfig(track.entries[0]?.bytes ?? Buffer.alloc(0));
      const reader = config && createAacFrameReader(config);
      if (!reader) throw new Error(`No reader for ${JSON.stringify(config)}.`);
      return { frames, reader };
    } finally {
      await file.close();
    }
  }

  it.each([
    [96_000, 2, '192k'],
    [64_000, 1, '96k'],
    [48_000, 2, '320k'],
    [44_100, 1, '64k'],
    [32_000, 2, '48k'],
    [22_050, 2, '64k'],
    [16_000, 1, '32k'],
    [8000, 1, '16k'],
  ])('finds the length of each at %d Hz, %d channels and %s', async (rateHz, channels, bitRate) => {
    const { frames, reader } = await framesOf(rateHz, channels, bitRate);
    expect(frames.length).toBeGreaterThan(20);
    const behind = Buffer.from([0xaa, 0x55, 0xff, 0x00]);
    const lengths = frames.map((frame) => reader.frameBytes(Buffer.concat([frame, behind]), 0));
    expect(lengths).toEqual(frames.map(({ length }) => length));
  });

  it('accepts no truncated frame, and hardly ever other bytes', async () => {
    const { frames, reader } = await framesOf(44_100, 2, '128k');
    expect(frames.filter((frame) => reader.frameBytes(frame.subarray(0, -2), 0) !== null)).toEqual([]);
    const random = seededRandom(5);
    const other = Buffer.from(Array.from({ length: 20_000 }, () => Math.floor(random() * 256)));
    const taken = Array.from(other).filter((_, at) => reader.frameBytes(other, at) !== null);
    expect(taken.length).toBeLessThan(20);
  });

  it('recognises which frames have long and short windows, whatever fills their last byte', async () => {
    const { frames, reader } = await framesOf(44_100, 1, '64k');
    const read = frames.map((frame) => reader.read(frame));
    expect(read).not.toContain(null);
    const edges = read.map((frame) => `${frame?.beginsLong}-${frame?.endsLong}`);
    expect(new Set(edges)).toEqual(new Set(['true-true', 'true-false', 'false-false', 'false-true']));
    // Each frame begins as the one before it ends.
    expect(read.slice(1).map((frame) => frame?.beginsLong)).toEqual(
      read.slice(0, -1).map((frame) => frame?.endsLong),
    );
    const filled = frames.map((frame) => {
      const last = frame.at(-1) ?? 0;
      const fill = (last & -last) - 1;
      return Buffer.concat([frame.subarray(0, -1), Buffer.from([last | fill])]);
    });
    expect(filled.map((frame) => reader.read(frame)?.bytes)).toEqual(filled);
    expect(reader.read((frames[5] ?? Buffer.alloc(0)).subarray(0, -2))).toBeNull();
  });

  it('makes a frame quieter that decodes to the same shape', async () => {
    const { frames, reader } = await framesOf(48_000, 2, '320k');
    const frame = frames.map((one) => reader.read(one)).find((one) => one?.beginsLong && one.endsLong);
    if (!frame) throw new Error('No long frame.');
    const quiet = reader.read(quieterFrame(frame, 8));
    expect(quiet?.gainsAt).toEqual(frame.gainsAt);
    expect(frame.gainsAt).toHaveLength(2);
    const gains = (bytes: Buffer) =>
      frame.gainsAt.map((at) => (bytes.readUInt16BE(at >> 3) >> (8 - (at & 7))) & 0xff);
    expect(gains(quiet?.bytes ?? Buffer.alloc(0))).toEqual(gains(frame.bytes).map((gain) => gain - 8));
    expect(gains(quieterFrame(frame, 300))).toEqual([0, 0]);
  });
});
