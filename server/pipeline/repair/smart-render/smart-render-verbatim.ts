import { joinSample, NAL, nalType } from '#server/media/h264/nal.ts';
import { movedPicture } from '#server/media/h264/moved-picture.ts';
import { pcmPicture, pcmPps } from '#server/media/h264/pcm-picture.ts';
import type { SquareMotion } from '#server/media/square-motion.ts';
import { verbatimBudget, verbatimBytes, type DamagedSample } from './exchange/smart-render-exchange-plan.ts';
import type { SmartSource } from './smart-render-source.ts';

/** Picture parameter set of verbatim pictures, which are coded sample by sample. */
export interface VerbatimPps {
  readonly id: number;
  readonly unit: Buffer;
}

/** One with an id that the clip does not use; null if there is no room. One id is left for the encoder's own set. */
export function verbatimPps(source: SmartSource): VerbatimPps | null {
  const id = Math.max(-1, ...source.pps.map((pps) => pps.id)) + 2;
  if (id > 255 || source.config.pps.length >= 254) return null;
  return { id, unit: pcmPps(source.sps, id) };
}

/** Most verbatim pictures that a clip may have. */
export const mostVerbatim = (source: SmartSource): number =>
  Math.floor(verbatimBudget(source) / verbatimBytes(source.sps));

/**
 * A sample with the given pixels in place of a coded picture; it carries the parameter set if the old one has sets too.
 */
export async function verbatimSample(
  source: SmartSource,
  { sample, head }: DamagedSample,
  pixels: Uint8Array,
  pps: VerbatimPps,
): Promise<Buffer> {
  return withSets(source, sample, pcmPicture(pixels, source.sps, pps.id, head), pps);
}

/** A sample of blocks moved from a reference, in place of a coded picture. */
export async function movedSample(
  source: SmartSource,
  { sample, head }: DamagedSample,
  { motion, fromFrameNum }: { readonly motion: SquareMotion; readonly fromFrameNum: number | null },
  pps: VerbatimPps,
): Promise<Buffer> {
  return withSets(source, sample, movedPicture(source.sps, pps.id, { ...head, fromFrameNum }, motion), pps);
}

async function withSets(
  source: SmartSource,
  sample: number,
  picture: Buffer,
  pps: VerbatimPps,
): Promise<Buffer> {
  const inBand = source.entry.coding === 'avc3' || (await carriesSets(source, sample));
  return joinSample(inBand ? [pps.unit, picture] : [picture], source.config.lengthSize);
}

async function carriesSets(source: SmartSource, sample: number): Promise<boolean> {
  if ((await source.head(sample)) === null) return false;
  return (await source.units(sample)).some((unit) => nalType(unit) === NAL.pps);
}
