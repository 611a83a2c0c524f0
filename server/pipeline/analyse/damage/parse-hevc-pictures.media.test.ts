import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { probe } from '#server/media/probe/probe.ts';
import { corruptSamples } from '#server/test/broken-clips.ts';
import { testTools as tools } from '#server/test/media-job.ts';
import { encodeSource, sharedFolder } from '#server/test/rendered-clips.ts';
import { analyseVideo } from '../analyse-video.ts';
import { parseHevcPictures } from './parse-hevc-pictures.ts';
import { readPackets } from '../packets/read-packets.ts';

const folder = sharedFolder();
const SOURCE = 'testsrc2=s=208x160:r=25:d=2.4,noise=alls=12:allf=t';
const HEVC =
  '-c:v libx265 -preset veryfast -crf 24 -tag:v hvc1 -x265-params keyint=30:bframes=0:log-level=error';

async function clip(name: string, options: string, source = SOURCE): Promise<string> {
  return encodeSource(source, path.join(folder.path, `${name}.mp4`), options.split(' '));
}

async function parse(inputPath: string, signal?: AbortSignal) {
  const info = await probe(tools, inputPath, 'mov');
  const { video } = await readPackets({ inputPath, info, tools });
  return parseHevcPictures({ inputPath, info, packets: video, signal });
}

describe('parseHevcPictures', () => {
  it('names every picture with overwritten bytes and no other', async () => {
    const inputPath = await clip('plain', HEVC);
    expect(await parse(inputPath)).toEqual({ damaged: [], whole: 60, isRare: false });
    const outputPath = path.join(folder.path, 'broken.mp4');
    const frames = [3, 17, 18, 30, 44];
    await corruptSamples({
      inputPath,
      outputPath,
      frames,
      tools,
      fault: 'random',
      amount: 24,
      place: 0.5,
      seed: 9,
    });
    const { damaged, whole } = (await parse(outputPath)) ?? { damaged: [], whole: 0 };
    expect(frames).toEqual(expect.arrayContaining([...damaged]));
    // One in a few hundred gets back into step and ends where it should.
    expect(damaged.length).toBeGreaterThanOrEqual(frames.length - 1);
    expect(whole).toBe(60 - damaged.length);
  });

  it('helps to find a silently damaged picture that does not stand out from its neighbours', async () => {
    // More pictures than would all be checked without a sign of damage, and damage to the end of a B picture in noise:
    // without what the parser says, nothing is found.
    const source = 'testsrc2=s=352x288:r=25:d=5,noise=alls=40:allf=t';
    const coding = HEVC.replace('bframes=0', 'bframes=3').replace('veryfast -crf 24', 'ultrafast -crf 30');
    const inputPath = await clip('long', coding, source);
    const outputPath = path.join(folder.path, 'silent.mp4');
    const frames = [21];
    await corruptSamples({
      inputPath,
      outputPath,
      frames,
      tools,
      fault: 'random',
      amount: 20,
      place: 0.9,
      seed: 2,
    });
    const info = await probe(tools, outputPath, 'mov');
    const { findings } = await analyseVideo({ inputPath: outputPath, info, tools });
    const starts = findings.flatMap(({ kind, firstFrame }) =>
      kind === 'corrupted_section' ? [firstFrame] : [],
    );
    // Pictures shown before it may refer to it.
    expect(starts.length).toBeGreaterThan(0);
    for (const start of starts) expect(Math.abs((start ?? 0) - 21)).toBeLessThanOrEqual(4);
  });

  it('says nothing about other codecs and other chroma formats', async () => {
    expect(
      await parse(await clip('avc', '-c:v libx264 -preset ultrafast', 'testsrc2=s=160x96:d=0.4')),
    ).toBeNull();
    const wide = HEVC.replace('-c:v', '-pix_fmt yuv422p -c:v');
    expect(await parse(await clip('wide', wide, 'testsrc2=s=160x96:d=0.4'))).toBeNull();
  });

  it('stops when the job is cancelled', async () => {
    const inputPath = await clip('cancelled', HEVC, 'testsrc2=s=160x96:d=0.4');
    await expect(parse(inputPath, AbortSignal.abort())).rejects.toMatchObject({ code: 'cancelled' });
  });
});
