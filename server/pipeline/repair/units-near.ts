import { H264Error } from '#server/media/h264/h264-error.ts';
import { HevcError } from '#server/media/hevc/hevc-error.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';

interface UnitSource {
  readonly samples: readonly unknown[];
  /** NAL units of a sample. */
  units(sample: number): Promise<Buffer[]>;
}

/**
 * NAL units of coded pictures beside one, the nearest first; those that cannot be read are passed over.
 * @param isLeftOut whether a sample is damaged
 */
export async function* unitsNear(
  source: UnitSource,
  sample: number,
  isLeftOut: (sample: number) => boolean,
): AsyncGenerator<readonly Buffer[]> {
  for (let away = 1; away < source.samples.length; away += 1) {
    for (const other of [sample - away, sample + away]) {
      if (source.samples[other] === undefined || isLeftOut(other)) continue;
      const units = await source.units(other).catch((error: unknown) => {
        if (isOfClip(error)) return null;
        throw error;
      });
      if (units) yield units;
    }
  }
}

/** Whether the data of the clip are to blame. */
export const isOfClip = (error: unknown): boolean =>
  error instanceof Mp4Error || error instanceof HevcError || error instanceof H264Error;
