import { LAGS, type FrameSeries } from './grey-series.ts';

/**
 * Joins two series that overlap: pictures before `headEnd` from the first, pictures from `tailStart` on from the
 * second. Both numbers must name the same picture, at least the longest lag behind the beginning of the second series,
 * so that no value is lost.
 */
export function joinSeries(
  head: FrameSeries,
  headEnd: number,
  tail: FrameSeries,
  tailStart: number,
): FrameSeries {
  const join = <T>(a: readonly T[], b: readonly T[]): T[] => [...a.slice(0, headEnd), ...b.slice(tailStart)];
  const joinMaps = <T>(a: ReadonlyMap<number, T>, b: ReadonlyMap<number, T>) => {
    const moved = [...b].map(([at, value]) => [at - tailStart + headEnd, value] as const);
    return new Map([...[...a].filter(([at]) => at < headEnd), ...moved.filter(([at]) => at >= headEnd)]);
  };
  return {
    size: head.size,
    count: headEnd + tail.count - tailStart,
    meanDiff: join(head.meanDiff, tail.meanDiff),
    blockDiff: new Map(
      LAGS.map((lag) => [lag, join(head.blockDiff.get(lag) ?? [], tail.blockDiff.get(lag) ?? [])] as const),
    ),
    histogramDiff: join(head.histogramDiff, tail.histogramDiff),
    motionX: join(head.motionX, tail.motionX),
    motionY: join(head.motionY, tail.motionY),
    motionResidual: join(head.motionResidual, tail.motionResidual),
    lumaMean: join(head.lumaMean, tail.lumaMean),
    lumaP10: join(head.lumaP10, tail.lumaP10),
    lumaP90: join(head.lumaP90, tail.lumaP90),
    brightest: join(head.brightest, tail.brightest),
    sharpness: join(head.sharpness, tail.sharpness),
    rises: join(head.rises, tail.rises),
    jumps: joinMaps(head.jumps, tail.jumps),
    holds: joinMaps(head.holds, tail.holds),
    coherence: joinMaps(head.coherence, tail.coherence),
    looks: joinMaps(head.looks, tail.looks),
  };
}
