import type { FileHandle } from 'node:fs/promises';
import { type Box, container, replaceBox } from '#server/media/mp4/box.ts';
import { withEditList } from '#server/media/mp4/edit-list.ts';
import type { Track } from '#server/media/mp4/movie.ts';
import { type NewSample, withDuration } from '#server/media/mp4/write-tables.ts';
import { orderMsb } from '#server/media/order-count.ts';
import type { PictureOrder } from './rebuild-index-coding.ts';
import type { FoundPicture } from './rebuild-index-scan.ts';

/**
 * Even times for pictures that lost their own: in display order by the picture order counts (ITU-T H.264, 8.2.1; H.265,
 * 8.3.1), one interval apart. Decode times are earlier by the deepest reordering that occurs.
 * @param intervalTicks distance of two pictures, media timescale ticks
 */
export function timePictures(
  pictures: readonly FoundPicture[],
  order: PictureOrder,
  intervalTicks: number,
  file: FileHandle,
): NewSample[] {
  const places = displayPlaces(pictures, order);
  const delay = places.reduce((most, place, index) => Math.max(most, index - place), 0);
  return pictures.map((picture, index) => ({
    bytes: { file, offset: picture.offset, sizeBytes: picture.sizeBytes },
    dts: index * intervalTicks,
    pts: ((places[index] ?? index) + delay) * intervalTicks,
    durationTicks: intervalTicks,
    sync: picture.isKey,
  }));
}

/** Place of each picture (decode order) in display order, by the counts since the last restart. */
export function displayPlaces(pictures: readonly FoundPicture[], order: PictureOrder): number[] {
  const keys = displayKeys(pictures, order);
  keys.sort(byDisplay);
  const places: number[] = pictures.map(() => 0);
  keys.forEach(({ index }, place) => {
    places[index] = place;
  });
  return places;
}

/** Pictures at the end of a cut-off file that may lack others between them. */
const CUT_END = 12;

/**
 * Whether the order counts are consistent: between two restarts they rise by the same step from each shown picture to
 * the next, so none is wrong or missing except at the end.
 */
export function isCertainOrder(pictures: readonly FoundPicture[], order: PictureOrder): boolean {
  if (order.kind !== 'counted') return order.kind === 'coded';
  const shown = displayKeys(pictures, order).sort(byDisplay);
  let usual: number | null = null;
  for (const [at, { period, poc }] of shown.entries()) {
    const before = shown[at - 1];
    if (!before || before.period !== period) continue;
    const step = poc - before.poc;
    usual ??= step;
    if (step !== usual && (at < shown.length - CUT_END || step <= 0 || step % usual !== 0)) return false;
  }
  return usual === null || usual > 0;
}

interface DisplayKey {
  /** Place in decode order. */
  readonly index: number;
  /** Number of the last picture at which the counts restarted. */
  readonly period: number;
  readonly poc: number;
}

const byDisplay = (a: DisplayKey, b: DisplayKey) => a.period - b.period || a.poc - b.poc || a.index - b.index;

function displayKeys(pictures: readonly FoundPicture[], order: PictureOrder): DisplayKey[] {
  if (order.kind !== 'counted') return pictures.map((_, index) => ({ index, period: 0, poc: index }));
  const range = 2 ** order.bits;
  let before = { lsb: 0, msb: 0 };
  let period = 0;
  return pictures.map(({ mark }, index) => {
    const lsb = mark.lsb ?? 0;
    if (mark.restarts) {
      period++;
      before = { lsb: 0, msb: 0 };
    }
    const msb = orderMsb(lsb, before, range);
    if (mark.leads) before = { lsb, msb };
    return { index, period, poc: msb + lsb };
  });
}

/** The box of a video track with the durations of its new samples, shown from its first picture on. */
export function freshTrack(video: Track, samples: readonly NewSample[], movieTimescale: number): Box {
  const mediaTicks = samples.reduce((sum, sample) => sum + sample.durationTicks, 0);
  const durationTicks = Math.round((mediaTicks * movieTimescale) / video.timescale);
  const delay = samples.reduce((least, sample) => Math.min(least, sample.pts), Infinity);
  let trak = replaceBox(video.trak, 'tkhd', (header) => withDuration(header, durationTicks));
  trak = replaceBox(trak, 'mdia/mdhd', (header) => withDuration(header, mediaTicks));
  const children = (trak.children ?? []).filter((box) => box.type !== 'tref');
  const edits = delay === 0 ? [] : [{ durationTicks, mediaTime: delay, rate: 1 }];
  return withEditList(container('trak', children), edits);
}
