import type { FileHandle } from 'node:fs/promises';
import { findBox } from '#server/media/mp4/box.ts';
import type { Movie, Track } from '#server/media/mp4/movie.ts';
import type { TopLevel } from '#server/media/mp4/top-level.ts';
import { type OutTrack, withTrackIds } from '#server/media/mp4/write-movie.ts';
import { roomsBetween } from './rebuild-index-between.ts';
import { readPcmLayout } from './rebuild-index-pcm-layout.ts';
import type { SalvagedMedia } from './rebuild-index-salvage.ts';
import type { FoundMedia } from './rebuild-index-scan.ts';
import { FRAME_TICKS, type Reference } from './rebuild-index-reference.ts';
import { readReference } from './rebuild-index-settings.ts';
import { restoreSound } from './rebuild-index-sound.ts';
import type { RebuildIndexInput } from './rebuild-index-types.ts';

/** Tracks to write, and a way to close their files afterwards. */
export interface SoundedMedia extends SalvagedMedia {
  release(): Promise<void>;
}

/**
 * Searches for sound between the pictures if the index has all pictures but lost the sound's list, or part of it. The
 * description is what the index still has, else that of an earlier clip with the same picture settings.
 */
export async function withMissingSound(
  input: RebuildIndexInput,
  file: FileHandle,
  movie: Movie,
  media: SalvagedMedia,
): Promise<SoundedMedia> {
  const asItIs = { ...media, release: () => Promise.resolve() };
  const video = movie.tracks.find(({ handler }) => handler === 'vide');
  const sounds = movie.tracks.filter(({ handler }) => handler === 'soun');
  const [sound] = sounds;
  const isMissing = sound ? media.incomplete.includes(sound) : true;
  if (!video || sounds.length > 1 || !isMissing) return asItIs;
  const reference = describedSound(input, movie, video, sound) ?? (await earlierSound(input, video));
  if (!reference) return asItIs;
  const isSound = ({ trak }: OutTrack) => findBox(trak, 'mdia/minf/smhd') !== null;
  const others = media.tracks.filter((track) => !isSound(track));
  const gaps = roomsOf(others, movie);
  const restored = await restoreSound({ ...input, file, reference, gaps, basePath: input.outputPath });
  if (!restored) return asItIs;
  if (bytesOf(restored.tracks) <= bytesOf(media.tracks.filter(isSound))) {
    await restored.release();
    return asItIs;
  }
  const last = Math.max(0, ...movie.tracks.map(({ trackId }) => trackId));
  const notes = media.notes.filter((note) => !note.includes('sound samples'));
  return {
    ...media,
    tracks: [...others, ...withTrackIds(restored.tracks, last + 1)],
    notes: [...notes, restored.note],
    release: restored.release,
  };
}

const bytesOf = (tracks: readonly OutTrack[]) =>
  tracks.reduce(
    (sum, { chunks }) => chunks.reduce((all, { parts }) => parts.reduce((a, b) => a + b.sizeBytes, all), sum),
    0,
  );

/** The parts of the media that other tracks leave. */
function roomsOf(tracks: readonly OutTrack[], { fileBytes, topLevel }: Movie): FoundMedia['gaps'] {
  const pictures = tracks.flatMap(({ chunks }) => chunks.flatMap(({ parts }) => parts));
  return mediaOf(topLevel, fileBytes).flatMap((media) => roomsBetween({ pictures, media, fileBytes }));
}

const mediaOf = ({ boxes }: TopLevel, fileBytes: number) =>
  boxes.flatMap(({ type, offset, headerBytes, sizeBytes }) =>
    type === 'mdat' ? [{ start: offset + headerBytes, end: Math.min(fileBytes, offset + sizeBytes) }] : [],
  );

/** The clip itself, if it still has the description of its sound. */
function describedSound(
  { inputPath: path }: RebuildIndexInput,
  movie: Movie,
  video: Track,
  sound: Track | undefined,
): Reference | null {
  if (!sound || sound.entries.length !== 1) return null;
  const durations = findBox(sound.stbl, 'stts')?.payload;
  const ticks = durations && durations.length >= 16 ? durations.readUInt32BE(12) : FRAME_TICKS;
  const layout = readPcmLayout(movie.tracks, sound);
  return {
    path,
    movie,
    video,
    sound,
    sounds: [sound],
    intervalTicks: null,
    soundTicks: ticks || FRAME_TICKS,
    layout,
  };
}

/** An earlier clip with sound and the same picture settings. */
async function earlierSound({ referencePaths }: RebuildIndexInput, video: Track): Promise<Reference | null> {
  const settings = settingsOf(video);
  for (const path of settings ? referencePaths : []) {
    const reference = (await readReference(path))?.reference;
    if (reference?.sound && settings && settingsOf(reference.video)?.equals(settings)) return reference;
  }
  return null;
}

const settingsOf = ({ entries }: Track) =>
  entries[0]?.boxes.find(({ type }) => type === 'avcC' || type === 'hvcC')?.payload;
