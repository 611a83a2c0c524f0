import type { FileHandle } from 'node:fs/promises';
import { container, needBox } from '#server/media/mp4/box.ts';
import { readMovieTimescale, type Track } from '#server/media/mp4/movie.ts';
import type { TopLevel } from '#server/media/mp4/top-level.ts';
import { type OutTrack, rebuildTrack, writeMovie } from '#server/media/mp4/write-movie.ts';
import {
  readDuration,
  withDuration,
  withNextTrackId,
  withOwnMedia,
  withTrackId,
} from '#server/media/mp4/write-tables.ts';
import { formatSize, type RebuildIndexInput, type RebuildIndexResult } from './rebuild-index-types.ts';
import { findFramedClip, findMpeg4Clip, type FoundClip } from './rebuild-index-framed-clip.ts';
import { guessSound } from './rebuild-index-guess-sound.ts';
import { findNotedSettings } from './rebuild-index-note-settings.ts';
import { rateByDistances, type Rates } from './rebuild-index-rate.ts';
import { findPictures } from './rebuild-index-pictures.ts';
import type { FoundMedia } from './rebuild-index-scan.ts';
import {
  findInBandSettings,
  findStoredSettings,
  type PictureSettings,
  readReference,
} from './rebuild-index-settings.ts';
import { restoreSound } from './rebuild-index-sound.ts';
import { freshTrack, timePictures } from './rebuild-index-times.ts';
import { countComplaints, describePictures, readsSomeKey } from './rebuild-index-trial.ts';

/** Any second of video has more bytes; below this, searching for pictures is pointless. */
const MIN_MEDIA_BYTES = 8192;
/** This much of the media is enough to test settings: if a reference fits, pictures are found at once. */
const TRIAL_BYTES = 8 << 20;
/**
 * Most complaints under right settings. A damaged picture at the start causes a few; wrong settings cause several for
 * each picture, unless it is a still.
 */
const MAX_COMPLAINTS = 12;
/** Pictures per second if neither a reference, nor the stream, nor the sound tells. */
const ASSUMED_RATE = 30;

const NO_SOUND = 'The sound could not be restored.';
const ADD_ANOTHER = 'A healthy clip from the same device, added before, would allow to rebuild it.';

const refuse = (reason: string): RebuildIndexResult => ({ rebuilt: false, reason });

/**
 * Builds a new index for a file without one, from the media data alone. Picture settings come from the data or from a
 * reference clip, pictures are found by their structure, and sound by what lies between them.
 */
