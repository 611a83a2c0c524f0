import { H264Error } from '#server/media/h264/h264-error.ts';
import { idrQuantiser } from '#server/media/h264/slice-quantiser.ts';
import { clamp, median } from '#server/media/statistics.ts';
import type { SmartSource } from './smart-render-source.ts';

/**
 * Transparent next to pictures of a phone's usual quality, without large files: on 60 pictures each of seven real clips
 * 42.4 to 50.8 dB against the coded ones, in 0.7 to 2.6 times their bytes. Preset ultrafast at 19 with three references
 * has 0.9 to 2.2 dB more and takes 1.5 to 4.8 times. Measured by: ffmpeg -ignore_editlist 1 -i CLIP -fps_mode
 * passthrough -c:v libx264 -threads 2 -bf 0 -preset P -crf C -x264-params ..., then the psnr filter and the sizes.
 */
const RENDER_CRF = 22;
/**
 * Factor next to finer pictures. In eight damaged exports of x264 at factors 20 to 23, one picture came out more than 1
 * dB farther from the clean clip than uploaded (77 with 22 for all), for 1.0 to 1.3 times the bytes of the result and
 * the same processor time.
 */
const FINEST_CRF = 18;
/** Key pictures of x264 and similar encoders have a quantiser this much lower than what refers to them. */
const KEY_LEAD = 2;

/**
 * Constant rate factor for new pictures: the usual one, or a finer one next to finer key pictures.
 * @param quantisers of the clip's own key pictures around the stretches, 0 to 51
 */
export function rateFactorFor(quantisers: readonly number[]): number {
  if (quantisers.length === 0) return RENDER_CRF;
  return clamp(Math.round(median(quantisers)) + KEY_LEAD, FINEST_CRF, RENDER_CRF);
}

/** Initial quantisers of a key picture's slices, 0 to 51; none if it is damaged. */
export function keyQuantisers(
  { sps, pps }: Pick<SmartSource, 'sps' | 'pps'>,
  units: readonly Buffer[],
): number[] {
  try {
    return units.flatMap((unit) => pps.flatMap((own) => idrQuantiser(unit, { sps, pps: own }) ?? []));
  } catch (error) {
    if (error instanceof H264Error) return [];
    throw error;
  }
}
