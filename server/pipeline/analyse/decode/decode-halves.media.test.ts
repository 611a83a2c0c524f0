import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probe } from '#server/media/probe/probe.ts';
import { corruptSamples, DEFAULT_ENCODE, makeMovingClip } from '#server/test/broken-clips.ts';
import { decodeHalves, findSeam } from './decode-halves.ts';
import { decodePass, type DecodePass, type DecodePassInput } from './decode-pass.ts';
import { readPackets } from '../packets/read-packets.ts';
import { testTools as tools } from '#server/test/media-job.ts';

let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'halves-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Most pictures that both halves measure. */
const OVERLAP = 20;

/** Places of damage in pictures from the seam: far from it, right before it and right after it. */
const ANYWHERE = [-110, 45, -2, 3];

/**
 * What must be equal: messages as whole sentences at their places, without memory addresses, and the measures before
 * the damage. A decoder may fill lost blocks from pictures it saw long before.
 */
const toldOf = ({ ptsTicks, types, messages, series }: DecodePass, damaged: number) => ({
  ptsTicks,
  types,
  messages: messages.map(({ text, ...rest }) => ({ ...rest, text: text.replace(/0x[0-9a-f]+/g, '') })),
  measured: [...series.blockDiff.values(), series.histogramDiff, series.sharpness, series.rises].map(
    (values) => values.slice(0, damaged - 3),
  ),
});

describe('decodeHalves', () => {
  it.each([
    ['closed groups of pictures', ['-g', '60'], true, ANYWHERE],
    // Its range alone changes what is said, wherever the damage is.
    ['the full range of levels, of which the scaler warns', ['-g', '60', '-pix_fmt', 'yuvj420p'], true, [-2]],
    ['open groups of pictures', ['-g', '60', '-x264-params', 'open-gop=1:bframes=3'], false, ANYWHERE],
  ])('measures the same as one decoder with %s', async (_name, gop, isClosed, damaged) => {
    const inputPath = path.join(folder, 'clip.mp4');
    const encode = [...DEFAULT_ENCODE, ...gop];
    await makeMovingClip({
      tools,
      outputPath: inputPath,
      seconds: 8.5,
      width: 640,
      height: 480,
      sound: false,
      encode,
    });
    const info = await probe(tools, inputPath, 'mov');
    const stream = info.video[0];
    if (!stream) throw new Error('The clip has no picture.');
    const { video } = await readPackets({ inputPath, info, tools });
    const input: DecodePassInput = { inputPath, info, stream, expectedPictures: video.length, tools };
    const seam = findSeam(input, video);
    if (!seam) throw new Error('The clip has no key frame near its middle.');
    expect(Math.abs(seam.picturesBefore - 128)).toBeLessThanOrEqual(30);
    expect(seam.isClosed).toBe(isClosed);
    const joined = await decodeHalves(input, seam);
    expect(joined).toEqual(await decodePass(input));

    for (const frame of damaged.map((steps) => seam.picturesBefore + steps)) {
      const torn = path.join(folder, 'torn.mp4');
      await corruptSamples({ tools, inputPath, outputPath: torn, frames: [frame], fault: 'random', seed: 5 });
      const whole = await decodePass({ ...input, inputPath: torn });
      expect(whole.messages.length).toBeGreaterThan(0);
      const halves = await decodeHalves({ ...input, inputPath: torn }, seam);
      expect(halves ? toldOf(halves, frame) : null).toEqual(halves ? toldOf(whole, frame) : null);
      // With key pictures that need nothing from before, two decoders suffice wherever the damage is.
      if (isClosed || frame > seam.picturesBefore + OVERLAP) expect(halves).not.toBeNull();
    }
  });
});
