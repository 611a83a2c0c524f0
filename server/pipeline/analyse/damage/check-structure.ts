import { open } from 'node:fs/promises';
import { findSampleFault, isFaultBeside } from '#server/media/h264/check-sample.ts';
import { H264Error } from '#server/media/h264/h264-error.ts';
import { createRestartCheck, type RestartCheck } from '#server/media/h264/restart.ts';
import { findHevcSampleFault } from '#server/media/hevc/check-sample.ts';
import { isHevcRestart } from '#server/media/hevc/restart.ts';
import type { LostBetween } from '#server/media/lost-counts.ts';
import { NAL, isSlice, nalType, splitSample } from '#server/media/h264/nal.ts';
import { parseSliceHeader } from '#server/media/h264/slice-header.ts';
import { parseSps, type Sps } from '#server/media/h264/sps.ts';
import { parsePps, type Pps } from '#server/media/h264/pps.ts';
import { toSimpleEdit } from '#server/media/mp4/edit-list.ts';
import { readListedMovie } from '#server/media/mp4/listed-movie.ts';
import { findVideoTrack, type Track } from '#server/media/mp4/movie.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { type AvcConfig, readAvcConfig, readHevcConfig } from '#server/media/mp4/sample-entry.ts';
import { displayOrder } from '#server/media/mp4/display-order.ts';
import { createSampleReader } from '#server/media/mp4/sample-reader.ts';
import { MAX_SAMPLE_BYTES, readSamples } from '#server/media/mp4/sample-table.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import { createAvcCounts, createHevcCounts, type StreamCounts } from './stream-counts.ts';

export interface DamagedFrame {
  /** In display order from the first shown picture; below 0 when an edit list hides the picture before that. */
  readonly frame: number;
  readonly reason: string;
  /** Only data beside the picture are damaged; it decodes without them. */
  readonly beside?: boolean;
  /** Its own data are intact, but a reference picture is missing from the file. */
  readonly isWhole?: boolean;
}

export interface StructureCheck {
  /** False when the file is no MP4 with H.264 or HEVC pictures, so that nothing could be checked. */
  readonly checked: boolean;
  readonly damagedFrames: readonly DamagedFrame[];
  /** Pictures that the stream counts but the file lacks; `placeBefore` counts from the first shown picture. */
  readonly lost: readonly LostBetween[];
  /**
   * Samples in decode order at which a decoder may start, judged by their data; null when that is unknown for any
   * sample.
   */
  readonly restarts: ReadonlySet<number> | null;
}

const NOT_CHECKED: StructureCheck = { checked: false, damagedFrames: [], lost: [], restarts: null };

/**
 * Finds damage in the coded pictures without decoding them: wrong NAL unit lengths, forbidden bits, wrong types, byte
 * patterns that cannot occur in coded data, slices that refer to missing parameter sets or to no picture. Reads every
 * sample once, a megabyte at a time. A clip without a readable index is not checked.
 * @throws the signal's reason when aborted.
 */
export async function checkStructure(
  inputPath: string,
  info: MediaInfo,
  signal?: AbortSignal,
): Promise<StructureCheck> {
  if (info.format !== 'mov' || !info.video[0]) return NOT_CHECKED;
  const file = await open(inputPath, 'r');
  try {
    const movie = await readListedMovie(file);
    if (movie.fragmented) return NOT_CHECKED;
    const track = findVideoTrack(movie, info.video[0].index);
    const checks = sampleChecks(track);
    const edit = toSimpleEdit(track.edits, movie.timescale, track.timescale);
    if (!checks || !edit || track.entries.length > 1) return NOT_CHECKED;
    const samples = readSamples(track.stbl);
    const order = displayOrder(samples, edit.startTicks, edit.endTicks);
    const readSample = createSampleReader(file, samples);
    const damagedFrames: DamagedFrame[] = [];
    const restarts = new Set<number>();
    let told = true;
    const claim = (index: number, reason: string, more: Pick<DamagedFrame, 'beside' | 'isWhole'> = {}) => {
      const place = order.placeOf[index] ?? 0;
      if (place >= order.endShown) return;
      damagedFrames.push({ frame: place - order.firstShown, reason, ...more });
    };
    for (const [index, sample] of samples.entries()) {
      signal?.throwIfAborted();
      let reason: string | null;
      let beside = false;
      let units: readonly Buffer[] | null = null;
      if (sample.sizeBytes === 0) reason = 'the picture has no data';
      else if (sample.sizeBytes > MAX_SAMPLE_BYTES) reason = 'the picture is impossibly large';
      else {
        const bytes = await readSample(index);
        if (bytes.length < sample.sizeBytes) reason = 'the file ends before the picture does';
        else reason = checks.findFault(bytes);
        beside = reason !== null && checks.isBeside(bytes);
        const restart = reason === null || beside ? checks.isRestart(bytes) : null;
        if (restart) restarts.add(index);
        told &&= restart !== null;
        units = reason === null ? checks.unitsOf(bytes) : null;
      }
      checks.counts?.note(sample.pts, units);
      if (reason !== null) claim(index, reason, beside ? { beside } : {});
    }
    for (const index of checks.counts?.missReferences() ?? []) {
      claim(index, MISSES_REFERENCE, { isWhole: true });
    }
    damagedFrames.sort((a, b) => a.frame - b.frame);
    const counted = checks.counts?.lost() ?? [];
    const lost = counted.map((one) => ({ ...one, placeBefore: one.placeBefore - order.firstShown }));
    return { checked: true, damagedFrames, lost, restarts: told ? restarts : null };
  } catch (error) {
    if (error instanceof Mp4Error || error instanceof H264Error) return NOT_CHECKED;
    throw error;
  } finally {
    await file.close();
  }
}

