import { open, type FileHandle } from 'node:fs/promises';
import { EACH_PICTURE } from '#server/media/ffmpeg/ffmpeg-names.ts';
import type { FfmpegPlan } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import { H264Error } from '#server/media/h264/h264-error.ts';
import { annexB, NAL, isSlice, nalType, splitSample } from '#server/media/h264/nal.ts';
import { parsePps } from '#server/media/h264/pps.ts';
import type { AvcSets } from '#server/media/h264/slice-data/learn-usual.ts';
import { readsToEnd } from '#server/media/h264/slice-data/torn-picture.ts';
import { parseSps } from '#server/media/h264/sps.ts';
import { readUpTo } from '#server/media/mp4/file-bytes.ts';
import { readListedMovie } from '#server/media/mp4/listed-movie.ts';
import { findVideoTrack } from '#server/media/mp4/movie.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { readAvcConfig, type AvcConfig } from '#server/media/mp4/sample-entry.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { shared, sideBySide } from '#server/media/side-by-side.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import type { VideoPacket } from '../packets/read-packets.ts';
import {
  dataOf,
  hashPlan,
  judgePictures,
  MIN_SLICE_BYTES,
  OTHER_ENDS,
  stumpOf,
  type Variants,
  withOtherEnd,
} from './slice-variants.ts';
import { createUnitLog } from './unit-log.ts';

export interface SliceEndInput {
  readonly inputPath: string;
  readonly info: MediaInfo;
  /** In decode order. */
  readonly packets: readonly VideoPacket[];
  /** Places in `packets` to look at. */
  readonly suspects: readonly number[];
  /** Most pictures to compare; default `MAX_COMPARED`. */
  readonly maxCompared?: number;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
  /** Share of the work that is done, 0 to 1. */
  readonly onProgress?: (share: number) => void;
}

/**
 * Bytes cut off the end of each slice, by round. The first round leaves so few suspects that the others are tried
 * together, because starting a decoder costs more than decoding them. An intact slice that is cut ends too early and
 * the decoder complains, except by luck: 3 to 5 of 100 intact slices pass one round, more in still pictures whose last
 * macroblocks need almost no data (measured on real clips).
 */
const ROUNDS = [[16], [11, 23]];
/**
 * Progress at which the rounds and the comparison begin, as shares of the time (`TOOL_RUNS`, two damaged clips of 1088
 * pictures of 1280 x 720).
 */
const COMPARING = 0.7;
const STARTS = [0, 0.5, COMPARING];
/** Most pictures to compare. Still scenes leave many suspects, and each costs as much as ten pictures. */
const MAX_COMPARED = 48;
/** An access unit delimiter (ITU-T H.264, 7.3.2.4) for any slice type; it keeps the pictures apart. */
const DELIMITER = Buffer.from([0, 0, 0, 1, 9, 0xf0]);

/**
 * Finds damage that decodes without a complaint. Arithmetic coding (CABAC, ITU-T H.264 9.3) still yields macroblocks
 * after it went wrong. If they happen to fill the picture before the data end, the rest of the data is never read and
 * no decoder complains. So the data are cut short: a slice that needs them to the end now fails, and one that never
 * read the end decodes to the same picture as before. Slices can be parsed without other pictures, so only the suspects
 * are decoded, after one key frame.
 * @returns places in `packets` of slices that are complete before their data end. Empty for other codecs, for CAVLC
 * (strict error detection already checks its end), and for decoders that do not log the units they read
 * @throws MediaToolError when ffmpeg cannot run or the job is cancelled
 */
export async function checkSliceEnds(input: SliceEndInput): Promise<number[]> {
  if (input.suspects.length === 0) return [];
  if (input.info.format !== 'mov' || input.info.video[0]?.codec !== 'h264') return [];
  const file = await open(input.inputPath, 'r');
  try {
    const coding = await readCabacCoding(file, input.info.video[0].index);
    if (!coding) return [];
    const { config } = coding;
    let left: readonly number[] = await withSlices(input, file, config);
    if (left.length === 0) return [];
    for (const [round, cuts] of ROUNDS.entries()) {
      const [from, to] = [STARTS[round] ?? 1, STARTS[round + 1] ?? 1];
      const onProgress = (share: number) => input.onProgress?.(from + (to - from) * share);
      const part = { ...input, suspects: left, onProgress };
      const survivors: number[] | null = await runRound(part, file, config, cuts);
      if (survivors === null) return [];
      onProgress(1);
      left = survivors;
      if (left.length === 0) return [];
    }
    const suspects = left.slice(0, input.maxCompared ?? MAX_COMPARED);
    const cut = Math.max(...ROUNDS.flat());
    const same = await samePictures({ ...input, suspects }, file, config, cut);
    return await withoutWhole(same, input, file, coding);
  } catch (error) {
    if (error instanceof Mp4Error || error instanceof H264Error) return [];
    throw error;
  } finally {
    await file.close();
  }
}

