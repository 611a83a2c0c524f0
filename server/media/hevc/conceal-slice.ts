import { createBitWriter, type BitWriter } from '../h264/bits.ts';
import type { LostBlocks } from '../lost-blocks.ts';
import type { SquareMotion } from '../square-motion.ts';
import { openSlice, type OpenedSlice } from './check-hevc-slices.ts';
import { CabacCopier } from '../cabac/cabac-copier.ts';
import { type CodingPps, type CodingSps, codingSetsOf, sizeInBlocks } from './hevc-coding-sets.ts';
import { CONTEXT_COUNT } from './hevc-contexts.ts';
import { HevcError } from './hevc-error.ts';
import { baseSlices, hevcNalType } from './hevc-nal.ts';
import { readSliceData } from './hevc-slice-data.ts';
import { SLICE } from './hevc-slice-header.ts';
import { SliceState } from './hevc-slice-state.ts';
import { codeMovedBlocks } from './moved-blocks.ts';
import { endSlice, FIRST_KEY, writeMovedPrediction } from './moved-slice.ts';

/** A damaged picture, as far as it can be read. */
export interface DamagedUnits {
  /** Distance of the order count of its first reference from its own; null where it has no reference. */
  readonly firstReference: number | null;
  /**
   * Its readable part, ended there, followed by slices of moved blocks that replace what is lost. All motion that later
   * pictures take from the readable part stays, and the rest has motion for them too.
   * @param lost what cannot be read, or is wrong before that; it begins in the first damaged slice
   * @param motions that the moved blocks may have
   * @returns for each motion, NAL units that replace the picture's
   * @throws HevcError or H264Error where the picture is coded in a way that is not supported
   */
  conceal(lost: Pick<LostBlocks, 'first' | 'end'>, motions: readonly SquareMotion[]): Buffer[][];
}

/**
 * @param units NAL units of a damaged picture
 * @param damaged the result of `findLoss` for it
 * @throws HevcError or H264Error where a header cannot be read
 */
export function openDamaged(
  units: readonly Buffer[],
  damaged: LostBlocks,
  parameterSets: readonly Buffer[],
): DamagedUnits {
  const { slice, opened, dropped } = damagedSlices(units, damaged, parameterSets);
  const { segment, rbsp, ends } = opened;
  const { references } = segment.header;
  const { sps, pps } = segment.sets;
  const isPlain = !pps.tiles && !pps.outputFlag && !segment.isDependent && sps.pcm === null;
  return {
    firstReference: references?.deltas[0] ?? null,
    conceal(lost, motions) {
      const first = Math.max(lost.first, segment.address);
      if (!isPlain || lost.end <= first) throw unsupported();
      const readable: Buffer[] = [];
      if (first > segment.address) {
        readSliceData(segment.sets, segment, rbsp, ends, first);
        readable.push(withHead(opened, headAsItIs(opened), segment.sets.cabac.finish()));
      }
      const ranges = sliceRanges(segment.sets, first, lost.end);
      return motions.map((motionAt) => {
        const moved = ranges.map(([from, end]) => {
          const substreams = codeMovedBlocks({ sps, pps, first: from, end, motionAt });
          return withHead(opened, headOfMoved(opened, from), substreams);
        });
        return units.flatMap((unit) =>
          unit === slice ? [...readable, ...moved] : dropped.includes(unit) ? [] : [unit],
        );
      });
    },
  };
}

/** The first damaged slice, and others that lie within what is lost. */
function damagedSlices(
  units: readonly Buffer[],
  { first, end }: LostBlocks,
  parameterSets: readonly Buffer[],
) {
  const opened = baseSlices(units).map((slice) => ({
    slice,
    opened: openSlice(slice, (id) => stateOf(parameterSets, id), null),
  }));
  const torn = opened.findLast((one) => one.opened.segment.address <= first);
  if (!torn) throw unsupported();
  const isLost = ({ opened: { segment } }: typeof torn) => segment.address > first && segment.address < end;
  return { ...torn, dropped: opened.filter(isLost).map(({ slice }) => slice) };
}

/** With wavefronts a slice that begins within a row ends there (ITU-T H.265, 7.4.7.1). */
function sliceRanges({ sps, pps }: CopyState, first: number, end: number): (readonly [number, number])[] {
  const { columns } = sizeInBlocks(sps);
  const rowEnd = first + columns - (first % columns);
  const isParted = pps.wavefronts && first % columns > 0 && rowEnd < end;
  return isParted
    ? [
        [first, rowEnd],
        [rowEnd, end],
      ]
    : [[first, end]];
}

/** State while a slice is copied. */
class CopyState extends SliceState {
  override readonly cabac: CabacCopier;

  constructor(sps: CodingSps, pps: CodingPps, copier = new CabacCopier(CONTEXT_COUNT)) {
    super(sps, pps, copier);
    this.cabac = copier;
  }
}

type Opened = OpenedSlice<CopyState>;

const unsupported = () => new HevcError('A damaged picture is coded in an unusual way.');

function stateOf(parameterSets: readonly Buffer[], ppsId: number): CopyState {
  const { sps, pps } = codingSetsOf(parameterSets, ppsId);
  return new CopyState(sps, pps);
}

/** The header of the slice itself, up to the places of its substreams. */
function headAsItIs({ segment, rbsp }: Opened): BitWriter {
  const writer = createBitWriter(64);
  writer.copy(rbsp, 0, segment.entryPointsAt);
  return writer;
}

/** The header of a slice of moved blocks of the same picture (7.3.6.1), up to the places of its substreams. */
function headOfMoved({ segment, rbsp }: Opened, address: number): BitWriter {
  const { header, sets } = segment;
  const { sps, pps } = sets;
  const { references } = header;
  // Blocks are moved from the first reference, which is a long-term one where there are no others.
  if (!references || references.deltas.length === 0 || hevcNalType(rbsp) >= FIRST_KEY) throw unsupported();
  const { columns, rows } = sizeInBlocks(sps);
  const writer = createBitWriter(64);
  writer.copy(rbsp, 0, 16);
  writer.flag(address === 0);
  writer.ue(pps.id);
  if (address > 0) {
    if (pps.dependentSlices) writer.flag(false);
    writer.bits(32 - Math.clz32(columns * rows - 1), address);
  }
  writer.bits(pps.extraHeaderBits, 0);
  writer.ue(SLICE.p);
  writer.copy(rbsp, ...header.referenceBits);
  writeMovedPrediction(writer, sets, references.used);
  return writer;
}

/** A NAL unit from a header, its end and its data. */
const withHead = ({ segment }: Opened, writer: BitWriter, substreams: readonly Buffer[]): Buffer =>
  endSlice(segment.sets.pps, writer, substreams);
