import { open, rm, type FileHandle } from 'node:fs/promises';
import { readMovie, readMovieTimescale, type Movie } from '#server/media/mp4/movie.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { findSoundFrames } from './rebuild-index-frames.ts';
import type { Description } from './rebuild-index-trial.ts';
import { FRAME_TICKS } from './rebuild-index-reference.ts';
import type { FoundMedia } from './rebuild-index-scan.ts';
import { restoreSound } from './rebuild-index-sound.ts';
import { fitRates } from './rebuild-index-rate.ts';
import type { RestoredSound } from './rebuild-index-sound-types.ts';
import type { RebuildIndexInput } from './rebuild-index-types.ts';

/** Samples a second of AAC, the usual ones first. Frames of one row have the same syntax, those of different rows have not (ISO/IEC 14496-3, 4.5.4). */
const RATES_HZ: readonly (readonly number[])[] = [[48_000, 44_100], [32_000], [24_000, 22_050], [16_000]];
const USUAL_HZ = 48_000;
const CHANNELS = [2, 1] as const;
/** Pictures a second of cameras. */
const USUAL_RATES = [24, 25, 30, 50, 60, 120];
/** Fewer frames are chance. */
const FEWEST_FRAMES = 8;

/** What is known of the rate of the pictures. */
export interface RateHints {
  /** Stated in their settings. */
  readonly known: number | null;
  /** Suggested by them. */
  readonly likeliest: number | null;
}

/**
 * Sound of a clip of which nothing tells how it is coded: AAC of low complexity is what cameras write, and its frames say themselves
 * whether they have one channel or two. Of the two usual rates it has the one under which its frames lie among the pictures as they come, or else
 * the pictures come at a rate of cameras.
 * @returns null where the stretches between the pictures hold no such frames
 */
export async function guessSound(
  input: RebuildIndexInput,
  file: FileHandle,
  { pictures, gaps }: FoundMedia,
  base: Description,
  rate: RateHints,
): Promise<RestoredSound | null> {
  for (const ratesHz of RATES_HZ) {
    for (const channels of CHANNELS) {
      const sound = await guessFrames(input, file, { pictures, gaps }, base, { ratesHz, channels, ...rate });
      if (sound) return sound;
    }
  }
  return null;
}

interface SoundGuess extends RateHints {
  readonly ratesHz: readonly number[];
  readonly channels: number;
}

async function guessFrames(
  input: RebuildIndexInput,
  file: FileHandle,
  { pictures, gaps }: FoundMedia,
  base: Description,
  { ratesHz, channels, known, likeliest }: SoundGuess,
): Promise<RestoredSound | null> {
  const [firstHz = USUAL_HZ] = ratesHz;
  const template = await describeSound(input, firstHz, channels);
  const entry = template?.tracks[0]?.entries[0];
  const frames = entry ? await findSoundFrames(file, gaps, entry.bytes, input.signal) : null;
  if (!frames || frames.length < FEWEST_FRAMES) return null;
  const question = { pictures, frames, frameTicks: FRAME_TICKS, soundRatesHz: ratesHz, known, likeliest };
  const rates = fitRates(question);
  const rateHz = rates?.soundHz ?? likelyRate(pictures.length, frames.length, known, ratesHz);
  const movie = rateHz === firstHz ? template : await describeSound(input, rateHz, channels);
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
      intervalTicks: null,
      soundTicks: FRAME_TICKS,
      layout: null,
    },
    gaps,
    basePath: input.outputPath,
  });
  return (
    restored && { ...restored, note: `${restored.note} How it is coded was told from its frames.`, rates }
  );
}

function likelyRate(
  pictures: number,
  frames: number,
  pictureRate: number | null,
  ratesHz: readonly number[],
): number {
  const usual = pictureRate === null ? USUAL_RATES : [pictureRate];
  const farFrom = (rateHz: number) => {
    const perSecond = (pictures * rateHz) / (frames * FRAME_TICKS);
    return Math.min(...usual.map((rate) => Math.abs(perSecond / rate - 1)));
  };
  return [...ratesHz].sort((a, b) => farFrom(a) - farFrom(b))[0] ?? USUAL_HZ;
}

/** An index for a moment of silence in AAC. */
async function describeSound(
  { outputPath, tools, signal }: RebuildIndexInput,
  rateHz: number,
  channels: number,
): Promise<Movie | null> {
  const path = `${outputPath}.silence.mp4`;
  const layout = channels === 2 ? 'stereo' : 'mono';
  try {
    await runFfmpeg(
      {
        label: 'describe the sound',
        inputs: [{ path: `anullsrc=r=${rateHz}:cl=${layout}:d=0.1`, lavfi: true }],
        outputs: [{ path, options: '-c:a aac -f mp4'.split(' ') }],
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
  } finally {
    await rm(path, { force: true });
  }
}
