import { copyFile, open, rm, type FileHandle } from 'node:fs/promises';
import { H264Error } from '#server/media/h264/h264-error.ts';
import { isSlice } from '#server/media/h264/nal.ts';
import { MACROBLOCK, parseSps, type Sps } from '#server/media/h264/sps.ts';
import { isHevcSlice } from '#server/media/hevc/hevc-nal.ts';
import { replaceBox } from '#server/media/mp4/box.ts';
import { readExactly, readUpTo } from '#server/media/mp4/file-bytes.ts';
import { gatherTrack } from '#server/media/mp4/fragmented-track.ts';
import { findFragments, readFragmentDefaults } from '#server/media/mp4/fragments.ts';
import { type Movie, readMovie, type Track } from '#server/media/mp4/movie.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import {
  readAvcConfig,
  readPictureSize,
  type SampleEntry,
  singleEntryStsd,
  withEntryBox,
  writeAvcConfig,
} from '#server/media/mp4/sample-entry.ts';
import { carryTrack, writeMovie } from '#server/media/mp4/write-movie.ts';
import { changedBytes, healAvcRecord, healHevcRecord } from './rebuild-index-heal-record.ts';
import { readHealthyClip } from './rebuild-index-reference.ts';
import type { FoundPicture } from './rebuild-index-scan.ts';
import { findInBandSettings, type PictureSettings, readRecord } from './rebuild-index-settings.ts';
import { countComplaints } from './rebuild-index-trial.ts';
import type { RebuildIndexInput } from './rebuild-index-types.ts';

type RecordType = 'avcC' | 'hvcC';

/** Sample names by the record that their description holds. */
const CODINGS: Readonly<Record<string, RecordType>> = {
  avc1: 'avcC',
  avc3: 'avcC',
  hvc1: 'hvcC',
  hev1: 'hvcC',
};

/** Number of pictures whose slices are checked, and the share that must fit the settings. */
const LOOKED_AT = 12;
const LEAST_FITTING = 0.25;
/** Most complaints of a decoder under right settings; single pictures may be damaged. */
const FEW_COMPLAINTS = 2;
/** Most changed records that are decoded; each costs a start of ffmpeg. */
const MOST_TRIED = 40;

/** A clip whose picture description is damaged. */
interface Damaged {
  readonly file: FileHandle;
  readonly movie: Movie;
  readonly video: Track;
  readonly entry: SampleEntry;
  readonly type: RecordType;
  /** What is left of the record, and whether its name is intact. */
  readonly payload: Buffer;
  readonly hasName: boolean;
  readonly pictures: readonly FoundPicture[];
}

/** A record that may be the right one. */
interface Candidate {
  readonly payload: Buffer;
  readonly note: string;
}

/**
 * Checks whether the settings of H.264 or HEVC pictures (`avcC`, `hvcC`) can be read and fit the first pictures. If
 * not, it tries others: what the damaged record still tells, parameter sets among the pictures, those of earlier clips,
 * and the record with any single byte changed. It writes a copy of the file with the settings that its pictures decode
 * under to `outputPath`.
 * @returns what was done, as a sentence; null if the settings are right, or none are found
 * @throws the signal's reason when aborted
 */
export async function mendSettings(input: RebuildIndexInput): Promise<string | null> {
  const file = await open(input.inputPath, 'r');
  try {
    const damaged = await findDamage(file);
    const chosen = damaged && (await chooseRecord(input, damaged));
    if (!damaged || !chosen) return null;
    await writeRecord(input, damaged, chosen.payload);
    return chosen.note;
  } catch (error) {
    await rm(input.outputPath, { force: true });
    if (error instanceof Mp4Error) return null;
    throw error;
  } finally {
    await file.close();
  }
}

async function findDamage(file: FileHandle): Promise<Damaged | null> {
  const movie = await readMovie(file);
  const video = movie.tracks.find(({ handler }) => handler === 'vide');
  const [entry] = video?.entries ?? [];
  const type = entry && CODINGS[entry.coding];
  if (!video || !entry || !type || video.entries.length > 1) return null;
  // A record that lost its name still begins with its version.
  const box =
    entry.boxes.find((one) => one.type === type) ?? entry.boxes.find(({ payload }) => payload[0] === 1);
  if (!box) return null;
  const pictures = await listPictures(file, movie, video);
  const hasName = box.type === type;
  const damaged = { file, movie, video, entry, type, payload: box.payload, hasName, pictures };
  if (pictures.length === 0 && hasName) return null;
  return hasName && (await fits(damaged, box.payload)) ? null : damaged;
}