export async function rebuildFromMedia(
  input: RebuildIndexInput,
  file: FileHandle,
  topLevel: TopLevel,
): Promise<RebuildIndexResult> {
  const fileBytes = (await file.stat()).size;
  const mdat = topLevel.boxes.find((box) => box.type === 'mdat');
  const start = mdat ? mdat.offset + mdat.headerBytes : (topLevel.brokenAt ?? fileBytes);
  const only = `Only the first ${formatSize(fileBytes)} of the file is there;`;
  if (fileBytes - start < MIN_MEDIA_BYTES) return refuse(`${only} the index and the video data are missing.`);

  const settings = await chooseSettings(input, file, start, fileBytes);
  const clip = settings
    ? await findCoded(input, file, settings, { start, end: fileBytes })
    : ((await findFramedClip(input, file, { start, end: fileBytes })) ??
      (await findMpeg4Clip(input, file, { start, end: fileBytes })) ??
      (await findNotedClip(input, file, { start, end: fileBytes })));
  if (!clip) {
    return refuse(
      `The index (moov) is missing or damaged, and the video settings are not in the file. ${ADD_ANOTHER}`,
    );
  }
  const firstKey = clip.media.pictures.findIndex((picture) => picture.isKey);
  if (firstKey < 0)
    return refuse(
      'The index (moov) is missing or damaged, and the file has no complete key frame to start from.',
    );
  const pictures = clip.media.pictures.slice(firstKey);
  const media = { pictures, gaps: withoutBoxes(clip.media.gaps, topLevel) };
  return assemble(input, file, { ...clip, media });
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** Finds pictures by their encoder's note; null if there is none or it is not conclusive. */
async function findNotedClip(
  input: RebuildIndexInput,
  file: FileHandle,
  range: Range,
): Promise<FoundClip | null> {
  const noted = await findNotedSettings(input, file, range.start, range.end);
  if (!noted) return null;
  const clip = await findCoded(input, file, noted.settings, range);
  return { ...clip, likelyRate: rateByDistances(noted.note.options), source: noted.remark };
}

/** Finds pictures by their settings. */
async function findCoded(
  input: RebuildIndexInput,
  file: FileHandle,
  settings: PictureSettings,
  { start, end }: Range,
): Promise<FoundClip> {
  const media = await findPictures(file, start, end, settings, input.signal);
  const { coding, reference } = settings;
  return {
    media,
    reference,
    pictureRate: coding.pictureRate,
    order: coding.order,
    describe: () => describePictures(input, file, settings, media.pictures),
  };
}

/** Boxes without media, and their headers before media. */
const OTHER_BOXES = new Set('ftyp free skip wide moov moof uuid udta meta styp sidx mfra pnot'.split(' '));

/** Stretches between pictures, without boxes that are known to hold something else. */
function withoutBoxes(gaps: FoundMedia['gaps'], { boxes }: TopLevel): FoundMedia['gaps'] {
  const taken = boxes.flatMap(({ type, offset, headerBytes, sizeBytes }) => {
    if (type === 'mdat') return [{ from: offset, to: offset + headerBytes }];
    return OTHER_BOXES.has(type) ? [{ from: offset, to: offset + sizeBytes }] : [];
  });
  return gaps.flatMap((gap) => {
    const parts: { offset: number; sizeBytes: number }[] = [];
    let at = gap.offset;
    const end = gap.offset + gap.sizeBytes;
    for (const { from, to } of taken) {
      if (to <= at || from >= end) continue;
      if (from > at) parts.push({ offset: at, sizeBytes: from - at });
      at = Math.max(at, to);
    }
    if (end > at) parts.push({ offset: at, sizeBytes: end - at });
    return parts;
  });
}

/**
 * Chooses the settings with the fewest complaints of the decoder about the first pictures; of equal ones, those that
 * find most.
 */
async function chooseSettings(
  input: RebuildIndexInput,
  file: FileHandle,
  start: number,
  end: number,
): Promise<PictureSettings | null> {
  const candidates: PictureSettings[] = [];
  const inBand = await findInBandSettings(file, start, end, input.signal);
  // What is left of the clip's own index describes its pictures best.
  for (const path of [input.inputPath, ...input.referencePaths]) {
    const reference = await readReference(path);
    if (reference) candidates.push(reference);
  }
  // A reference with the same settings also knows sound, rotation and rate.
  if (inBand) candidates.push(inBand);
  candidates.push(...(await findStoredSettings(file, input.signal)));
  let best: PictureSettings | null = null;
  let fewest = Infinity;
  let mostBytes = 0;
  for (const settings of candidates) {
    const trialEnd = Math.min(end, start + TRIAL_BYTES);
    const { pictures } = await findPictures(file, start, trialEnd, settings, input.signal);
    if (!pictures.some((picture) => picture.isKey)) continue;
    const bytes = pictures.reduce((sum, picture) => sum + picture.sizeBytes, 0);
    const complaints = await countComplaints(input, file, settings, pictures);
    if (complaints > MAX_COMPLAINTS) continue;
    const { reference } = settings;
    const isForeign = reference !== null && reference.path !== input.inputPath && !isSame(settings, inBand);
    // Settings of another clip must prove themselves: pictures of a still shot are so short that they decode under any.
    const isDoubtful = complaints > 0 && isForeign;
    if (isDoubtful && !(await readsSomeKey(input, file, settings, pictures))) continue;
    if (complaints < fewest || (complaints === fewest && bytes > mostBytes)) {
      best = settings;
      fewest = complaints;
      mostBytes = bytes;
    }
  }
  return best;
}

/** Whether two settings have the same parameter sets. */
function isSame(one: PictureSettings, other: PictureSettings | null): boolean {
  return other !== null && Buffer.concat(one.coding.units).equals(Buffer.concat(other.coding.units));
}

async function assemble(
  input: RebuildIndexInput,
  file: FileHandle,
  {
    media: found,
    reference,
    pictureRate: stated,
    likelyRate = null,
    order,
    source,
    notes: remarks = [],
    describe,
  }: FoundClip,
): Promise<RebuildIndexResult> {
  const notes = [
    `The index was lost; ${found.pictures.length} frames were found by their structure.`,
    reference?.path === input.inputPath
      ? 'Their settings come from what is left of it.'
      : reference
        ? 'Their settings come from an earlier clip from the same device.'
        : (source ?? 'Their settings were found in the file.'),
    ...remarks,
  ];
  const base = reference
    ? { moov: reference.movie.moov, ftyp: reference.movie.ftyp, video: reference.video }
    : await describe();
  if (!base) return refuse('The pictures that were found cannot be described.');
  const sound = reference
    ? await restoreSound({ ...input, file, reference, gaps: found.gaps, basePath: input.outputPath })
    : await guessSound(input, file, found, base, { known: stated, likeliest: likelyRate });
  try {
    const rates = sound?.rates ?? null;
    const known = stated ?? rates?.pictures ?? likelyRate;
    const knownTicks = reference?.intervalTicks ?? (known && Math.round(base.video.timescale / known));
    const intervalTicks =
      rates && knownTicks ? knownTicks : pictureInterval(base.video, knownTicks, found, sound?.durationMs);
    const samples = timePictures(found.pictures, order, intervalTicks, file);
    const trak = withOwnMedia(freshTrack(base.video, samples, readMovieTimescale(base.moov)));
    const tracks = numbered([rebuildTrack(trak, base.video.timescale, samples), ...(sound?.tracks ?? [])]);
    const longest = Math.max(...tracks.map((track) => readDuration(needBox(track.trak, 'tkhd'))));
    const header = needBox(base.moov, 'mvhd');
    await writeMovie(input.outputPath, {
      ftyp: base.ftyp,
      moov: container('moov', [withNextTrackId(withDuration(header, longest), tracks.length + 1)]),
      tracks,
      signal: input.signal,
    });
    if (sound) notes.push(sound.note);
    else if (hasOther(found)) notes.push(reference ? NO_SOUND : `${NO_SOUND} ${ADD_ANOTHER}`);
    notes.push(sayRate(base.video.timescale / intervalTicks, stated === null ? rates : null));
    return { rebuilt: true, notes };
  } finally {
    await sound?.release();
  }
}

/** Descriptions come from different files, where tracks may have the same number. */
const numbered = (tracks: readonly OutTrack[]): OutTrack[] =>
  tracks.map((track, index) => ({ ...track, trak: withTrackId(track.trak, index + 1) }));

/** Share of the media that box names and padding take in files without sound. */
const HARDLY_ANY = 0.002;

/** Whether there is anything between the pictures; after the last one there may be part of another. */
function hasOther({ pictures, gaps }: FoundMedia): boolean {
  const end = pictures.at(-1)?.offset ?? 0;
  const bytesOf = (ranges: readonly { readonly sizeBytes: number }[]) =>
    ranges.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  return bytesOf(gaps.filter(({ offset }) => offset < end)) > HARDLY_ANY * bytesOf(pictures);
}

/** The note about the frame rate. */
function sayRate(rate: number, bySound: Rates | null): string {
  const lost = `The times of the frames were lost as well: ${rate.toFixed(2)} frames per second`;
  if (!bySound) return `${lost} are assumed.`;
  if (bySound.others.length === 0) return `${lost} fit how the sound lies between them.`;
  const others = bySound.others.map((one) => one.toFixed(2)).join(' or ');
  return `${lost} are assumed; ${others} would fit the sound between them as well.`;
}

/** Frame rates of cameras, pictures a second; a clip only has another rate if pictures are lost or were left out. */
const USUAL_RATES = [24, 25, 30, 48, 50, 60, 120, 240];
const NEAR_RATE = 0.03;
/** Clips of variable rate are longer than their usual interval suggests, but hardly twice as long. */
const MOST_STRETCH = 2;

/** Shorter sound tells no rate: its frames and the pictures may end a quarter of this apart. */
const SHORTEST_SOUND_MS = 1000;

/**
 * Interval of two pictures in ticks: the known one, unless the sound's length contradicts it and suggests a usual rate.
 */
function pictureInterval(
  video: Track,
  knownTicks: number | null,
  found: FoundMedia,
  soundMs: number | null | undefined,
): number {
  const usual = knownTicks ?? Math.round(video.timescale / ASSUMED_RATE);
  if (!soundMs || soundMs < SHORTEST_SOUND_MS) return usual;
  const bySound = (soundMs * video.timescale) / 1000 / found.pictures.length;
  if (Math.abs(bySound - usual) <= 0.05 * usual) return usual;
  const rate = video.timescale / bySound;
  const isCameras = USUAL_RATES.some((one) => Math.abs(rate - one) <= NEAR_RATE * one);
  const isSlower = bySound > usual && bySound <= MOST_STRETCH * usual;
  return isCameras || isSlower ? Math.max(1, Math.round(bySound)) : usual;
}
