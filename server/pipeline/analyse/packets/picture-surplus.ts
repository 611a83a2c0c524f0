import { CONTAINER_LIMITS, wasMoved } from '../audio-sync/detect-audio-sync-container.ts';

/** Where picture and sound begin and end on the container's time axis, ms. */
export interface StreamSpans {
  readonly pictureStartMs: number;
  readonly pictureEndMs: number;
  readonly soundStartMs: number;
  readonly soundEndMs: number;
  /**
   * How much this kind of sound is longer than its picture by nature (`excessByNatureMs`), ms; the usual value when
   * absent.
   */
  readonly excessMs?: number;
}

const startsApartMs = ({ soundStartMs, pictureStartMs }: StreamSpans) => soundStartMs - pictureStartMs;
const byEnds = ({ pictureEndMs, soundEndMs }: StreamSpans) => pictureEndMs - soundEndMs;

/**
 * How much longer the picture is than the sound, ms, as a first estimate. Sound that begins elsewhere may have been
 * moved as a whole; then the lengths are compared instead of the ends.
 */
export function surplusByLengths(spans: StreamSpans): number {
  const apartMs = startsApartMs(spans);
  return byEnds(spans) + (Math.abs(apartMs) > CONTAINER_LIMITS.offsetMs ? apartMs : 0);
}

/**
 * How much longer the picture is than the sound, ms, as evidence that copies were inserted. If the streams begin apart,
 * the sound was moved or the picture lacks a piece at its start. Silence before the sound may be recorded, or may have
 * moved it. Of these readings, the one that fits the copies (all of them inserted or none) is used. If no reading fits,
 * and if the moved sound fits the copies inserted by its measure, the sound counts as moved.
 * @param repeatsMs length of all copies that were found
 * @param leadingSilenceMs digital silence before the sound
 * @param putInMs length of the copies that were inserted if the sound was moved
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
 * How much longer the picture is than the sound, ms, where pictures may be missing; a negative value is room for lost
 * ones. If the streams begin apart and the sound was not moved, a piece is missing at one start and cannot be missing
 * elsewhere: then the reading that leaves less room counts.
 * @param putInMs length of the copies that a repair takes out
 * @param surplusMs result of `surplusForCopies`; by the lengths when absent
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

/**
 * The number of lost or repeated pictures is an estimate: the other stream must differ by at least this share of their
 * length.
 */
const SPOKEN_FOR_SHARE = 0.5;

/**
 * Whether the lengths of picture and sound support a change of the picture's length: one must be longer than the other
 * by about as much. Several changes share the difference: each one that is made subtracts its length.
 * @param excess how much longer the stream is than the one that would be lengthened (the sound, if lost pictures are
 * put back; the pictures, if copies are taken out), any unit; null without sound, which then cannot object
 * @param change length of the pictures put back or taken out, in the same unit
 */
export function lengthsSpeakFor(excess: number | null, change: number): boolean {
  return excess === null || excess >= SPOKEN_FOR_SHARE * change;
}

/**
 * Coded sound ends in whole blocks, so it may be longer than the pictures by one block, ms (AAC at 44.1 kHz, the
 * longest usual one).
 */
export const LAST_BLOCK_MS = 24;

/**
 * Same for lost pictures that are put back, with one more condition: the sound must be longer by more than its last
 * block. Half a picture is less than that, so every second clip would support any single loss.
 * @param excessMs how much longer the sound is than the pictures; null without sound
 * @param changeMs length of the pictures put back
 */
export function lengthsSpeakForLosses(excessMs: number | null, changeMs: number): boolean {
  return lengthsSpeakFor(excessMs, changeMs) && (excessMs ?? Infinity) > LAST_BLOCK_MS;
}
