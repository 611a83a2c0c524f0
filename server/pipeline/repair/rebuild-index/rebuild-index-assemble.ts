import type { FileHandle } from 'node:fs/promises';
import { container, needBox } from '#server/media/mp4/box.ts';
import { readMovieTimescale, type Track } from '#server/media/mp4/movie.ts';
import { rebuildTrack, withTrackIds, writeMovie } from '#server/media/mp4/write-movie.ts';
import { readDuration, withDuration, withOwnMedia } from '#server/media/mp4/write-tables.ts';
import type { FoundClip } from './rebuild-index-framed-clip.ts';
import { guessSound } from './rebuild-index-guess-sound.ts';
import { CAMERA_RATES, type Rates } from './rebuild-index-rate.ts';
import type { FoundMedia } from './rebuild-index-scan.ts';
import { restoreSound } from './rebuild-index-sound.ts';
import type { RestoredSound } from './rebuild-index-sound-types.ts';
import { freshTrack, timePictures } from './rebuild-index-times.ts';
import type { Description } from './rebuild-index-trial.ts';
import { ADD_ANOTHER, type RebuildIndexInput, type RebuildIndexResult } from './rebuild-index-types.ts';

/** Pictures per second if neither a reference, nor the stream, nor the sound tells. */
const ASSUMED_RATE = 30;

const NO_SOUND = 'The sound could not be restored.';

/** Finds the sound of a clip whose pictures were found, gives both their times and writes them with a new index. */
export async function assembleClip(
  input: RebuildIndexInput,
  file: FileHandle,
  clip: FoundClip,
): Promise<RebuildIndexResult> {
  const { media, reference } = clip;
  const base = reference
    ? { moov: reference.movie.moov, ftyp: reference.movie.ftyp, video: reference.video }
    : await clip.describe();
  if (!base) return { rebuilt: false, reason: 'The pictures that were found cannot be described.' };
  const sound = await findSound(input, file, clip, base);
  try {
    const intervalTicks = findInterval(clip, base.video, sound);
    await writeClip(input, file, clip, { base, sound, intervalTicks });
    return {
      rebuilt: true,
      notes: [
        ...sayPictures(input, clip),
        ...(sound ? [sound.note] : hasOther(media) ? [sayNoSound(clip)] : []),
        sayRate(base.video.timescale / intervalTicks, clip.pictureRate === null ? ratesOf(sound) : null),
      ],
    };
  } finally {
    await sound?.release();
  }
}

const ratesOf = (sound: RestoredSound | null): Rates | null => sound?.rates ?? null;

function findSound(
  input: RebuildIndexInput,
  file: FileHandle,
  { media, reference, pictureRate, likelyRate = null }: FoundClip,
  base: Description,
): Promise<RestoredSound | null> {
  return reference
    ? restoreSound({ ...input, file, reference, gaps: media.gaps, basePath: input.outputPath })
    : guessSound(input, file, media, base, { known: pictureRate, likeliest: likelyRate });
}

/** Interval of two pictures, ticks of the video track. */
function findInterval(
  { media, reference, pictureRate, likelyRate = null }: FoundClip,
  video: Track,
  sound: RestoredSound | null,
): number {
  const rates = ratesOf(sound);
  const known = pictureRate ?? rates?.pictures ?? likelyRate;
  const knownTicks = reference?.intervalTicks ?? (known && Math.round(video.timescale / known));
  return rates && knownTicks ? knownTicks : pictureInterval(video, knownTicks, media, sound?.durationMs);
}

interface TimedClip {
  readonly base: Description;
  readonly sound: RestoredSound | null;
  readonly intervalTicks: number;
}

async function writeClip(
  { outputPath, signal }: RebuildIndexInput,
  file: FileHandle,
  { media, order }: FoundClip,
  { base, sound, intervalTicks }: TimedClip,
): Promise<void> {
  const samples = timePictures(media.pictures, order, intervalTicks, file);
  const trak = withOwnMedia(freshTrack(base.video, samples, readMovieTimescale(base.moov)));
  const tracks = withTrackIds(
    [rebuildTrack(trak, base.video.timescale, samples), ...(sound?.tracks ?? [])],
    1,
  );
  const longest = Math.max(...tracks.map((track) => readDuration(needBox(track.trak, 'tkhd'))));
  const header = withDuration(needBox(base.moov, 'mvhd'), longest);
  await writeMovie(outputPath, {
    ftyp: base.ftyp,
    moov: container('moov', [header]),
    tracks,
    signal,
  });
}

/** Notes about the pictures and where their settings come from. */
function sayPictures(
  { inputPath }: RebuildIndexInput,
  { media, reference, source, notes = [] }: FoundClip,
): string[] {
  const from =
    reference?.path === inputPath
      ? 'Their settings come from what is left of it.'
      : reference
        ? 'Their settings come from an earlier clip from the same device.'
        : (source ?? 'Their settings were found in the file.');
  return [
    `The index was lost; ${media.pictures.length} frames were found by their structure.`,
    from,
    ...notes,
  ];
}

const sayNoSound = ({ reference }: FoundClip) => (reference ? NO_SOUND : `${NO_SOUND} ${ADD_ANOTHER}`);

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

/** A clip only has another rate than cameras if pictures are lost or were left out. */
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
  const isCameras = CAMERA_RATES.some((one) => Math.abs(rate - one) <= NEAR_RATE * one);
  const isSlower = bySound > usual && bySound <= MOST_STRETCH * usual;
  return isCameras || isSlower ? Math.max(1, Math.round(bySound)) : usual;
}
