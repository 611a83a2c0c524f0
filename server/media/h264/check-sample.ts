import { NAL, isSlice, nalType, opensPicture, unwrapped } from './nal.ts';

/** The NAL unit rules of a coding. */
export interface UnitRules {
  /** Whether a unit carries a part of a coded picture. */
  readonly isSlice: (unit: Buffer) => boolean;
  /** What is wrong with one NAL unit (without its length); null when nothing is. */
  readonly findFault: (unit: Buffer) => string | null;
}

/**
 * What is wrong with the NAL units of one MP4 sample, found without decoding; null when nothing is. Intact data can
 * have none of these faults: emulation prevention (ITU-T H.264, 7.4.1) keeps `00 00 00`, `00 00 01` and `00 00 02` out
 * of every NAL unit, the forbidden bit is 0, and a picture has a slice.
 */
export function findSampleFault(sample: Buffer, lengthSize: number): string | null {
  let isBegun = false;
  let hasOwn = false;
  const findFault = (unit: Buffer) => {
    if (!isBegun && isOwnUnit(unit)) {
      hasOwn = true;
      return null;
    }
    const isFirst = !isBegun && isSlice(unit);
    isBegun ||= isFirst;
    if (isFirst && hasOwn && !opensPicture(unit)) return 'the first slice of the picture is none';
    return findUnitFault(unit);
  };
  return findFaultOf(sample, lengthSize, { isSlice, findFault });
}

/** The first NAL unit type for use by applications (ITU-T H.264, table 7-1: 24 to 31 are unspecified). */
const FIRST_OWN_TYPE = 24;

/**
 * Whether a NAL unit is an application's own, which decoders skip (ITU-T H.264, 7.4.1): one application that forwards
 * clips puts a unit of six bytes in front of every key picture. Behind the first slice of a picture, or before one that
 * does not begin a picture, such a unit may also be a damaged slice.
 */
function isOwnUnit(unit: Buffer): boolean {
  const head = unit[0] ?? 0;
  return head >= FIRST_OWN_TYPE && head < 32 && findStartCode(unit) === null;
}

/** The same for a coding with other kinds of NAL units. */
export function findFaultOf(sample: Buffer, lengthSize: number, rules: UnitRules): string | null {
  let at = 0;
  let slices = 0;
  while (at < sample.length) {
    if (at + lengthSize > sample.length) return 'the last NAL unit length is cut off';
    const length = sample.readUIntBE(at, lengthSize);
    at += lengthSize;
    if (length === 0) return 'a NAL unit is empty';
    if (at + length > sample.length) return 'NAL unit lengths do not add up to the size of the picture';
    for (const unit of unwrapped(sample.subarray(at, at + length))) {
      const fault = rules.findFault(unit);
      if (fault) return fault;
      if (rules.isSlice(unit)) slices++;
    }
    at += length;
  }
  return slices === 0 ? 'the picture holds no slice' : null;
}

/**
 * Whether a sample has faults, all of them in NAL units in front of its first slice, which begins the picture. Those
 * are messages and the like, without which the picture decodes as well.
 */
export function isFaultBeside(units: readonly Buffer[]): boolean {
  const first = units.findIndex(isSlice);
  const head = units[first];
  if (!head || !opensPicture(head)) return false;
  const isSet = (unit: Buffer) => nalType(unit) === NAL.sps || nalType(unit) === NAL.pps;
  const faults = units.flatMap((unit, at) => (findUnitFault(unit) === null ? [] : [{ unit, at }]));
  return faults.length > 0 && faults.every(({ unit, at }) => at < first && !isSet(unit));
}

/** What is wrong with one NAL unit (without its length); null when nothing is. */
export function findUnitFault(unit: Buffer): string | null {
  const head = unit[0] ?? 0;
  if (head & 0x80) return 'the forbidden bit of a NAL unit is set';
  const type = nalType(unit);
  const refIdc = (head >> 5) & 3;
  // Types 1-12 and 19 belong to single-layer streams; 14, 15 and 20 to layered ones; 13 extends 7.
  if (type === 0 || type === 16 || type === 17 || type === 18 || type > 20) {
    return `a NAL unit has the implausible type ${type}`;
  }
  if (type === 5 && refIdc === 0) return 'a key picture is marked as unused';
  if ((type === 6 || type === 9) && refIdc !== 0) return 'a NAL unit contradicts its own type';
  if (isSlice(unit) && unit.length < 3) return 'a slice is too short';
  return findStartCode(unit) !== null
    ? 'bytes that cannot occur in coded data stand inside a NAL unit'
    : null;
}

const PAIR = Buffer.from([0, 0]);
/** End of sequence and end of stream, which some cameras append to the last picture with a start code. */
const END_MARKS = [Buffer.from([0, 0, 1, 10]), Buffer.from([0, 0, 1, 11])];

/**
 * The first place of `00 00 0x` with x of 0, 1 or 2 in the unit, without its end mark and final zero bytes; null for
 * none.
 */
export function findStartCode(unit: Buffer): number | null {
  let end = unit.length;
  if (END_MARKS.some((mark) => unit.subarray(-mark.length).equals(mark))) end -= 4;
  while (end > 0 && unit[end - 1] === 0) end--;
  // Searching for pairs of zeros with the native scanner is many times faster than stepping through the bytes.
  for (let at = unit.indexOf(PAIR); at >= 0 && at + 2 < end; at = unit.indexOf(PAIR, at + 1)) {
    if ((unit[at + 2] ?? 3) <= 2) return at;
  }
  return null;
}
