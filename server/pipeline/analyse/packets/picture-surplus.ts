import { CONTAINER_LIMITS, wasMoved } from '../audio-sync/detect-audio-sync-container.ts';

/** Where picture and sound begin and end on the container's time axis, ms. */
export interface StreamSpans {
  readonly pictureStartMs: number;
  readonly pictureEndMs: number;
  readonly soundStartMs: number;
  readonly soundEndMs: number;
  /** By how much such a sound outlasts its picture by nature (`excessByNatureMs`); as most do where left out. */
  readonly excessMs?: number;
}

const startsApartMs = ({ soundStartMs, pictureStartMs }: StreamSpans) => soundStartMs - pictureStartMs;
const byEnds = ({ pictureEndMs, soundEndMs }: StreamSpans) => pictureEndMs - soundEndMs;

/**
 * By how much the picture outlasts the sound, ms, as it looks at first: a sound that begins elsewhere may have been moved as a
 * whole, so that the lengths tell, and not the ends.
 */
export function surplusByLengths(spans: StreamSpans): number {
  const apartMs = startsApartMs(spans);
  return byEnds(spans) + (Math.abs(apartMs) > CONTAINER_LIMITS.offsetMs ? apartMs : 0);
}

/**
 * By how much the picture outlasts the sound, ms, as evidence for copies that were put in. A sound that begins away from the
 * picture was moved, or the picture lacks a piece at its start; silence in front of a sound may be how it was recorded, or
 * have moved it. Whichever fits the copies that were found is believed, all of them put in or none; a moved sound where
 * several fit or none does, and where those fit that the steps behind them call put in beside such a sound.
 * @param repeatsMs length of all copies that were found
 * @param leadingSilenceMs digital silence in front of the sound
 * @param putInMs length of the copies that were put in, judged beside a moved sound
 */
export function surplusForCopies(
  spans: StreamSpans,
  repeatsMs: number,
  leadingSilenceMs: number,
  putInMs = 0,
): number {
  const { endToleranceMs, silenceMs } = CONTAINER_LIMITS;
  const moved = surplusByLengths(spans);
  const readings = [moved, byEnds(spans)];
  if (leadingSilenceMs > silenceMs) readings.push(moved + leadingSilenceMs);
  if (Math.abs(moved - putInMs) <= endToleranceMs) return moved;
  const fits = (ms: number) => Math.min(Math.abs(ms), Math.abs(ms - repeatsMs)) <= endToleranceMs;
  return readings.find(fits) ?? moved;
}

/**
 * By how much the picture outlasts the sound, ms, where pictures may be missing: negative is time that they may have had. Where
 * picture and sound begin apart and the sound was not moved, a piece is missing at one start, and that is not missing
 * anywhere else: the reading that leaves less room for losses counts.
 * @param putInMs length of the copies that a repair takes out
 * @param surplusMs what `surplusForCopies` answered; by the lengths where left out
 */
export function surplusForLosses(
  spans: StreamSpans,
  putInMs: number,
  surplusMs = surplusByLengths(spans),
): number {
  const apartMs = startsApartMs(spans);
  const isMoved = wasMoved(apartMs, putInMs - byEnds(spans));
  const isOneStart = Math.abs(apartMs) > CONTAINER_LIMITS.offsetMs && !isMoved;
  return (isOneStart ? Math.max(surplusMs, byEnds(spans)) : surplusMs) - putInMs;
}

/** The number of lost or repeated pictures is known roughly only: this share of their length is asked of the other stream. */
const SPOKEN_FOR_SHARE = 0.5;

/**
 * Whether the lengths of picture and sound speak for a change of the picture's length: one of them must outlast the other by about as
 * much. Several changes share what there is: each that is made takes its own length off.
 * @param excess by how much the stream lasts longer than the one that would be lengthened (the sound, where lost pictures are put back;
 *   the pictures, where copies are taken out), in any unit; null without sound, which then says nothing against it
 * @param change length of the pictures put back or taken out, in the same unit
 */
export function lengthsSpeakFor(excess: number | null, change: number): boolean {
  return excess === null || excess >= SPOKEN_FOR_SHARE * change;
}

/** Coded sound ends in whole blocks: it outlasts the pictures by up to one for no other reason (AAC at 44.1 kHz, the longest that is usual). */
export const LAST_BLOCK_MS = 24;

/**
 * The same for lost pictures that are put back, which the sound must outlast by more than its last block: half a picture is less, so that every
 * second clip would speak for any single one.
 * @param excessMs by how much the sound outlasts the pictures; null without sound
 * @param changeMs length of the pictures put back
 */
export function lengthsSpeakForLosses(excessMs: number | null, changeMs: number): boolean {
  return lengthsSpeakFor(excessMs, changeMs) && (excessMs ?? Infinity) > LAST_BLOCK_MS;
}
