import { nullIfUnfit } from './unfit.ts';

interface UnitSource {
  readonly samples: readonly unknown[];
  /** NAL units of a sample. */
  units(sample: number): Promise<Buffer[]>;
}

/**
 * NAL units of coded pictures next to one, nearest first; those that cannot be read are skipped.
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
      const units = await source.units(other).catch(nullIfUnfit);
      if (units) yield units;
    }
  }
}