interface Coding extends AvcSets {
  readonly config: AvcConfig;
}

/** The decoder settings if every parameter set uses arithmetic coding; else null. */
async function readCabacCoding(file: FileHandle, streamIndex: number): Promise<Coding | null> {
  const movie = await readListedMovie(file);
  if (movie.fragmented) return null;
  const track = findVideoTrack(movie, streamIndex);
  const avcC = track.entries[0]?.boxes.find((box) => box.type === 'avcC');
  if (!avcC || track.entries.length > 1) return null;
  const config = readAvcConfig(avcC.payload);
  const [spsUnit] = config.sps;
  if (!spsUnit) return null;
  const sps = parseSps(spsUnit);
  const pps = config.pps.map((unit) => parsePps(unit, sps.chromaFormat));
  return pps.every(({ cabac }) => cabac) && sps.frameMbsOnly ? { config, sps, pps } : null;
}

const canBeCut = (slices: readonly Buffer[]): boolean =>
  slices.length > 0 && slices.every((unit) => unit.length >= MIN_SLICE_BYTES);

/** The suspects from the first one that has slices; a decoder that gets none ends with an error. */
async function withSlices(
  { suspects, packets }: SliceEndInput,
  file: FileHandle,
  config: AvcConfig,
): Promise<readonly number[]> {
  for (const [at, packet] of suspects.entries()) {
    const units = await readUnits(file, packets[packet], config);
    if (units && canBeCut(units.filter(isSlice))) return suspects.slice(at);
  }
  return [];
}

interface FedPicture {
  readonly packet: number;
  readonly slices: number;
}

/**
 * Least number of pictures for a second decoder, which takes as long to start as about 20 pictures of 1280 x 720 take
 * to decode.
 */
const MIN_SHARED = 60;

/** Same as `runPart`, with two decoders when there is much to do; suspects do not depend on each other. */
async function runRound(
  input: SliceEndInput,
  file: FileHandle,
  config: AvcConfig,
  cuts: readonly number[],
): Promise<number[] | null> {
  const { suspects } = input;
  let seen = 0;
  const onSuspect = () => input.onProgress?.(++seen / suspects.length);
  const works = shared(suspects, MIN_SHARED).map((part) => (signal: AbortSignal) => {
    return runPart({ ...input, signal, suspects: part, onSuspect }, file, config, cuts);
  });
  const survivors = await sideBySide(input.signal, works);
  return survivors.some((part) => part === null) ? null : survivors.flatMap((part) => part ?? []);
}

/** @returns suspects that decoded without a complaint in spite of every cut; null when unknown */
async function runPart(
  input: SliceEndInput & { readonly onSuspect: () => void },
  file: FileHandle,
  config: AvcConfig,
  cuts: readonly number[],
): Promise<number[] | null> {
  const fed: FedPicture[] = [];
  const log = createUnitLog();
  await runFfmpeg(ROUND_PLAN, {
    tools: input.tools,
    signal: input.signal,
    stdin: feed(input, file, config, cuts, fed),
    onStdout: () => undefined,
    onStderrLine: log.read,
  });
  const complaints = log.finish(fed.length + 1);
  if (!complaints) return null;
  const failed = new Set(
    fed.flatMap(({ packet, slices }, index) => ((complaints[index + 1] ?? 0) < slices ? [] : [packet])),
  );
  return [...new Set(fed.map(({ packet }) => packet))].filter((packet) => !failed.has(packet));
}

const LABEL = 'check the ends of slices';
const DECODER = ['-threads', '1', '-err_detect', 'aggressive', '-skip_loop_filter', 'all'];

/** Only complaints count here. Concealing damage or passing pictures on would cost more than reading the slices. */
const ROUND_PLAN: FfmpegPlan = {
  label: LABEL,
  // At this level a decoder logs every unit it reads, in order.
  logLevel: 'repeat+level+debug',
  isLogRead: true,
  inputs: [{ path: 'pipe:0', format: 'h264', options: [...DECODER, '-ec', '0'] }],
  outputs: [{ path: 'pipe:1', options: ['-map', '0:v:0', ...EACH_PICTURE, '-f', 'null'] }],
  expectedDurationMs: null,
};

const COMPARE_PLAN = hashPlan(LABEL, 'h264', DECODER);

