import { H264Error } from '#server/media/h264/h264-error.ts';
import { NAL, nalType } from '#server/media/h264/nal.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import type { TargetSequence } from './smart-render-encode.ts';
import type { Segment } from './smart-render-plan.ts';
import { keyQuantisers, rateFactorFor } from './smart-render-rate.ts';
import { encoderProfile, hasForeignParameterSets, type SmartSource } from './smart-render-source.ts';

/** The units of a sample; none if it is too damaged to have any. */
async function unitsOf(source: SmartSource, sample: number): Promise<readonly Buffer[]> {
  try {
    return await source.units(sample);
  } catch (error) {
    if (error instanceof H264Error) return [];
    throw error;
  }
}

/** The encoding that new pictures must have next to the old ones; a sentence if that is impossible. */
export async function toTarget(
  source: SmartSource,
  info: MediaInfo,
  segments: readonly Pick<Segment, 'decodeFrom' | 'endSample'>[],
): Promise<TargetSequence | string> {
  const stream = info.video[0];
  const profile = encoderProfile(source.sps);
  if (!stream || !profile) return 'The H.264 profile of the video is unusual.';
  let inBandPps = source.entry.coding === 'avc3';
  const quantisers: number[] = [];
  for (const segment of segments) {
    for (const sample of [segment.decodeFrom.sample, segment.endSample]) {
      if (sample >= source.samples.length) continue;
      const units = await unitsOf(source, sample);
      if (hasForeignParameterSets(source, units)) return 'The settings of the video change on its way.';
      inBandPps ||= units.some((unit) => nalType(unit) === NAL.pps);
      quantisers.push(...keyQuantisers(source, units));
    }
  }
  const used = Math.max(-1, ...source.pps.map((pps) => pps.id));
  if (used >= 255 || source.config.pps.length >= 255)
    return 'The video has no room for one more parameter set.';
  return {
    sps: source.sps,
    profile,
    width: stream.width,
    height: stream.height,
    pixelFormat: stream.pixelFormat ?? 'yuv420p',
    frameRate: Math.min(240, Math.max(1, stream.frameRate ?? 30)),
    lengthSize: source.config.lengthSize,
    ppsId: used + 1,
    inBandPps,
    rateFactor: rateFactorFor(quantisers),
  };
}
