import { type FileHandle, open, rm } from 'node:fs/promises';
import { PACKET_REFUSED } from '#server/media/ffmpeg/ffmpeg-names.ts';
import { container, needBox } from '#server/media/mp4/box.ts';
import { refineTrack } from '#server/media/mp4/movie-clock.ts';
import { readMovie, type Track } from '#server/media/mp4/movie.ts';
import { readSamples } from '#server/media/mp4/sample-table.ts';
import { carryTrack, rebuildTrack, writeMovie } from '#server/media/mp4/write-movie.ts';
import { parseSoundFrame } from '#server/media/signal/pcm.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { createSoundFrameReader } from '#server/media/sound-frame.ts';
import { isToolFailure } from '#server/media/ffmpeg/tools.ts';
import { findSoundFrames } from './rebuild-index-frames.ts';
import { partSounds } from './rebuild-index-part-sounds.ts';
import { restorePcm } from './rebuild-index-pcm.ts';
import type { Reference } from './rebuild-index-reference.ts';
import { bareTrack, type Piece, type RestoredSound, type SoundInput } from './rebuild-index-sound-types.ts';

/** Shorter stretches between pictures are padding, not sound. */
const MIN_SOUND_BYTES = 6;

/** Frames that were found by reading them are carried over if at most one in this many is damaged. */
const FRAMES_PER_FAULT = 20;

/**
 * Makes sound tracks from the stretches between the pictures, with the description of the reference. Coded frames are
 * read to find their ends (AAC has no mark at its start) and copied; those of several sounds are told apart.
 * Uncompressed sound is taken as it is. If frames cannot be read and stretches hold several, the decoder separates them
 * and they are encoded again.
 * @returns null when the reference has no sound of these kinds or the stretches do not decode
 */
export async function restoreSound(input: SoundInput): Promise<RestoredSound | null> {
  const { sound } = input.reference;
  const stretches = input.gaps.filter((gap) => gap.sizeBytes >= MIN_SOUND_BYTES);
  const entry = sound?.entries[0];
  if (!sound || !entry || stretches.length === 0) return null;
  const even = await restorePcm({ ...input, gaps: stretches });
  if (even) return even;
  if (entry.coding !== 'mp4a' && !createSoundFrameReader(entry.bytes)) return null;
  const found = input.found ?? (await findSounds(input.file, stretches, entry.bytes, input.signal));
  if (!found) return restoreOne(input, sound, stretches, false);
  const restored: RestoredSound[] = [];
  const release = async () => void (await Promise.all(restored.map((one) => one.release())));
  try {
    for (const [index, frames] of found.entries()) {
      const basePath = index === 0 ? input.basePath : `${input.basePath}.${index}`;
      const described = input.reference.sounds[index] ?? sound;
      const one = await restoreOne({ ...input, basePath }, described, frames, true);
      if (one) restored.push(one);
    }
  } catch (error) {
    await release();
    throw error;
  }
  const [first] = restored;
  if (!first || restored.length === 1) return first ?? null;
  const known = restored.flatMap(({ durationMs }) => durationMs ?? []);
  return {
    tracks: restored.flatMap(({ tracks }) => tracks),
    durationMs: known.length === restored.length ? Math.max(...known) : null,
    note: [
      `${restored.length} sounds were found between the frames and told apart by how the parts of each follow one another.`,
      ...new Set(restored.map(({ note }) => (note === UNCHANGED ? 'They were kept unchanged.' : note))),
    ].join(' '),
    release,
  };
}

/** Finds frames of sound in the stretches, those of each sound by themselves; null where none can be read. */
export async function findSounds(
  file: FileHandle,
  stretches: readonly Piece[],
  entry: Buffer,
  signal?: AbortSignal,
): Promise<Piece[][] | null> {
  const frames = await findSoundFrames(file, stretches, entry, signal);
  return frames && frames.length > 0 ? partSounds(file, stretches, frames, entry, signal) : null;
}

/**
 * Makes the track of one sound.
 * @param isFound whether each piece is a frame that was found by reading it
 */
