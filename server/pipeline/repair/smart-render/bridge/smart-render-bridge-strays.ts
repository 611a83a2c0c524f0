import path from 'node:path';
import { EACH_PICTURE } from '#server/media/ffmpeg/ffmpeg-names.ts';
import { ONCE, sumOf, type FfmpegPlan } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import type { BridgeInput } from './smart-render-bridge.ts';
import type { BridgePlan } from './smart-render-bridge-plan.ts';
import { streamPictures } from '../smart-render-decode.ts';
import { isHardlyChanged, isLike, sampled, squareError } from '../exchange/smart-render-exchange-likeness.ts';
import { verbatimBytes } from '../exchange/smart-render-exchange-plan.ts';
import { AS_CODED } from '../smart-render-hashes.ts';

/** The trial clips of a bridge: its part as it was, and with the new pictures. */
export const oldClip = ({ workDir }: Pick<BridgeInput, 'workDir'>): string =>
  path.join(workDir, 'bridge-old.mp4');
export const newClip = ({ workDir }: Pick<BridgeInput, 'workDir'>): string =>
  path.join(workDir, 'bridge-new.mp4');

/**
 * Finds samples that decode differently with the bridge and must not: all undamaged ones, and damaged ones that look
 * different, unless they are few. A decoder replaces a lost reference with another picture, so damaged pictures after a
 * bridge may come out slightly different.
 * @throws MediaToolError when ffmpeg fails or the run is cancelled
 */
export async function straysOf(
  input: BridgeInput,
  { part, inSpans }: BridgePlan,
  changed: readonly number[],
): Promise<number[]> {
  const undamaged = changed.filter((sample) => !inSpans.has(sample));
  const damaged = changed.filter((sample) => inSpans.has(sample));
  if (damaged.length === 0) return undamaged;
  const { samples } = input.source;
  const origin = samples[part.from]?.dts ?? 0;
  const ticksOf = (sample: number) => (samples[sample]?.pts ?? 0) - origin;
  const times = damaged.map(ticksOf);
  const before = await marksAt(input, oldClip(input), times);
  const after = await marksAt(input, newClip(input), times);
  const changes = damaged.map((sample) => {
    const [one, other] = [before.get(ticksOf(sample)), after.get(ticksOf(sample))];
    return { sample, error: one && other ? squareError(one, other) : 0 };
  });
  if (isLike(changes, inSpans.size)) return undamaged;
  return [...undamaged, ...changes.flatMap((one) => (isHardlyChanged(one) ? [] : [one.sample]))];
}

/** Some samples of the pictures at certain times, ticks of the clip. */
async function marksAt(
  input: BridgeInput,
  clipPath: string,
  times: readonly number[],
): Promise<Map<number, Uint8Array>> {
  const chosen = sumOf(times.map((at) => `eq(pts,${at})`));
  const plan: FfmpegPlan = {
    label: 'decode pictures that came out otherwise',
    logLevel: 'repeat+level+info',
    isLogRead: true,
    globalOptions: ['-copyts'],
    inputs: [{ path: clipPath, format: 'mov', options: AS_CODED }],
    filterComplex: `[0:v:0]select='${chosen}',showinfo=checksum=0,${ONCE}[some]`,
    outputs: [
      {
        path: 'pipe:1',
        options: ['-map', '[some]', '-pix_fmt', input.pixelFormat, ...EACH_PICTURE, '-f', 'rawvideo'],
      },
    ],
    expectedDurationMs: null,
  };
  const marks = new Map<number, Uint8Array>();
  const options = { ...input, pictureBytes: verbatimBytes(input.source.sps) };
  for await (const { pts, pixels } of streamPictures(plan, options))
    if (pts !== null) marks.set(pts, sampled(pixels));
  return marks;
}
