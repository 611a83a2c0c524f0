import { type BitReader, type BitWriter, createBitReader } from './bits.ts';
import { H264Error } from './h264-error.ts';
import { NAL, isSlice, nalType, toRbsp } from './nal.ts';
import { type SliceContext, sliceKind } from './slice-header.ts';

/** A memory management control operation (ITU-T H.264, 7.4.3.3). */
export interface MarkingCommand {
  readonly operation: number;
  readonly values: readonly number[];
}

/** What a picture does to the list of references. */
export interface ReferenceMarking {
  /** Only IDR pictures: kept as a long-term reference. */
  readonly longTermReference: boolean;
  /** None: the oldest reference leaves when there is no room (sliding window). */
  readonly commands: readonly MarkingCommand[];
}

/** The usual: the oldest reference leaves. */
export const SLIDING_WINDOW: ReferenceMarking = { longTermReference: false, commands: [] };

/** Number of values behind each operation of dec_ref_pic_marking (7.3.3.3). */
const VALUES_OF = [0, 1, 1, 2, 1, 0, 1];
/** More commands than this in one header are no header. */
const MAX_COMMANDS = 66;
/** Bytes that certainly hold a slice header, long weight tables included. */
const HEADER_BYTES = 1024;

/**
 * Reads how a slice's picture is marked as a reference, behind everything else that its header holds.
 * @throws H264Error when it is no slice, is cut off, or the header makes no sense
 */
export function readMarking(unit: Buffer, { sps, pps }: SliceContext): ReferenceMarking {
  if (!isSlice(unit)) throw new H264Error('This is not a slice.');
  const refIdc = ((unit[0] ?? 0) >> 5) & 3;
  if (refIdc === 0) return SLIDING_WINDOW;
  const reader = createBitReader(toRbsp(unit.subarray(0, HEADER_BYTES)));
  const isIdr = nalType(unit) === NAL.idrSlice;
  reader.bits(8);
  reader.ue();
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
  let refs = { list0: pps.refs0, list1: pps.refs1 };
  const isPredicted = kind === 'P' || kind === 'SP';
  if ((isPredicted || kind === 'B') && reader.flag()) {
    refs = { list0: reader.ue() + 1, list1: kind === 'B' ? reader.ue() + 1 : 0 };
    if (refs.list0 > 32 || refs.list1 > 32) throw new H264Error('A slice names too many references.');
  }
  if (isPredicted || kind === 'B') skipReordering(reader);
  if (kind === 'B') skipReordering(reader);
  if (pps.weightedPred && isPredicted) skipWeights(reader, [refs.list0], sps.chromaFormat);
  if (pps.weightedBipred === 1 && kind === 'B') {
    skipWeights(reader, [refs.list0, refs.list1], sps.chromaFormat);
  }
  if (isIdr) {
    reader.flag();
    return { longTermReference: reader.flag(), commands: [] };
  }
  return { longTermReference: false, commands: reader.flag() ? readCommands(reader) : [] };
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