/** Pictures that the index lists in the file; none if its tables cannot be read. */
async function listPictures(file: FileHandle, movie: Movie, video: Track): Promise<FoundPicture[]> {
  const fragments = movie.fragmented
    ? await findFragments(file, movie.fileBytes, readFragmentDefaults(movie.moov))
    : [];
  const { samples } = gatherTrack(video, fragments, file, movie.fileBytes);
  return samples.map(({ bytes, sync }) => ({
    offset: bytes.offset,
    sizeBytes: bytes.sizeBytes,
    isKey: sync,
    mark: { restarts: false, lsb: null, leads: false },
  }));
}

/** Whether slices of the first pictures can be read under the settings of a record. */
async function fits(damaged: Omit<Damaged, 'payload'>, payload: Buffer): Promise<boolean> {
  const settings = readRecord(damaged.type, payload);
  if (!namesProfile(payload, damaged.type)) return false;
  return settings === null
    ? isInterlaced(payload, damaged)
    : sharesFit(await readHeads(damaged, settings), settings);
}

/** The sequence parameter set of a record; null if it cannot be read. */
function readSequence(payload: Buffer): Sps | null {
  try {
    const [unit] = readAvcConfig(payload).sps;
    return unit ? parseSps(unit) : null;
  } catch (error) {
    if (error instanceof Mp4Error || error instanceof H264Error) return null;
    throw error;
  }
}

/** Settings of interlaced pictures may be right, but are not read here and left alone. */
const isInterlaced = (payload: Buffer, { type, entry }: Pick<Damaged, 'type' | 'entry'>) =>
  type === 'avcC' && isOfSize(payload, entry) && readSequence(payload)?.frameMbsOnly === false;

/** H.264 names its profile in the record and again in the set; if they differ, one is damaged. */
const namesProfile = (payload: Buffer, type: RecordType) =>
  type !== 'avcC' || payload.subarray(1, 4).equals(payload.subarray(9, 12));

/** First slices of the first pictures. */
async function readHeads(
  { file, pictures, type }: Pick<Damaged, 'file' | 'pictures' | 'type'>,
  { lengthSize }: Pick<PictureSettings, 'lengthSize'>,
): Promise<Buffer[]> {
  const slices: Buffer[] = [];
  for (const { offset, sizeBytes } of pictures.slice(0, LOOKED_AT)) {
    const sample = await readUpTo(file, offset, sizeBytes);
    for (let at = 0; at + lengthSize < sample.length;) {
      const length = sample.readUIntBE(at, lengthSize);
      const unit = sample.subarray(at + lengthSize, at + lengthSize + length);
      if (length > 2 && (type === 'avcC' ? isSlice(unit) : isHevcSlice(unit))) {
        slices.push(unit);
        break;
      }
      at += lengthSize + length;
    }
  }
  return slices;
}

function sharesFit(slices: readonly Buffer[], { coding }: PictureSettings): boolean {
  const reader = coding.startReader();
  const fitting = slices.filter((slice) => {
    const unit = reader.read(slice, true);
    return unit !== null && unit.role === 'slice';
  });
  return slices.length > 0 && fitting.length >= LEAST_FITTING * slices.length;
}

const NAMELESS = 'The video settings had lost their name.';
const HEALED = 'The video settings were damaged; they were put together from what is left of them.';
const IN_BAND = 'The video settings were damaged; a copy stored among the frames is used.';
const EARLIER = 'The video settings were damaged; those of an earlier clip from the same device are used.';
const CHANGED =
  'One byte of the video settings was damaged; it was corrected: the frames can be read with this value alone.';

/** The first record without complaints of the decoder. */
async function chooseRecord(input: RebuildIndexInput, damaged: Damaged): Promise<Candidate | null> {
  const own = readRecord(damaged.type, damaged.payload);
  // If nothing leads to the pictures yet, a readable record must do.
  if (damaged.pictures.length === 0) return own && { payload: damaged.payload, note: NAMELESS };
  const ownComplaints = own ? await countComplaints(input, damaged.file, own, damaged.pictures) : Infinity;
  if (ownComplaints <= FEW_COMPLAINTS) {
    return damaged.hasName ? null : { payload: damaged.payload, note: NAMELESS };
  }
  for (const candidate of await listCandidates(input, damaged)) {
    if (await isRight(input, damaged, candidate.payload)) return candidate;
  }
  return searchByte(input, damaged);
}

