import { open, rm, type FileHandle } from 'node:fs/promises';
import { PACKET_REFUSED } from '#server/media/ffmpeg-names.ts';
import { container, needBox, replaceBox } from '#server/media/mp4/box.ts';
import { withEditList } from '#server/media/mp4/edit-list.ts';
import { refineTrack } from '#server/media/mp4/movie-clock.ts';
import { readMovie, type Track } from '#server/media/mp4/movie.ts';
import { readSamples } from '#server/media/mp4/sample-table.ts';
import { carryTrack, type OutTrack, rebuildTrack, writeMovie } from '#server/media/mp4/write-movie.ts';
import { type NewSample, withDuration } from '#server/media/mp4/write-tables.ts';
import { parseSoundFrame } from '#server/media/pcm.ts';
import { runFfmpeg } from '#server/media/run-ffmpeg.ts';
import { MediaToolError, type ToolPaths } from '#server/media/tools.ts';
import { findSoundFrames } from './rebuild-index-frames.ts';
import type { FoundMedia } from './rebuild-index-scan.ts';
import type { Reference } from './rebuild-index-settings.ts';

export interface SoundInput {
  readonly file: FileHandle;
  readonly reference: Reference;
  readonly gaps: FoundMedia['gaps'];
  /** Working files get this path with an ending. */
  readonly basePath: string;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
}

export interface RestoredSound {
  readonly track: OutTrack;
  /** Null where parts of it could not be read. */
  readonly durationMs: number | null;
  readonly note: string;
  /** Closes and removes working files; call when the track has been written. */
  release(): Promise<void>;
}

/** Encoders delay by one to four frames of 1024 samples. */
const MAX_PRIMING_TICKS = 4096;
/** Shorter stretches between pictures are padding, not sound. */
const MIN_SOUND_BYTES = 6;

/** Of frames that were found by reading them so many may be damaged, one in this number, and they are carried over all the same. */
const FRAMES_PER_FAULT = 20;

/**
 * Makes a sound track of the stretches between the pictures, with the description of the reference. Coded
 * AAC frames carry no mark at their start: they are read to tell where each ends, and copied. Where they cannot be read and
 * stretches hold several the decoder separates them and they are encoded anew.
 * @returns null when the reference has no AAC sound or the stretches do not decode
 */
export async function restoreSound(input: SoundInput): Promise<RestoredSound | null> {
  const { sound } = input.reference;
  const stretches = input.gaps.filter((gap) => gap.sizeBytes >= MIN_SOUND_BYTES);
  const entry = sound?.entries[0];
  if (!sound || entry?.coding !== 'mp4a' || stretches.length === 0) return null;
  const found = await findSoundFrames(input.file, stretches, entry.bytes, input.signal);
  const isFound = found !== null && found.length > 0;
  const pieces = isFound ? found : stretches;
  // The median: cameras stretch single packets to keep sound and pictures together.
  const durations = readSamples(sound.stbl).map((sample) => sample.durationTicks);
  const frameTicks = durations.sort((a, b) => a - b)[durations.length >> 1] ?? 1024;
  const samples = pieces.map(({ offset, sizeBytes }, index) => ({
    bytes: { file: input.file, offset, sizeBytes },
    dts: index * frameTicks,
    pts: index * frameTicks,
    durationTicks: frameTicks,
    sync: true,
  }));
  const trak = bareTrack(sound, samples, input.reference.movie.timescale);
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
    // A wrong description fails on most pieces; single damaged ones are what a broken recording has.
    if (decoded === null || decoded.faults * 2 > pieces.length) {
      await remove();
      return null;
    }
    const { frames, faults } = decoded;
    const isRead = isFound && faults * FRAMES_PER_FAULT <= pieces.length;
    if (isRead || (faults === 0 && frames <= pieces.length)) {
      return {
        track: rebuildTrack(trak, sound.timescale, samples),
        durationMs: (samples.length * frameTicks * 1000) / sound.timescale,
        note: 'The sound was found between the pictures and carried over unchanged.',
        release: async () => void (await remove()),
      };
    }
  } catch (error) {
    await remove();
    throw error;
  }
  return openCoded(input, codedPath, decoded.faults === 0, async () => void (await remove()));
}

const RECODED =
  'The sound was found between the pictures; its packets could only be told apart by decoding, so it was encoded anew.';
const IN_PARTS =
  'The sound was found between the pictures, but parts of it could not be read; what follows them is heard too early.';

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
      track: { ...carried, trak: refineTrack(carried.trak, factor) },
      durationMs: isWhole ? (ticks * 1000) / track.timescale : null,
      note: isWhole ? RECODED : IN_PARTS,
      release,
    };
  } catch (error) {
    await release();
    throw error;
  }
}

/**
 * The reference's sound track, as long as the samples. What its edit list skips at the start is encoder delay
 * (priming), the same in every clip of one device.
 */
function bareTrack(sound: Track, samples: readonly NewSample[], movieTimescale: number) {
  const ticks = samples.reduce((sum, sample) => sum + sample.durationTicks, 0);
  const skipped = Math.max(0, sound.edits.at(-1)?.mediaTime ?? 0);
  const mediaTime = skipped <= MAX_PRIMING_TICKS && skipped < ticks ? skipped : 0;
  const durationTicks = Math.round(((ticks - mediaTime) * movieTimescale) / sound.timescale);
  const edited = withEditList(sound.trak, [{ durationTicks, mediaTime, rate: 1 }]);
  const timed = replaceBox(edited, 'tkhd', (header) => withDuration(header, durationTicks));
  return replaceBox(timed, 'mdia/mdhd', (header) => withDuration(header, ticks));
}

const moovHead = (reference: Reference) => container('moov', [needBox(reference.movie.moov, 'mvhd')]);

/**
 * Decodes the stretches and encodes them anew. Frames are counted, as only some versions of ffmpeg remark on several in one packet.
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
    if (error instanceof MediaToolError && error.code === 'tool_failed') return null;
    throw error;
  }
  return { frames, faults };
}
