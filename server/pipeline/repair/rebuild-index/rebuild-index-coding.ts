/** What the first slice of a picture says of the order in which pictures are shown. */
export interface OrderMark {
  /** Order counts start anew here. */
  readonly restarts: boolean;
  /** Low bits of the order count; null where none is coded. */
  readonly lsb: number | null;
  /** Whether the high bits of the next counts are told from this one. */
  readonly leads: boolean;
}

/** A slice, as far as finding and ordering pictures needs it. */
export interface PictureHead {
  /** Whether it is the first of its picture. */
  readonly opens: boolean;
  /** Whether players may start with its picture. */
  readonly isKey: boolean;
  readonly mark: OrderMark;
}

/** A NAL unit that may belong to the pictures looked for. */
export interface UnitRead {
  /** In front of the first slice of a picture, a slice, or behind the last one. */
  readonly role: 'ahead' | 'slice' | 'behind';
  /** Of slices alone. */
  readonly head: PictureHead | null;
  /** To be called when the unit is taken: the next ones have to go on from it. */
  take(): void;
}

/** Reads the units of one stretch of data, one behind the other. */
export interface UnitReader {
  /**
   * What a unit is, its length left out; null for bytes that are none of these pictures.
   * @param isAhead whether it stands behind the unit in question, so that it need not go on from what was taken
   */
  read(unit: Buffer, isAhead: boolean): UnitRead | null;
}

/** How pictures come to their order of display: by counts of so many low bits, as they are coded, or nobody can tell. */
export type PictureOrder =
  | { readonly kind: 'counted'; readonly bits: number }
  | { readonly kind: 'coded' }
  | { readonly kind: 'untold' };

/** How the coded pictures of one stream are told from other bytes, and what they say of themselves. */
export interface PictureCoding {
  readonly codec: 'h264' | 'hevc';
  /** Parameter sets, as a raw stream begins with them. */
  readonly units: readonly Buffer[];
  /** Pictures per second that they state; null when they state none. */
  readonly pictureRate: number | null;
  readonly order: PictureOrder;
  /**
   * Tells most bytes that begin no unit without parsing.
   * @param head the first three bytes of a unit
   * @param isBehindGap behind other data only the start of a picture counts
   */
  mayBegin(head: Buffer, isBehindGap: boolean): boolean;
  startReader(): UnitReader;
  /** What the first slice of a picture says, of which the header at least is there; null where it cannot be read. */
  headOf(slice: Buffer): PictureHead | null;
}

/**
 * Zeros behind the data of a unit that are taken for what fills it up: encoders of phones and services make units multiples of 16 bytes so, and
 * sound that is taken for a unit ends in more of them, or seldom in one.
 */
const MOST_FILLED_BYTES = 32;

/** Whether a unit ends as one may: coded data end in a bit that is set, behind which nothing stands but a few zeros. */
export function mayEnd(unit: Buffer): boolean {
  const least = Math.max(0, unit.length - MOST_FILLED_BYTES - 1);
  return unit.subarray(least).some((byte) => byte !== 0);
}
