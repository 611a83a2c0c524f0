import { open, type FileHandle } from 'node:fs/promises';
import { H264Error } from '#server/media/h264/h264-error.ts';
import { type ChainLink, inferReferences } from '#server/media/h264/reference-run.ts';
import { parseSliceHeader } from '#server/media/h264/slice-header.ts';
import { parseSps, type Sps } from '#server/media/h264/sps.ts';
import { readListedMovie } from '#server/media/mp4/listed-movie.ts';
import { findVideoTrack } from '#server/media/mp4/movie.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { readAvcConfig } from '#server/media/mp4/sample-entry.ts';
import { firstUnit, readSampleHead, type SampleHead } from '#server/media/mp4/sample-head.ts';
import type { VideoStreamInfo } from '#server/media/probe/probe.ts';
import type { VideoPacket } from '../packets/read-packets.ts';

/** NAL unit types of coded slices (ITU-T H.264, table 7-1). */
const SLICE_TYPES = new Set([1, 2, 5]);
/** Codecs whose B pictures are never referred to. */
const PLAIN_B = new Set(['mpeg1video', 'mpeg2video', 'mpeg4', 'msmpeg4v2', 'h263']);

export interface DisposableInput {
  readonly inputPath: string;
  readonly stream: VideoStreamInfo;
  readonly packets: readonly VideoPacket[];
  readonly wanted: Iterable<number>;
  readonly whole: ReadonlySet<number>;
  readonly typeOf: (packet: number) => string | null;
}

/**
 * Finds those of the wanted pictures that no other picture refers to, so that damage stays in them. H.264 states it in
 * each slice (`nal_ref_idc` 0, ITU-T H.264 7.4.1); if that may be damaged, the frame numbers of the neighbours tell. In
 * older codecs it holds for every B picture. When unsure, a picture counts as referred to. For HEVC see
 * `readHevcReferences`, which tells more.
 * @param input.wanted places in `packets` of pictures that may be damaged
 * @param input.whole those of them whose own data are intact: their own slices are believed, not the neighbours
 * @param input.typeOf coding type of a packet's picture as the decoder logged it, or null
 */
export async function readDisposable(input: DisposableInput): Promise<Set<number>> {
  const { inputPath, stream, packets, wanted, whole, typeOf } = input;
  const disposable = new Set<number>();
  const places = new Set(wanted);
  if (places.size === 0) return disposable;
  if (PLAIN_B.has(stream.codec)) {
    for (const packet of places) if (typeOf(packet) === 'B') disposable.add(packet);
    return disposable;
  }
  if (stream.codec !== 'h264') return disposable;
  const file = await open(inputPath, 'r');
  try {
    const sequence = await readSequence(file, stream.index);
    for (const run of toRuns(places)) {
      const own = await Promise.all(run.map((place) => readSlice(file, packets[place], sequence)));
      const inferred = sequence && (await inferRun(file, packets, run, own, sequence));
      for (const [index, place] of run.entries()) {
        const isToldBeside = whole.has(place) ? null : inferred?.[index]?.isReference;
        const isReference = isToldBeside ?? own[index]?.refIdc !== 0;
        if (!isReference && packets[place]?.keyframe === false) disposable.add(place);
      }
    }
  } finally {
    await file.close();
  }
  return disposable;
}

interface Sequence {
  readonly sps: Sps;
  /** The units of its parameter sets, the sequence's first. */
  readonly parameterSets: readonly Buffer[];
  readonly lengthSize: number;
}

/** The one sequence of an MP4 track, or null. */
export async function readSequence(file: FileHandle, streamIndex: number): Promise<Sequence | null> {
  try {
    const { entries } = findVideoTrack(await readListedMovie(file), streamIndex);
    const avcC = entries[0]?.boxes.find(({ type }) => type === 'avcC');
    if (!avcC || entries.length > 1) return null;
    const { sps, pps, lengthSize } = readAvcConfig(avcC.payload);
    const [unit] = sps;
    if (!unit || sps.length > 1) return null;
    return { sps: parseSps(unit), parameterSets: [unit, ...pps], lengthSize };
  } catch (error) {
    if (error instanceof Mp4Error || error instanceof H264Error) return null;
    throw error;
  }
}

/** Splits numbers into runs without gaps. */
function toRuns(places: ReadonlySet<number>): number[][] {
  const runs: number[][] = [];
  for (const place of [...places].sort((a, b) => a - b)) {
    const run = runs.at(-1);
    if (run && run.at(-1) === place - 1) run.push(place);
    else runs.push([place]);
  }
  return runs;
}

interface ReadSlice {
  readonly refIdc: number;
  /** Null when only the first byte can be read. */
  readonly link: ChainLink | null;
}

async function inferRun(
  file: FileHandle,
  packets: readonly VideoPacket[],
  run: readonly number[],
  own: readonly (ReadSlice | null)[],
  sequence: Sequence,
) {
  const [first = 0, last = 0] = [run[0], run.at(-1)];
  const before = (await readSlice(file, packets[first - 1], sequence))?.link;
  const behind = (await readSlice(file, packets[last + 1], sequence))?.link ?? null;
  if (!before) return null;
  const links = own.map((slice) => slice?.link ?? null);
  return inferReferences(links, before, behind, sequence.sps.frameNumBits);
}

/** The first slice of a coded picture; null when none is found or the lengths make no sense. */
export async function readSlice(
  file: FileHandle,
  packet: VideoPacket | undefined,
  sequence: Sequence | null,
): Promise<ReadSlice | null> {
  const head = await readHead(file, packet);
  const slice = head && firstUnit(head, sequence?.lengthSize ?? 4, isAvcSlice)?.unit;
  if (!slice) return null;
  const refIdc = ((slice[0] ?? 0) >> 5) & 3;
  try {
    return { refIdc, link: sequence && parseSliceHeader(slice, sequence.sps) };
  } catch (error) {
    if (error instanceof H264Error) return { refIdc, link: null };
    throw error;
  }
}

const isAvcSlice = (unit: Buffer): boolean => SLICE_TYPES.has((unit[0] ?? 0) & 0x1f);

/** The head of a packet; null when the demuxer does not know where it lies. */
export async function readHead(
  file: FileHandle,
  packet: VideoPacket | undefined,
): Promise<SampleHead | null> {
  if (!packet || packet.offsetBytes === null) return null;
  return readSampleHead(file, { offset: packet.offsetBytes, sizeBytes: packet.sizeBytes });
}