const MISSES_REFERENCE = 'a picture that it is made of is lost from the file';

interface SampleChecks {
  /** What is wrong with one coded picture, or null. */
  readonly findFault: (sample: Buffer) => string | null;
  /** Whether a fault lies beside the picture, so that it decodes without the damaged part. */
  readonly isBeside: (sample: Buffer) => boolean;
  readonly isRestart: RestartCheck;
  /** The NAL units of an intact sample; null when they are not looked at. */
  readonly unitsOf: (sample: Buffer) => readonly Buffer[] | null;
  /** Counts that the pictures carry about their neighbours; null when they are not judged. */
  readonly counts: StreamCounts | null;
}

function unitsOf(sample: Buffer, lengthSize: number): Buffer[] | null {
  try {
    return splitSample(sample, lengthSize);
  } catch (error) {
    if (error instanceof H264Error) return null;
    throw error;
  }
}

/** The checks for the coded pictures of a track; null for codecs that are not checked. */
function sampleChecks({ entries }: Track): SampleChecks | null {
  const boxOf = (type: string) => entries[0]?.boxes.find((box) => box.type === type)?.payload;
  const [avcC, hvcC] = [boxOf('avcC'), boxOf('hvcC')];
  if (avcC) {
    const config = readAvcConfig(avcC);
    const sets = readSets(config);
    const findHeaderFault = createHeaderCheck(config, sets);
    return {
      findFault: (sample) => findSampleFault(sample, config.lengthSize) ?? findHeaderFault(sample),
      isBeside: (sample) => {
        const units = unitsOf(sample, config.lengthSize);
        return units !== null && isFaultBeside(units) && findHeaderFault(sample) === null;
      },
      isRestart: createRestartCheck(config),
      unitsOf: (sample) => sets && unitsOf(sample, config.lengthSize),
      counts: sets && createAvcCounts(sets.sps, sets.pps),
    };
  }
  if (!hvcC) return null;
  const { lengthSize, parameterSets } = readHevcConfig(hvcC);
  return {
    findFault: (sample) => findHevcSampleFault(sample, lengthSize),
    isBeside: () => false,
    isRestart: (sample) => isHevcRestart(sample, lengthSize),
    unitsOf: (sample) => unitsOf(sample, lengthSize),
    counts: createHevcCounts(parameterSets),
  };
}

/** The parameter sets of a stream without fields that has one sequence parameter set; null for others. */
function readSets(config: AvcConfig): { readonly sps: Sps; readonly pps: readonly Pps[] } | null {
  const [spsUnit] = config.sps;
  if (!spsUnit || config.sps.length > 1) return null;
  try {
    const sps = parseSps(spsUnit);
    return sps.frameMbsOnly ? { sps, pps: config.pps.map((unit) => parsePps(unit, sps.chromaFormat)) } : null;
  } catch (error) {
    if (error instanceof H264Error) return null;
    throw error;
  }
}

/**
 * A check of slice headers against the parameter sets of the sample description. Streams with several sequence sets or
 * with fields are left to the other checks, because their headers may depend on sets in the samples.
 */
function createHeaderCheck(
  config: AvcConfig,
  sets: ReturnType<typeof readSets>,
): (sample: Buffer) => string | null {
  if (!sets) return () => null;
  const { sps } = sets;
  const ppsIds = new Set(sets.pps.map(({ id }) => id));
  const macroblocks = sps.widthMbs * sps.heightMbs;
  return (sample) => {
    try {
      const units = splitSample(sample, config.lengthSize);
      const inBand = units.filter((unit) => nalType(unit) === NAL.pps);
      for (const unit of inBand) ppsIds.add(parsePps(unit, sps.chromaFormat).id);
      for (const unit of units.filter(isSlice)) {
        const head = parseSliceHeader(unit, sps);
        if (head.firstMb >= macroblocks) return 'a slice lies outside the picture';
        if (!ppsIds.has(head.ppsId)) return 'a slice names settings that do not exist';
      }
      return null;
    } catch (error) {
      if (error instanceof H264Error) return 'the header of a slice cannot be read';
      throw error;
    }
  };
}
