import { NAL, isSlice, nalType, opensPicture } from './nal.ts';

/** How a coding names its NAL units. */
export interface UnitRules {
  /** Whether a unit carries a part of a coded picture. */
  readonly isSlice: (unit: Buffer) => boolean;
  /** What is wrong with one NAL unit (without its length); null when nothing is. */
  readonly findFault: (unit: Buffer) => string | null;
}

/**
 * What is wrong with the NAL units of one MP4 sample, found without decoding; null when nothing is. Intact
 * data can have none of these faults: emulation prevention (ITU-T H.264, 7.4.1) keeps `00 00 00`,
 * `00 00 01` and `00 00 02` out of every NAL unit, the forbidden bit is 0 and a picture has a slice.
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

/** The first of the NAL unit types that are left to applications (ITU-T H.264, table 7-1: 24 to 31 are unspecified). */
const FIRST_OWN_TYPE = 24;

/**
 * Whether a NAL unit is an application's own, which decoders leave out (ITU-T H.264, 7.4.1): an application that passes clips on puts one of
 * six bytes in front of every key picture. Behind the first slice of a picture, or before one that does not begin it, it may as well be a
 * damaged slice.
 */
function isOwnUnit(unit: Buffer): boolean {
  const head = unit[0] ?? 0;
  return head >= FIRST_OWN_TYPE && head < 32 && findStartCode(unit) === null;
}

/** The same for a coding that has NAL units of other kinds. */
export function findFaultOf(sample: Buffer, lengthSize: number, rules: UnitRules): string | null {
  let at = 0;
  let slices = 0;
  while (at < sample.length) {
    if (at + lengthSize > sample.length) return 'the last NAL unit length is cut off';
    const length = sample.readUIntBE(at, lengthSize);
    at += lengthSize;
    if (length === 0) return 'a NAL unit is empty';
    if (at + length > sample.length) return 'NAL unit lengths do not add up to the size of the picture';
    const unit = sample.subarray(at, at + length);
    const fault = rules.findFault(unit);
    if (fault) return fault;
    if (rules.isSlice(unit)) slices++;
    at += length;
  }
  return slices === 0 ? 'the picture holds no slice' : null;
}

/**
 * Whether a sample has faults and all of them lie in NAL units in front of its first slice, which begins the picture: messages and
 * the like, without which the picture decodes as well.
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
  // 1-12 and 19 are the types of single-layer streams; 14, 15 and 20 belong to layered ones; 13 extends 7.
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
/** End of sequence and end of stream as some cameras append them, with a start code, to the last picture. */
const END_MARKS = [Buffer.from([0, 0, 1, 10]), Buffer.from([0, 0, 1, 11])];

/** Where `00 00 0x` with x of 0, 1 or 2 stands first in the unit, its end mark and final zero bytes left out; null for nowhere. */
export function findStartCode(unit: Buffer): number | null {
  let end = unit.length;
  if (END_MARKS.some((mark) => unit.subarray(-mark.length).equals(mark))) end -= 4;
  while (end > 0 && unit[end - 1] === 0) end--;
  // Searching for pairs of zeros with the native scanner is many times quicker than walking the bytes.
  for (let at = unit.indexOf(PAIR); at >= 0 && at + 2 < end; at = unit.indexOf(PAIR, at + 1)) {
    if ((unit[at + 2] ?? 3) <= 2) return at;
  }
  return null;
}
