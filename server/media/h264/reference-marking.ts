import { type BitReader, type BitWriter, createBitReader } from './bits.ts';
import { H264Error } from './h264-error.ts';
import { NAL, isSlice, toRbsp } from './nal.ts';
import { type SliceContext, type SliceKind, sliceKind } from './slice-header.ts';

/** A memory management control operation (ITU-T H.264, 7.4.3.3). */
export interface MarkingCommand {
  readonly operation: number;
  readonly values: readonly number[];
}

/** How a picture changes the list of references. */
export interface ReferenceMarking {
  /** For IDR pictures only: whether it is kept as a long-term reference. */
  readonly longTermReference: boolean;
  /** Without commands, the oldest reference leaves when there is no room (sliding window). */
  readonly commands: readonly MarkingCommand[];
}

/** The usual marking: the oldest reference leaves. */
export const SLIDING_WINDOW: ReferenceMarking = { longTermReference: false, commands: [] };

/** Number of values behind each operation of dec_ref_pic_marking (7.3.3.3). */
const VALUES_OF = [0, 1, 1, 2, 1, 0, 1];
/** A header cannot have more commands than this. */
const MAX_COMMANDS = 66;
/** Bytes that certainly hold a whole slice header, long weight tables included. */
const HEADER_BYTES = 1024;

/**
 * Reads how a slice's picture is marked as a reference, which follows everything else in the header read here.
 * @throws H264Error when it is no slice, is cut off, or the header makes no sense
 */
export function readMarking(unit: Buffer, context: SliceContext): ReferenceMarking {
  if (!isSlice(unit)) throw new H264Error('This is not a slice.');
  if (refIdcOf(unit) === 0) return SLIDING_WINDOW;
  return readUpToMarking(createBitReader(toRbsp(unit.subarray(0, HEADER_BYTES))), context).marking;
}

const refIdcOf = (unit: Buffer) => ((unit[0] ?? 0) >> 5) & 3;

/** The fields of a slice header up to and including the marking of its picture. */
export interface MarkedHead {
  readonly kind: SliceKind;
  readonly firstMb: number;
  /** Number of entries of its reference lists that a slice can name; 0 where it has none. */
  readonly active: readonly [number, number];
  readonly marking: ReferenceMarking;
}

/**
 * Reads a slice header (ITU-T H.264, 7.3.3) from its NAL header on. Afterwards the reader is behind the marking.
 * @throws H264Error when it is cut off, or makes no sense
 */
export function readUpToMarking(reader: BitReader, { sps, pps }: SliceContext): MarkedHead {
  const head = reader.bits(8);
  const isIdr = (head & 31) === NAL.idrSlice;
  const firstMb = reader.ue();
  const kind = sliceKind(reader.ue());
  reader.ue();
  if (sps.separateColourPlanes) reader.bits(2);
  reader.bits(sps.frameNumBits);
  if (isIdr) reader.ue();
  if (sps.pocType === 0) {
    reader.bits(sps.pocBits);
    if (pps.fieldOrderInSlices && reader.se() !== 0) throw new H264Error('Fields of unlike order.');
  } else if (sps.pocType === 1) throw new H264Error('Picture order type 1 is not supported.');
  if (pps.redundantPictures) reader.ue();
  if (kind === 'B') reader.flag();
  const isPredicted = kind === 'P' || kind === 'SP';
  const active: [number, number] = [
    isPredicted || kind === 'B' ? pps.refs0 : 0,
    kind === 'B' ? pps.refs1 : 0,
  ];
  if ((isPredicted || kind === 'B') && reader.flag()) {
    active[0] = reader.ue() + 1;
    if (kind === 'B') active[1] = reader.ue() + 1;
    if (active[0] > 32 || active[1] > 32) throw new H264Error('A slice names too many references.');
  }
  if (isPredicted || kind === 'B') skipReordering(reader);
  if (kind === 'B') skipReordering(reader);
  if (pps.weightedPred && isPredicted) skipWeights(reader, [active[0]], sps.chromaFormat);
  if (pps.weightedBipred === 1 && kind === 'B') skipWeights(reader, active, sps.chromaFormat);
  return {
    kind,
    firstMb,
    active,
    marking: (head & 0x60) === 0 ? SLIDING_WINDOW : readOwnMarking(reader, isIdr),
  };
}

/** dec_ref_pic_marking (7.3.3.3). */
function readOwnMarking(reader: BitReader, isIdr: boolean): ReferenceMarking {
  if (!isIdr) return { longTermReference: false, commands: reader.flag() ? readCommands(reader) : [] };
  reader.flag();
  return { longTermReference: reader.flag(), commands: [] };
}

/** ref_pic_list_modification of one list (7.3.3.1). */
function skipReordering(reader: BitReader): void {
  if (!reader.flag()) return;
  for (let count = 0; count <= MAX_COMMANDS; count++) {
    const operation = reader.ue();
    if (operation === 3) return;
    if (operation > 3) throw new H264Error('A slice orders its references in an unknown way.');
    reader.ue();
  }
  throw new H264Error('A slice orders its references without end.');
}

/** pred_weight_table (7.3.3.2). */
function skipWeights(reader: BitReader, lists: readonly number[], chromaFormat: number): void {
  reader.ue();
  if (chromaFormat !== 0) reader.ue();
  for (const count of lists) {
    for (let reference = 0; reference < count; reference++) {
      if (reader.flag()) {
        reader.se();
        reader.se();
      }
      if (chromaFormat === 0 || !reader.flag()) continue;
      for (let value = 0; value < 4; value++) reader.se();
    }
  }
}

function readCommands(reader: BitReader): MarkingCommand[] {
  const commands: MarkingCommand[] = [];
  while (commands.length < MAX_COMMANDS) {
    const operation = reader.ue();
    if (operation === 0) return commands;
    const count = VALUES_OF[operation];
    if (count === undefined) throw new H264Error('A slice marks its references in an unknown way.');
    commands.push({ operation, values: Array.from({ length: count }, () => reader.ue()) });
  }
  throw new H264Error('A slice marks its references without end.');
}

/** Writes dec_ref_pic_marking (7.3.3.3). */
export function writeMarking(writer: BitWriter, isIdr: boolean, marking: ReferenceMarking): void {
  if (isIdr) {
    writer.flag(false);
    writer.flag(marking.longTermReference);
    return;
  }
  writer.flag(marking.commands.length > 0);
  for (const { operation, values } of marking.commands) {
    writer.ue(operation);
    for (const value of values) writer.ue(value);
  }
  if (marking.commands.length > 0) writer.ue(0);
}
