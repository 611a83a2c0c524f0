import type { FileHandle } from 'node:fs/promises';
import type { Sps } from '#server/media/h264/sps.ts';
import type { NewSample } from '#server/media/mp4/write-tables.ts';
import type { FoundPicture } from './rebuild-index-scan.ts';

/**
 * Even times for pictures whose own are lost: display order from the picture order counts (ITU-T H.264,
 * 8.2.1), one interval apart, decode times earlier by the deepest reordering that occurs.
 * @param intervalTicks distance of two pictures, media timescale ticks
 */
export function timePictures(
  pictures: readonly FoundPicture[],
  sps: Sps,
  intervalTicks: number,
  file: FileHandle,
): NewSample[] {
  const places = displayPlaces(pictures, sps);
  const delay = places.reduce((most, place, index) => Math.max(most, index - place), 0);
  return pictures.map((picture, index) => ({
    bytes: { file, offset: picture.offset, sizeBytes: picture.sizeBytes },
    dts: index * intervalTicks,
    pts: ((places[index] ?? index) + delay) * intervalTicks,
    durationTicks: intervalTicks,
    sync: picture.head.idr,
  }));
}

/** Place of each picture (decode order) in display order. */
function displayPlaces(pictures: readonly FoundPicture[], sps: Sps): number[] {
  if (sps.pocType !== 0) return pictures.map((_, index) => index);
  const range = 2 ** sps.pocBits;
  let previousMsb = 0;
  let previousLsb = 0;
  let period = 0;
  const keys = pictures.map(({ head }, index) => {
    const lsb = head.pocLsb ?? 0;
    if (head.idr) {
      period++;
      previousMsb = 0;
      previousLsb = 0;
    }
    let msb = previousMsb;
    if (lsb < previousLsb && previousLsb - lsb >= range / 2) msb += range;
    else if (lsb > previousLsb && lsb - previousLsb > range / 2) msb -= range;
    if (head.refIdc > 0) {
      previousMsb = msb;
      previousLsb = lsb;
    }
    return { index, period, poc: msb + lsb };
  });
  keys.sort((a, b) => a.period - b.period || a.poc - b.poc || a.index - b.index);
  const places: number[] = pictures.map(() => 0);
  keys.forEach(({ index }, place) => {
    places[index] = place;
  });
  return places;
}
