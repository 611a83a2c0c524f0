import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { annexB, createAnnexBSplitter, isSlice, NAL, nalType, opensPicture } from '#server/media/h264/nal.ts';
import { parsePps } from '#server/media/h264/pps.ts';
import type { SliceContext } from '#server/media/h264/slice-header.ts';
import { parseSps } from '#server/media/h264/sps.ts';
import type { AvcSets } from '#server/media/h264/slice-data/learn-usual.ts';
import { testTools as tools } from './media-job.ts';
import { encodeSource } from './rendered-clips.ts';

/** Width and height of the streams, pixels. */
export const STREAM_WIDTH = 176;
export const STREAM_HEIGHT = 144;
const PICTURE_BYTES = (STREAM_WIDTH * STREAM_HEIGHT * 3) / 2;

/** NAL units of two seconds of a moving test picture, encoded by x264. */
export async function makeH264Stream(folder: string, options: string): Promise<Buffer[]> {
  const file = path.join(folder, 'stream.h264');
  await runFfmpeg(
    {
      label: 'make a stream',
      inputs: [{ path: `testsrc2=s=${STREAM_WIDTH}x${STREAM_HEIGHT}:r=25:d=2`, lavfi: true }],
      outputs: [{ path: file, options: ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', ...options.split(' ')] }],
      expectedDurationMs: null,
    },
    { tools },
  );
  return unitsIn(file);
}

async function unitsIn(file: string): Promise<Buffer[]> {
  const splitter = createAnnexBSplitter();
  return [...splitter.push(await readFile(file)), ...splitter.end()];
}

const NOISE = 'testsrc2=s=1280x720:r=25:d=0.32,noise=alls=9:allf=t';
/** Calm pictures, in which wrong data soon stand out. */
export const CALM = 'mandelbrot=s=1280x720:r=25,trim=duration=0.6';

/**
 * NAL units of pictures that each refer to the one before, and what they refer to.
 * @param params of x264
 * @param chosen number of one of them, order of decoding
 */
export async function codePictures(
  folder: string,
  name: string,
  params: string,
  chosen: number,
  source = NOISE,
): Promise<{ sets: AvcSets; picture: Buffer[]; others: Buffer[][] }> {
  const coding = ['-pix_fmt', 'yuv420p', ...'-c:v libx264 -preset fast -x264-params'.split(' ')];
  const options = [...coding, `bframes=0:keyint=100:ref=1:${params}`, '-f', 'h264'];
  const file = await encodeSource(source, path.join(folder, `${name}.h264`), options);
  const units = await unitsIn(file);
  const { sps, pps } = contextOf(units);
  const pictures = picturesOf(units);
  const others = pictures.filter((_, at) => at !== chosen);
  return { sets: { sps, pps: [pps] }, picture: pictures[chosen] ?? [], others };
}

/** Decodes a stream of NAL units to pictures in display order, with the messages of the decoder. */
export async function decodeH264(
  folder: string,
  units: readonly Buffer[],
): Promise<{ pictures: Buffer[]; complaints: string[] }> {
  const file = path.join(folder, 'units.h264');
  await writeFile(file, annexB(units));
  const complaints: string[] = [];
  const chunks: Buffer[] = [];
  await runFfmpeg(
    {
      label: 'decode a stream',
      inputs: [{ path: file, format: 'h264', options: ['-err_detect', 'aggressive', '-threads', '1'] }],
      outputs: [{ path: 'pipe:1', options: ['-fps_mode', 'passthrough', '-f', 'rawvideo'] }],
      expectedDurationMs: null,
    },
    {
      tools,
      onStdout: (chunk) => {
        chunks.push(Buffer.from(chunk));
      },
      onStderrLine: (line) => {
        if (/\[h264 @/.test(line)) complaints.push(line);
      },
    },
  );
  const all = Buffer.concat(chunks);
  const count = Math.floor(all.length / PICTURE_BYTES);
  const pictures = Array.from({ length: count }, (_, at) =>
    all.subarray(at * PICTURE_BYTES, (at + 1) * PICTURE_BYTES),
  );
  return { pictures, complaints };
}

/** Parameter sets that the slices of a stream depend on; the stream has one of each kind. */
export function contextOf(units: readonly Buffer[]): SliceContext {
  const [spsUnit, ppsUnit] = [NAL.sps, NAL.pps].map((type) => units.find((unit) => nalType(unit) === type));
  if (!spsUnit || !ppsUnit) throw new Error('The stream has no parameter sets.');
  return { sps: parseSps(spsUnit), pps: parsePps(ppsUnit) };
}

/** The slices of each coded picture, decode order. */
export function picturesOf(units: readonly Buffer[]): Buffer[][] {
  const pictures: Buffer[][] = [];
  for (const unit of units.filter(isSlice)) {
    if (opensPicture(unit)) pictures.push([]);
    pictures.at(-1)?.push(unit);
  }
  return pictures;
}