async function listCandidates(input: RebuildIndexInput, damaged: Damaged): Promise<Candidate[]> {
  const { type, payload, file, movie } = damaged;
  const healed = type === 'avcC' ? healAvcRecord(payload) : [healHevcRecord(payload)];
  const candidates = healed.flatMap((record) => (record ? [{ payload: record, note: HEALED }] : []));
  const inBand = type === 'avcC' ? await findInBandSettings(file, 0, movie.fileBytes, input.signal) : null;
  if (inBand?.coding.codec === 'h264') candidates.push({ payload: recordOf(inBand), note: IN_BAND });
  for (const path of input.referencePaths) {
    const boxes = (await readHealthyClip(path))?.video.entries[0]?.boxes ?? [];
    for (const box of boxes) if (box.type === type) candidates.push({ payload: box.payload, note: EARLIER });
  }
  return candidates;
}

/** The record for H.264 settings that were found elsewhere. */
function recordOf({ coding, lengthSize }: PictureSettings): Buffer {
  const [sps = Buffer.alloc(4), ...pps] = coding.units;
  const [profile = 0, compatibility = 0, level = 0] = sps.subarray(1, 4);
  return writeAvcConfig({
    profile,
    compatibility,
    level,
    lengthSize,
    sps: [sps],
    pps,
    tail: Buffer.alloc(0),
  });
}

async function isRight(input: RebuildIndexInput, damaged: Damaged, payload: Buffer): Promise<boolean> {
  const settings = readRecord(damaged.type, payload);
  if (!settings || !sharesFit(await readHeads(damaged, settings), settings)) return false;
  return (await countComplaints(input, damaged.file, settings, damaged.pictures)) <= FEW_COMPLAINTS;
}

/** Tries the record with any one byte changed. Parsing rules out impossible ones, decoding the others. */
async function searchByte(input: RebuildIndexInput, damaged: Damaged): Promise<Candidate | null> {
  const { type, entry, payload } = damaged;
  if (type !== 'avcC') return null;
  const slices = await readHeads(damaged, { lengthSize: 4 });
  let tried = 0;
  for (const changed of changedBytes(payload)) {
    input.signal?.throwIfAborted();
    const settings = readRecord(type, changed);
    if (!settings || !isOfSize(changed, entry) || !sharesFit(slices, settings)) continue;
    tried += 1;
    if (tried > MOST_TRIED) return null;
    if (await isRight(input, damaged, changed)) return { payload: changed, note: CHANGED };
  }
  return null;
}

function isOfSize(payload: Buffer, entry: SampleEntry): boolean {
  const sequence = readSequence(payload);
  const size = readPictureSize(entry);
  const inMbs = (pixels: number) => Math.ceil(pixels / MACROBLOCK);
  if (!sequence || !size) return false;
  return sequence.widthMbs === inMbs(size.width) && sequence.heightMbs === inMbs(size.height);
}

/** Writes a copy of the file with another record: in place if it has the same length, else with a new index. */
async function writeRecord(
  { inputPath, outputPath, signal }: RebuildIndexInput,
  { file, movie, video, entry, type, payload }: Damaged,
  record: Buffer,
): Promise<void> {
  const at = movie.topLevel.boxes.find((box) => box.type === 'moov');
  if (at && record.length === payload.length) {
    const moov = await readExactly(file, at.offset, at.sizeBytes);
    const place = moov.indexOf(payload);
    if (place >= 0) {
      await copyFile(inputPath, outputPath);
      const output = await open(outputPath, 'r+');
      try {
        await output.write(
          Buffer.concat([Buffer.from(type, 'latin1'), record]),
          0,
          undefined,
          at.offset + place - 4,
        );
        return;
      } finally {
        await output.close();
      }
    }
  }
  if (movie.fragmented) throw new Mp4Error('The settings of a movie of fragments have another length.');
  const stsd = singleEntryStsd(withEntryBox(entry, type, record));
  const tracks = movie.tracks.map((track) => {
    const carried = carryTrack(track, file);
    if (track !== video) return carried;
    return { ...carried, trak: replaceBox(carried.trak, 'mdia/minf/stbl/stsd', () => stsd) };
  });
  await writeMovie(outputPath, { ftyp: movie.ftyp, moov: movie.moov, tracks, signal });
}
