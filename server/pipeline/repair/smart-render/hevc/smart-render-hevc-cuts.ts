import { H264Error } from '#server/media/h264/h264-error.ts';
import { HEVC_NAL, hevcNalType, isHevcSlice } from '#server/media/hevc/hevc-nal.ts';
import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import type { PictureEdit } from '../../picture-edit.ts';
import type { HevcSource } from './smart-render-hevc-source.ts';
import { cleanStarts, type Cut } from '../smart-render-plan.ts';

/** Key pictures from which decoding can start (ITU-T H.265, 8.1.3). */
const KEYS = new Set<number>([HEVC_NAL.idrWithLeading, HEVC_NAL.idrAlone, HEVC_NAL.cra]);

/** Type of the first slice of a sample; null if it is damaged or has none. */
export async function pictureType(source: HevcSource, sample: number): Promise<number | null> {
  try {
    const slice = (await source.units(sample)).find(isHevcSlice);
    return slice ? hevcNalType(slice) : null;
  } catch (error) {
    // A damaged sample is no place to cut; nothing else matters here.
    if (error instanceof Mp4Error || error instanceof H264Error) return null;
    throw error;
  }
}

/**
 * The cut points that the edit needs: the last one at or before each wanted picture, and the first one after each span.
 */
export async function findHevcCuts(
  source: HevcSource,
  order: DisplayOrder,
  edit: PictureEdit,
): Promise<Cut[]> {
  const keys = source.samples.flatMap(({ sync }, sample) => (sync ? [sample] : []));
  const latest = latestPlaces(order);
  const starts = cleanStarts(order);
  const known = new Map<number, Cut | null>();
  const cutAt = async (index: number) => {
    const sample = keys[index];
    if (sample === undefined) return null;
    const cut = known.get(sample) ?? (await inspectKey(source, order, latest, sample));
    known.set(sample, cut);
    return cut;
  };
  const before = async (place: number) => {
    let index = keys.findLastIndex((sample) => sample <= place);
    for (; index >= 0; index--) {
      const cut = await cutAt(index);
      if (cut && cut.place <= place) return;
    }
  };
  const behind = async (place: number) => {
    let index = keys.findIndex((sample) => (order.placeOf[sample] ?? 0) >= place);
    for (; index >= 0 && index < keys.length; index++) {
      const cut = await cutAt(index);
      if (cut && cut.place >= place) return;
    }
  };
  for (const span of edit) {
    const first = starts[span.firstFrame + order.firstShown] ?? 0;
    await before(first);
    for (const { pixels } of span.pictures) {
      if (pixels.kind !== 'original') continue;
      await before(pixels.frame + order.firstShown);
      // A damaged key picture in its own place is concealed from what comes before it.
      if (pixels.frame >= span.firstFrame && pixels.frame < span.endFrame) await before(first - 1);
    }
    await behind(span.endFrame + order.firstShown);
  }
  return [...known.values()].flatMap((cut) => cut ?? []).sort((a, b) => a.sample - b.sample);
}

/** For each sample, the latest place of all samples before it. */
function latestPlaces(order: DisplayOrder): number[] {
  let latest = -1;
  return order.placeOf.map((place) => {
    const before = latest;
    latest = Math.max(latest, place);
    return before;
  });
}

/**
 * The cut at a key picture; null if the stream cannot be cut there. Its leading pictures follow it in decode order and
 * precede it in display order. The skipped ones among them (RASL) refer to pictures before it; the others (RADL) do not
 * and are shown after the skipped ones (ITU-T H.265, 7.4.2.2).
 */
async function inspectKey(
  source: HevcSource,
  order: DisplayOrder,
  latest: readonly number[],
  sample: number,
): Promise<Cut | null> {
  const type = await pictureType(source, sample);
  if (type === null || !KEYS.has(type)) return null;
  const keyPlace = order.placeOf[sample] ?? 0;
  const leaning: number[] = [];
  let place = keyPlace;
  let last = latest[sample] ?? -1;
  for (let next = sample + 1; next < source.samples.length; next++) {
    const nextPlace = order.placeOf[next] ?? 0;
    if (nextPlace > keyPlace) break;
    const leading = await pictureType(source, next);
    if (leading === HEVC_NAL.radlN || leading === HEVC_NAL.radlR) place = Math.min(place, nextPlace);
    else if (leading === HEVC_NAL.raslN || leading === HEVC_NAL.raslR) {
      leaning.push(next);
      last = Math.max(last, nextPlace);
    } else return null;
  }
  if (leaning.length > 0 && type !== HEVC_NAL.cra) return null;
  // Exactly the pictures shown before the cut belong to the stretch before it.
  const clean = last === place - 1 && sample + leaning.length === place;
  return clean ? { sample, place, leaning } : null;
}