/** The stream of one round: parameter sets, one intact key frame, and the suspects with their ends cut off. */
async function* feed(
  input: SliceEndInput & { readonly onSuspect: () => void },
  file: FileHandle,
  config: AvcConfig,
  cuts: readonly number[],
  fed: FedPicture[],
): AsyncGenerator<Buffer> {
  yield annexB([...config.sps, ...config.pps]);
  yield await keyPicture(input, file, config, input.suspects[0] ?? 0);
  for (const packet of input.suspects) {
    input.onSuspect();
    const units = await readUnits(file, input.packets[packet], config);
    const slices = units?.filter(isSlice) ?? [];
    if (!units || !canBeCut(slices)) continue;
    for (const cut of cuts) {
      fed.push({ packet, slices: slices.length });
      yield accessUnit(units, (slice) => dataOf(slice).subarray(0, -cut));
    }
  }
}

/** The last key frame before a suspect that is no suspect itself, so that every reference has a picture. */
async function keyPicture(
  input: SliceEndInput,
  file: FileHandle,
  config: AvcConfig,
  before: number,
): Promise<Buffer> {
  const bad = new Set(input.suspects);
  const keys = input.packets.flatMap((packet, place) => (packet.keyframe && !bad.has(place) ? [place] : []));
  const nearestFirst = [...keys.filter((place) => place < before).reverse(), ...keys];
  for (const place of nearestFirst) {
    const units = await readUnits(file, input.packets[place], config);
    // Containers also mark recovery points as key frames; only after an IDR picture is nothing missing.
    if (units?.some((unit) => nalType(unit) === NAL.idrSlice)) return accessUnit(units, asItIs);
  }
  return DELIMITER;
}

/** One picture as a byte stream with changed slices; units other than slices and parameter sets are left out. */
function accessUnit(units: readonly Buffer[], change: (slice: Buffer) => Buffer): Buffer {
  const kept = units.flatMap((unit) => {
    if (isSlice(unit)) return [change(unit)];
    return nalType(unit) === NAL.sps || nalType(unit) === NAL.pps ? [unit] : [];
  });
  return Buffer.concat([DELIMITER, annexB(kept)]);
}

const asItIs = (slice: Buffer) => slice;

/** Pictures decoded for one slice: unchanged, its stump, and each other end, all with a key frame in front. */
const PICTURES_EACH = 2 * (2 + OTHER_ENDS.length);

/** Suspects with a slice that gives the same picture whatever its last bytes are: the end is never read. */
async function samePictures(
  input: SliceEndInput,
  file: FileHandle,
  config: AvcConfig,
  length: number,
): Promise<number[]> {
  /** The packet of each slice that goes in. */
  const fed: number[] = [];
  async function* variants(): AsyncGenerator<Buffer> {
    yield annexB([...config.sps, ...config.pps]);
    for (const [number, packet] of input.suspects.entries()) {
      input.onProgress?.(COMPARING + ((1 - COMPARING) * number) / input.suspects.length);
      const key = await keyPicture(input, file, config, packet);
      const units = (await readUnits(file, input.packets[packet], config)) ?? [];
      for (const changed of units.filter(isSlice)) {
        fed.push(packet);
        const withSlice = (change: (slice: Buffer) => Buffer) =>
          Buffer.concat([key, accessUnit(units, (slice) => (slice === changed ? change(slice) : slice))]);
        yield withSlice(asItIs);
        yield withSlice(stumpOf);
        for (const pattern of OTHER_ENDS) yield withSlice((slice) => withOtherEnd(slice, pattern, length));
      }
    }
  }
  const judgement = { suspects: fed, each: PICTURES_EACH, judge: isNeverRead };
  return [...new Set(await judgePictures(COMPARE_PLAN, input, variants(), judgement))];
}

function isNeverRead({ key, pictures }: Variants): boolean {
  const [whole, stump, ...others] = pictures;
  return whole !== key && stump !== whole && others.every((hash) => hash === whole);
}

/**
 * Leaves out pictures that our own reading follows to the end of their data. Where a picture is flat, whatever stands at
 * the end of its data, and whatever a decoder conceals, can give the same samples.
 */
async function withoutWhole(
  named: readonly number[],
  { packets }: SliceEndInput,
  file: FileHandle,
  { config, sps, pps }: Coding,
): Promise<number[]> {
  const damaged: number[] = [];
  for (const packet of named) {
    const units = await readUnits(file, packets[packet], config);
    if (!units || !readsToEnd(units, sps, pps)) damaged.push(packet);
  }
  return damaged;
}

async function readUnits(
  file: FileHandle,
  packet: VideoPacket | undefined,
  config: AvcConfig,
): Promise<Buffer[] | null> {
  if (!packet || packet.offsetBytes === null) return null;
  const bytes = await readUpTo(file, packet.offsetBytes, packet.sizeBytes);
  try {
    return splitSample(bytes, config.lengthSize);
  } catch (error) {
    if (error instanceof H264Error) return null;
    throw error;
  }
}
