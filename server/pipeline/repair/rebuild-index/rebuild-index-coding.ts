/** What the first slice of a picture says about display order. */
export interface OrderMark {
  /** Whether order counts restart here. */
  readonly restarts: boolean;
  /** Low bits of the order count; null if none is coded. */
  readonly lsb: number | null;
  /** Whether the high bits of later counts derive from this one. */
  readonly leads: boolean;
}

/** The parts of a slice needed for finding and ordering pictures. */
export interface PictureHead {
  /** Whether it is the first slice of its picture. */
  readonly opens: boolean;
  /** Whether players may start with its picture. */
  readonly isKey: boolean;
  readonly mark: OrderMark;
}

/** A NAL unit that may belong to the wanted pictures. */
export interface UnitRead {
  /** Before the first slice of a picture, a slice, or after the last one. */
  readonly role: 'ahead' | 'slice' | 'behind';
  /** Only set for slices. */
  readonly head: PictureHead | null;
  /** To be called when the unit is used: the next units must continue from it. */
  take(): void;
}

/** Reads the units of one stretch of data, in order. */
export interface UnitReader {
  /**
   * Recognises a unit without its length; null for bytes that are none of these pictures.
   * @param isAhead whether the unit stands after the one in question, so that it need not continue from used units
   */
  read(unit: Buffer, isAhead: boolean): UnitRead | null;
}

/** How display order is derived: from counts with this many low bits, same as coded order, or unknown. */
export type PictureOrder =
  | { readonly kind: 'counted'; readonly bits: number }
  | { readonly kind: 'coded' }
  | { readonly kind: 'untold' };

/** How the coded pictures of one stream are told from other bytes, and what they say about themselves. */
export interface PictureCoding {
  readonly codec: 'h264' | 'hevc';
  /** Parameter sets, as at the beginning of a raw stream. */
  readonly units: readonly Buffer[];
  /** Stated pictures per second; null if not stated. */
  readonly pictureRate: number | null;
  readonly order: PictureOrder;
  /**
   * Rules out most bytes that begin no unit, without parsing.
   * @param head the first three bytes of a unit
   * @param isBehindGap true after other data, where only the start of a picture counts
   */
  mayBegin(head: Buffer, isBehindGap: boolean): boolean;
  startReader(): UnitReader;
  /** What the first slice of a picture says; at least its header must be there. Null if it cannot be read. */
  headOf(slice: Buffer): PictureHead | null;
}

/**
 * Zeros after the data of a unit that count as padding. Encoders of phones and services pad units to multiples of 16
 * bytes. Sound that is mistaken for a unit ends in more zeros, or seldom in one.
 */
const MOST_FILLED_BYTES = 32;

/** Whether a unit has a possible end: coded data end in a set bit, followed by at most a few zeros. */
export function mayEnd(unit: Buffer): boolean {
  const least = Math.max(0, unit.length - MOST_FILLED_BYTES - 1);
  return unit.subarray(least).some((byte) => byte !== 0);
}
