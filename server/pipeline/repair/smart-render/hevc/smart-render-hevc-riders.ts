import { H264Error } from '#server/media/h264/h264-error.ts';
import { HevcError } from '#server/media/hevc/hevc-error.ts';
import { HEVC_NAL, hevcNalType } from '#server/media/hevc/hevc-nal.ts';
import { onlyMessages, SEI } from '#server/media/hevc/sei.ts';
import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import type { HevcSource } from './smart-render-hevc-source.ts';
import type { Segment } from '../smart-render-plan.ts';

/** Where riders are read from. */
type RiddenClip = Pick<HevcSource, 'units' | 'dolbyVision'>;

/** Units that accompany a coded picture before and after its slices. */
export interface Riders {
  readonly before: readonly Buffer[];
  readonly behind: readonly Buffer[];
}

/** Messages about display and light that apply from a key picture on. */
const KEY_MESSAGES = [
  SEI.masteringDisplay,
  SEI.contentLight,
  SEI.alternativeTransfer,
  SEI.ambientViewing,
] as const;

/** The messages that every new key picture of a stretch repeats: those of the key picture before it. */
export async function keyMessages(source: HevcSource, segment: Segment): Promise<Buffer[]> {
  const units = await source.units(segment.decodeFrom.sample);
  return units.flatMap((unit) => onlyMessages(unit, KEY_MESSAGES) ?? []);
}

/**
 * The riders of a stretch's pictures: each takes over captions and range data of the picture that it shows, or of the
 * last unchanged one before it.
 * @throws HevcError when a picture of a Dolby Vision clip has no such data
 */
export async function readRiders(
  source: HevcSource,
  order: DisplayOrder,
  segment: Segment,
): Promise<Riders[]> {
  const known = new Map<number, Riders>();
  const riders: Riders[] = [];
  for (const { place } of segment.pictures) {
    const sample = order.samples[place] ?? 0;
    const found = known.get(sample) ?? (await ridersOf(source, sample));
    known.set(sample, found);
    riders.push(found);
  }
  return riders;
}

/**
 * The riders of a sample.
 * @throws HevcError when a picture of a Dolby Vision clip has no such data
 */
export async function ridersOf(source: RiddenClip, sample: number): Promise<Riders> {
  const { before, behind } = await foundRiders(source, sample);
  if (source.dolbyVision && behind.length !== 1) {
    throw new HevcError('A picture of the video has no Dolby Vision data to go on with.');
  }
  return { before, behind };
}

/** Pictures before one without Dolby Vision data among which such data are searched. */
const NEAR = 8;

/**
 * The riders of a sample that may have lost them. Dolby Vision data are then those of the picture shown before it,
 * because light changes gradually; captions are not shown twice.
 * @throws HevcError when no picture of a Dolby Vision clip near it has such data
 */
export async function ridersOrNear(source: RiddenClip, order: DisplayOrder, sample: number): Promise<Riders> {
  const own = await foundRiders(source, sample);
  if (!source.dolbyVision || own.behind.length === 1) return own;
  const place = order.placeOf[sample] ?? 0;
  for (let before = place - 1; before >= Math.max(0, place - NEAR); before -= 1) {
    const { behind } = await foundRiders(source, order.samples[before] ?? 0);
    if (behind.length === 1) return { ...own, behind };
  }
  throw new HevcError('A picture of the video has no Dolby Vision data to go on with.');
}

async function foundRiders(source: RiddenClip, sample: number): Promise<Riders> {
  const units = await unitsOf(source, sample);
  return {
    before: units.flatMap((unit) => onlyMessages(unit, [SEI.registeredUserData]) ?? []),
    behind: source.dolbyVision ? units.filter((unit) => hevcNalType(unit) === HEVC_NAL.dolbyVision) : [],
  };
}

/** None if the sample is damaged: its riders are lost with it. */
async function unitsOf(source: RiddenClip, sample: number): Promise<Buffer[]> {
  try {
    return await source.units(sample);
  } catch (error) {
    if (error instanceof Mp4Error || error instanceof H264Error) return [];
    throw error;
  }
}
