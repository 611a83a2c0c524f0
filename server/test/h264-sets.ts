import { plainPps } from '#server/media/h264/pcm-picture.ts';
import { writePps } from '#server/media/h264/pps.ts';
import { writeSps } from '#server/media/h264/write-sps.ts';

/** Parameter sets of the main profile, with CABAC and one reference, for slices that tests write themselves. */
export function mainSets(change: Partial<Parameters<typeof writeSps>[0]>): {
  readonly sps: Buffer;
  readonly pps: Buffer;
} {
  const sps = writeSps({
    profile: 77,
    constraints: 0,
    level: 40,
    chromaFormat: 1,
    bitDepthLuma: 8,
    losslessBypass: false,
    frameNumBits: 4,
    pocType: 2,
    pocBits: 0,
    maxRefFrames: 1,
    reordered: 0,
    widthMbs: 120,
    heightMbs: 68,
    crop: { right: 0, bottom: 8 },
    ...change,
  });
  return { sps, pps: writePps({ ...plainPps({ id: 0 }, 0), cabac: true }, 1, false) };
}