async function restoreOne(
  input: SoundInput,
  sound: Track,
  pieces: readonly Piece[],
  isFound: boolean,
): Promise<RestoredSound | null> {
  const frameTicks = input.reference.soundTicks;
  const samples = pieces.map(({ offset, sizeBytes }, index) => ({
    bytes: { file: input.file, offset, sizeBytes },
    dts: index * frameTicks,
    pts: index * frameTicks,
    durationTicks: frameTicks,
    sync: true,
  }));
  const trak = bareTrack(sound, samples.length * frameTicks, input.reference.movie.timescale);
  const rawPath = `${input.basePath}.sound.mp4`;
  const codedPath = `${input.basePath}.sound-coded.mp4`;
  const remove = () => Promise.all([rm(rawPath, { force: true }), rm(codedPath, { force: true })]);
  let decoded: Awaited<ReturnType<typeof recode>>;
  try {
    await writeMovie(rawPath, {
      ftyp: input.reference.movie.ftyp,
      moov: moovHead(input.reference),
      tracks: [rebuildTrack(trak, sound.timescale, samples)],
      signal: input.signal,
    });
    decoded = await recode(input, rawPath, codedPath);
    // A wrong description fails on most pieces; a broken recording has single damaged ones.
    if (decoded === null || decoded.faults * 2 > pieces.length) {
      await remove();
      return null;
    }
    const { frames, faults } = decoded;
    const isRead = isFound && faults * FRAMES_PER_FAULT <= pieces.length;
    if (isRead || (faults === 0 && frames <= pieces.length)) {
      return {
        tracks: [rebuildTrack(trak, sound.timescale, samples)],
        durationMs: (samples.length * frameTicks * 1000) / sound.timescale,
        note: UNCHANGED,
        release: async () => void (await remove()),
      };
    }
  } catch (error) {
    await remove();
    throw error;
  }
  return openCoded(input, codedPath, decoded.faults === 0, async () => void (await remove()));
}

const UNCHANGED = 'The sound was found between the frames and kept unchanged.';
const RECODED =
  'The sound was found between the frames; it could only be separated by decoding, so it was re-encoded.';
const IN_PARTS =
  'The sound was found between the frames, but parts of it could not be read; what follows them is heard too early.';

async function openCoded(
  input: SoundInput,
  codedPath: string,
  isWhole: boolean,
  remove: () => Promise<void>,
): Promise<RestoredSound | null> {
  const coded = await open(codedPath, 'r');
  const release = async () => {
    await coded.close();
    await remove();
  };
  try {
    const movie = await readMovie(coded);
    const [track] = movie.tracks;
    if (!track) {
      await release();
      return null;
    }
    const carried = carryTrack(track, coded);
    const ticks = readSamples(track.stbl).reduce((sum, sample) => sum + sample.durationTicks, 0);
    const factor = input.reference.movie.timescale / movie.timescale;
    return {
      tracks: [{ ...carried, trak: refineTrack(carried.trak, factor) }],
      durationMs: isWhole ? (ticks * 1000) / track.timescale : null,
      note: isWhole ? RECODED : IN_PARTS,
      release,
    };
  } catch (error) {
    await release();
    throw error;
  }
}

const moovHead = (reference: Reference) => container('moov', [needBox(reference.movie.moov, 'mvhd')]);

/**
 * Decodes the stretches and encodes them again. Frames are counted, because only some versions of ffmpeg report several
 * in one packet.
 * @returns how many frames the pieces held, and how many pieces could not be read; null when nothing could be decoded
 */
async function recode(
  input: SoundInput,
  rawPath: string,
  codedPath: string,
): Promise<{ readonly frames: number; readonly faults: number } | null> {
  let frames = 0;
  let faults = 0;
  try {
    await runFfmpeg(
      {
        label: 'restore the sound',
        logLevel: 'repeat+info',
        inputs: [{ path: rawPath, format: 'mov' }],
        outputs: [
          {
            path: codedPath,
            options: '-map 0:a:0 -af ashowinfo,asetpts=N/SR/TB -c:a aac -b:a 192k -f mp4'.split(' '),
          },
        ],
        expectedDurationMs: null,
      },
      {
        tools: input.tools,
        signal: input.signal,
        onStderrLine: (line) => {
          if (parseSoundFrame(line)) frames++;
          if (PACKET_REFUSED.test(line)) faults++;
        },
      },
    );
  } catch (error) {
    if (isToolFailure(error)) return null;
    throw error;
  }
  return { frames, faults };
}
