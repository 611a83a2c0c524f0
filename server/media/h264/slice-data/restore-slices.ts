import { CabacDecoder } from '../../cabac/cabac-decoder.ts';
import type { ReadableSlice, SearchBudget } from '../../changed-bytes.ts';
import { type RestoredUnits, restoreUnits } from '../../restore-units.ts';
import { findStartCode } from '../check-sample.ts';
import { H264Error } from '../h264-error.ts';
import { isSlice } from '../nal.ts';
import { AVC_CONTEXT_COUNT } from './avc-contexts.ts';
import { type AvcSets, type IntactPictures, learnUsual, type SliceReader } from './learn-usual.ts';
import { MbState } from './mb-state.ts';
import { openMarkedSlice, type OpenSlice, readSliceData, type SliceMark } from './slice-data.ts';
import { isUsualFormat, openSlice, type TornSlice } from './torn-picture.ts';
import type { UsualValues } from './usual-values.ts';

/**
 * Restores single changed bytes of a picture, as far as its coding shows them (`findChangedBytes`). Only CABAC frames
 * of 4:2:0 with 8 bits, because other codes get back into step behind a wrong byte. Changed headers are not restored.
 * @param units its NAL units
 * @param intact NAL units of other, intact pictures, nearest first: what is usual in them reveals wrong data sooner
 * @returns the units with restored bytes, and how many; null where the original cannot be determined
 */
export async function restoreAvcUnits(
  units: readonly Buffer[],
  sets: AvcSets,
  intact: IntactPictures,
  budget: SearchBudget,
  signal?: AbortSignal,
): Promise<RestoredUnits | null> {
  const { sps, pps } = sets;
  const slices = units.filter(isSlice);
  // Zeros in a row, which coded data never hold, mean that more than one byte is wrong.
  if (!isUsualFormat(sps) || slices.some((slice) => findStartCode(slice) !== null)) return null;
  try {
    const reader: SliceReader = {
      state: new MbState(sps.widthMbs, sps.heightMbs),
      cabac: new CabacDecoder(AVC_CONTEXT_COUNT),
    };
    const opened = slices.map((unit) => openSlice(unit, sps, pps));
    const isPlain = ({ opened: { context, start } }: TornSlice, place: number) =>
      context.pps.cabac && (place === 0) === (start.firstMb === 0);
    if (!opened.every(isPlain)) return null;
    const torn = opened.flatMap(({ unit, opened: one }, place) => {
      const end = opened[place + 1]?.opened.start.firstMb ?? reader.state.count;
      const isWhole = endsAt(() => readSliceData(one, reader.state, reader.cabac), end);
      return isWhole ? [] : [{ unit, one, end }];
    });
    if (torn.length === 0) return { units, changes: 0 };
    const kinds = new Set(torn.map(({ one }) => one.start.kind));
    const mostBytes = LEARNING_SHARE * budget.bytes;
    const { usual, readBytes } = await learnUsual(intact, kinds, sets, reader, mostBytes);
    budget.bytes -= readBytes;
    const readables = torn.map(({ unit, one, end }) => ({
      unit,
      dataAt: (one.start.dataAt + 7) >> 3,
      slice: readable({ ...one, rbsp: Buffer.from(one.rbsp) }, reader, end, usual.get(one.start.kind)),
    }));
    return await restoreUnits(units, readables, budget, signal);
  } catch (error) {
    if (error instanceof H264Error) return null;
    throw error;
  }
}

/** Largest share of the budget for learning what is usual. */
const LEARNING_SHARE = 0.2;
/**
 * How far changed bytes in slices of phones and x264 are read on average until something is impossible (one in a
 * hundred: 1 400 bytes), and until something is unusual. Encoders fill the last byte as they like.
 */
const WRONG_BYTES = 300;
const UNUSUAL_BYTES = 80;
/**
 * Of 57 slices with two and four wrong bytes, two were mended by changing a single byte; in both, the other wrong bytes
 * had no effect on what follows. Of 77 with one wrong bit or byte, in one alone a wrong change led to the end by
 * chance; its fault was in the last bytes.
 */
const SURE_END_BYTES = 24;

/** A slice that ends in front of a macroblock. */
function readable(
  opened: OpenSlice,
  { state, cabac }: SliceReader,
  end: number,
  usual: UsualValues | undefined,
): ReadableSlice<SliceMark> {
  const slice = openMarkedSlice(opened, state, cabac, usual?.check());
  const reading = (read: () => { readonly end: number }) => ({
    isWhole: endsAt(read, end),
    at: cabac.nextAt(),
  });
  return {
    rbsp: opened.rbsp,
    wrongBytes: usual ? UNUSUAL_BYTES : WRONG_BYTES,
    sureEndBytes: usual ? SURE_END_BYTES : Infinity,
    read: (onMark) => reading(() => slice.read(onMark)),
    readFrom: (mark) => reading(() => slice.readFrom(mark)),
    stretchOf: () => ({ first: 0, end: opened.rbsp.length }),
  };
}

function endsAt(read: () => { readonly end: number }, end: number): boolean {
  try {
    return read().end === end;
  } catch (error) {
    if (error instanceof H264Error) return false;
    throw error;
  }
}
