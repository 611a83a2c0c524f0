import { open, rm, type FileHandle } from 'node:fs/promises';
import { readMovie, readMovieTimescale, type Movie } from '#server/media/mp4/movie.ts';
import { readUpTo } from '#server/media/mp4/file-bytes.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { isToolFailure } from '#server/media/ffmpeg/tools.ts';
import type { Description } from './rebuild-index-trial.ts';
import { FRAME_TICKS } from './rebuild-index-reference.ts';
import type { FoundMedia } from './rebuild-index-scan.ts';
import { findSounds, restoreSound } from './rebuild-index-sound.ts';
import { CAMERA_RATES, fitRates } from './rebuild-index-rate.ts';
import type { RestoredSound } from './rebuild-index-sound-types.ts';
import type { RebuildIndexInput } from './rebuild-index-types.ts';

/** A sound coding to try. */
interface Kind {
  /** Name of ffmpeg's encoder that makes its description. */
  readonly encoder: 'aac' | 'libmp3lame';
  readonly channels: keyof typeof LAYOUTS;
  /** Samples in a frame. */
  readonly frameTicks: number;
  /** Sample rates whose frames have the same syntax, Hz. */
  readonly ratesHz: readonly number[];
}

const LAYOUTS = { 1: 'mono', 2: 'stereo' } as const;
/** ISO/IEC 11172-3, 2.4.2.1: layer III. */
const MP3_TICKS = 1152;
const aac = (channels: Kind['channels'], ratesHz: readonly number[]): Kind => ({
  encoder: 'aac',
  channels,
  frameTicks: FRAME_TICKS,
  ratesHz,
});
const mp3 = (channels: Kind['channels'], rateHz: number): Kind => ({
  encoder: 'libmp3lame',
  channels,
  frameTicks: MP3_TICKS,
  ratesHz: [rateHz],
});
const USUAL_HZ = 48_000;
/**
 * Codings to try, the usual ones first. AAC frames have the same syntax at some rates (ISO/IEC 14496-3, 4.5.4). MP3
 * frames name their rate; editing libraries put them into MP4.
 */
const KINDS: readonly Kind[] = [
  aac(2, [USUAL_HZ, 44_100]),
  aac(1, [USUAL_HZ, 44_100]),
  mp3(2, 44_100),
  mp3(2, USUAL_HZ),
  mp3(1, 44_100),
  mp3(1, USUAL_HZ),
  aac(2, [32_000]),
  aac(1, [32_000]),
  aac(2, [24_000, 22_050]),
  aac(1, [24_000, 22_050]),
  aac(2, [16_000]),
  aac(1, [16_000]),
];
/** Less data between the pictures is no sound, but box names and padding. */
const LEAST_BYTES = 512;
/** Fewer frames may be chance. */
const FEWEST_FRAMES = 8;

/** What is known about the frame rate. */
export interface RateHints {
  /** As stated in the picture settings. */
  readonly known: number | null;
  /** As the pictures suggest. */
  readonly likeliest: number | null;
}

/**
 * Finds sound of an unknown coding. Cameras write AAC of low complexity, whose frames tell whether they have one
 * channel or two; other codings are tried after it. Of the two usual sample rates it takes the one with which the
 * frames keep pace with the pictures, or else the one that gives the pictures a usual rate.
 * @returns null when the stretches between the pictures hold no such frames
 */
export async function guessSound(
  input: RebuildIndexInput,
  file: FileHandle,
  { pictures, gaps }: FoundMedia,
  base: Description,
  rate: RateHints,
): Promise<RestoredSound | null> {
  if (gaps.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) < LEAST_BYTES) return null;
  for (const kind of KINDS) {
    const sound = await guessFrames(input, file, { pictures, gaps }, base, { kind, ...rate });
    if (sound) return sound;
  }
  return null;
}

async function guessFrames(
  input: RebuildIndexInput,
  file: FileHandle,
  { pictures, gaps }: FoundMedia,
  base: Description,
  { kind, known, likeliest }: RateHints & { readonly kind: Kind },
): Promise<RestoredSound | null> {
  const { ratesHz, frameTicks } = kind;
  const [firstHz = USUAL_HZ] = ratesHz;
  const template = await describeSound(input, firstHz, kind);
  const entry = template?.tracks[0]?.entries[0];
  const found = entry ? await findSounds(file, gaps, entry.bytes, input.signal) : null;
  const frames = found?.[0];
  if (!found || !frames || frames.length < FEWEST_FRAMES) return null;
  if (kind.encoder === 'libmp3lame' && (await readMp3Channels(file, frames)) !== kind.channels) return null;
  const question = { pictures, frames, frameTicks, soundRatesHz: ratesHz, known, likeliest };
  const rates = fitRates(question);
  const rateHz = rates?.soundHz ?? likelyRate(pictures.length, frames.length, known, kind);
  const movie = rateHz === firstHz ? template : await describeSound(input, rateHz, kind);
  const [sound] = movie?.tracks ?? [];
  if (!movie || !sound) return null;
  const restored = await restoreSound({
    ...input,
    file,
    reference: {
      path: input.outputPath,
      movie: { ...movie, moov: base.moov, ftyp: base.ftyp, timescale: readMovieTimescale(base.moov) },
      video: base.video,
      sound,
      sounds: [sound],
      intervalTicks: null,
      soundTicks: frameTicks,
      layout: null,
    },
    gaps,
    found,
    basePath: input.outputPath,
  });
  return (
    restored && {
      ...restored,
      note: `${restored.note} The coding was told from the frames themselves.`,
      rates,
    }
  );
}

function likelyRate(
  pictures: number,
  frames: number,
  pictureRate: number | null,
  { ratesHz, frameTicks }: Kind,
): number {
  const usual = pictureRate === null ? CAMERA_RATES : [pictureRate];
  const farFrom = (rateHz: number) => {
    const perSecond = (pictures * rateHz) / (frames * frameTicks);
    return Math.min(...usual.map((rate) => Math.abs(perSecond / rate - 1)));
  };
  return [...ratesHz].sort((a, b) => farFrom(a) - farFrom(b))[0] ?? USUAL_HZ;
}

/** Number of channels in the header of the first frame (mode, ISO/IEC 11172-3, 2.4.2.3). */
async function readMp3Channels(
  file: FileHandle,
  [first]: readonly { readonly offset: number }[],
): Promise<number | null> {
  const MONO = 3;
  const header = first ? await readUpTo(file, first.offset, 4) : Buffer.alloc(0);
  return header.length < 4 ? null : header.readUInt8(3) >> 6 === MONO ? 1 : 2;
}

/** An index made by encoding a moment of silence; null if ffmpeg cannot encode it. */
async function describeSound(
  { outputPath, tools, signal }: RebuildIndexInput,
  rateHz: number,
  { encoder, channels }: Kind,
): Promise<Movie | null> {
  const path = `${outputPath}.silence.mp4`;
  try {
    await runFfmpeg(
      {
        label: 'describe the sound',
        inputs: [{ path: `anullsrc=r=${rateHz}:cl=${LAYOUTS[channels]}:d=0.1`, lavfi: true }],
        outputs: [{ path, options: ['-c:a', encoder, '-f', 'mp4'] }],
        expectedDurationMs: null,
      },
      { tools, signal },
    );
    const template = await open(path, 'r');
    try {
      return await readMovie(template);
    } finally {
      await template.close();
    }
  } catch (error) {
    if (isToolFailure(error)) return null;
    throw error;
  } finally {
    await rm(path, { force: true });
  }
}
