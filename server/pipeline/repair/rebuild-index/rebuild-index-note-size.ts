import { annexB } from '#server/media/h264/nal.ts';
import { MACROBLOCK } from '#server/media/h264/sps.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { isToolFailure } from '#server/media/ffmpeg/tools.ts';
import { NO_CROP, type SetsGuess, writeSets } from './rebuild-index-note-sets.ts';
import type { RebuildIndexInput } from './rebuild-index-types.ts';

/** Size of pictures in macroblocks of 16x16 samples. */
export interface SizeMbs {
  readonly widthMbs: number;
  readonly heightMbs: number;
}

/** Narrowest and widest pictures that are tried among unusual widths, macroblocks: 64 to 2560 samples. */
const NARROWEST = 4;
const WIDEST = 160;
/**
 * Widths of most clips: 640, 720, 1280, 1920, 1080, 480, 854, 848, 360, 540, 960, 320, 240, 1440, 608, 404, 720 and so
 * on.
 */
const USUAL_WIDTHS = [
  40, 45, 80, 120, 68, 30, 54, 53, 23, 34, 60, 20, 15, 90, 38, 26, 50, 64, 36, 100, 160, 135, 240,
];
/** Number of other widths that one decoder run tries. */
const BATCH_WIDTHS = 64;
/** Largest ratio of the two sides of a picture. */
const MOST_OBLONG = 3;
/** Macroblocks of the largest picture that phone decoders take (level 5.1, ITU-T H.264, table A-1). */
const MOST_MBS = 36_864;
const TALLEST = 256;

/** Sets with a size under which a key picture decodes. */
export interface SizedGuess {
  readonly guess: SetsGuess;
  readonly size: SizeMbs;
}

/**
 * Finds sizes under which a key picture decodes to its end and fills whole rows. Under a wrong width, rows soon
 * contradict each other. The height is where the data end: the decoder logs how much of a too high picture it had to
 * conceal.
 * @param guesses likeliest first; unusual widths are tried with the first one alone
 * @param units of the key picture, the note before its slices
 * @returns usually one; several if the picture shows nothing, and none if all guesses are wrong
 * @throws MediaToolError when ffmpeg cannot run or the job is cancelled
 */
export async function findSizes(
  input: RebuildIndexInput,
  guesses: readonly SetsGuess[],
  units: readonly Buffer[],
): Promise<SizedGuess[]> {
  const [likeliest] = guesses;
  if (!likeliest) return [];
  const isMany = guesses.length > FEW_GUESSES;
  const usual = isMany ? MOST_USUAL_WIDTHS : USUAL_WIDTHS;
  const batches = [pairs(isMany ? guesses : [likeliest], usual)];
  if (!isMany) {
    batches.push(...guesses.slice(1).map((guess) => pairs([guess], usual)));
    batches.push(...otherWidths().map((widths) => pairs([likeliest], widths)));
  }
  for (const batch of batches) {
    const found = await tryPairs(input, batch, units);
    const [first] = found;
    if (!first) continue;
    const tried = batch.map(({ widthMbs }) => widthMbs);
    const others = pairs([first.guess], dividersOf(found, tried));
    return [...found, ...(await tryPairs(input, others, units))];
  }
  return [];
}

/** Sets to try with a size that is higher than the picture. */
interface Pair extends SizeMbs {
  readonly guess: SetsGuess;
}

/**
 * Up to this many guesses are tried with all usual widths; if there are more, only the most usual widths are tried with
 * each.
 */
const FEW_GUESSES = 4;
const MOST_USUAL_WIDTHS = [80, 45, 120, 68, 40, 54];

/** Each guess with each width, at a height of its own that tells them apart in the log. */
const pairs = (guesses: readonly SetsGuess[], widths: readonly number[]): Pair[] =>
  guesses.flatMap((guess, at) =>
    widths.map((widthMbs) => ({
      guess,
      widthMbs,
      heightMbs: guesses.length > 1 ? TALLEST - at : tallest(widthMbs),
    })),
  );

/**
 * Other widths that divide the same number of macroblocks into whole rows; a picture that shows nothing decodes under
 * them as well.
 */
function dividersOf(found: readonly SizedGuess[], tried: readonly number[]): number[] {
  const sizes = found.map(({ size }) => size.widthMbs * size.heightMbs);
  return allWidths().filter((width) => !tried.includes(width) && sizes.some((mbs) => mbs % width === 0));
}

const allWidths = () => Array.from({ length: WIDEST - NARROWEST + 1 }, (_, at) => NARROWEST + at);

function otherWidths(): number[][] {
  const rest = allWidths().filter((width) => !USUAL_WIDTHS.includes(width));
  const batches: number[][] = [];
  for (let at = 0; at < rest.length; at += BATCH_WIDTHS) batches.push(rest.slice(at, at + BATCH_WIDTHS));
  return batches;
}

/** A height that is too high for any picture of this width. */
const tallest = (widthMbs: number) =>
  Math.min(TALLEST, MOST_OBLONG * widthMbs + 1, Math.floor(MOST_MBS / widthMbs));

/** The decoder reports everything; missing macroblocks are counted, and filled in the fastest way. */
const STRICT = '-threads 1 -err_detect aggressive -ec favor_inter';
/** The pictures themselves are not used. */
const UNSEEN = '-map 0:v:0 -vf scale=16:16:flags=neighbor -f null';

async function tryPairs(
  { tools, signal }: RebuildIndexInput,
  batch: readonly Pair[],
  units: readonly Buffer[],
): Promise<SizedGuess[]> {
  if (batch.length === 0) return [];
  const log = createTrialLog();
  try {
    await runFfmpeg(
      {
        label: 'try picture sizes',
        // At this level the decoder logs when it begins with another size.
        logLevel: 'repeat+verbose',
        inputs: [{ path: 'pipe:0', format: 'h264', options: STRICT.split(' ') }],
        outputs: [{ path: 'pipe:1', options: UNSEEN.split(' ') }],
        expectedDurationMs: null,
      },
      {
        tools,
        signal,
        stdin: streamOf(batch, units),
        onStdout: () => undefined,
        onStderrLine: (line) => log.read(line),
      },
    );
  } catch (error) {
    if (isToolFailure(error)) return [];
    throw error;
  }
  return log.trials().flatMap((trial) => {
    const size = sizeOf(trial);
    const pair = batch.find(
      ({ widthMbs, heightMbs }) => widthMbs === trial.widthMbs && heightMbs === trial.heightMbs,
    );
    return size && pair ? [{ guess: pair.guess, size }] : [];
  });
}

async function* streamOf(batch: readonly Pair[], units: readonly Buffer[]): AsyncGenerator<Buffer> {
  for (const { guess, widthMbs, heightMbs } of batch) {
    const { sps, pps } = writeSets(guess, { widthMbs, heightMbs, crop: NO_CROP });
    yield annexB([sps, pps, ...units]);
  }
}

/** What the decoder reported about a picture under one size. */
export interface SizeTrial extends SizeMbs {
  /** Whether decoding broke off anywhere. */
  readonly isBroken: boolean;
  /** Macroblocks that were missing from the data. */
  readonly missingMbs: number;
}

/** Reads the log of a decoder that gets one size after the other. */
export interface TrialLog {
  read(line: string): void;
  trials(): SizeTrial[];
}

const SAID = /\[h264 @ (\w+)\] (.*)/;
const BEGINS = /^Reinit context to (\d+)x(\d+)/;
const CONCEALS = /^concealing (\d+) DC/;

/**
 * An empty log. ffmpeg also probes the stream with a decoder that logs its beginning; the decoder that logs most
 * counts.
 */
export function createTrialLog(): TrialLog {
  const decoders = new Map<string, { -readonly [K in keyof SizeTrial]: SizeTrial[K] }[]>();
  return {
    read(line) {
      const [, name, said] = SAID.exec(line) ?? [];
      if (name === undefined || said === undefined) return;
      const trials = decoders.get(name) ?? [];
      decoders.set(name, trials);
      const begins = BEGINS.exec(said);
      if (begins) {
        const [widthMbs, heightMbs] = [Number(begins[1]) / MACROBLOCK, Number(begins[2]) / MACROBLOCK];
        trials.push({ widthMbs, heightMbs, isBroken: false, missingMbs: 0 });
        return;
      }
      const trial = trials.at(-1);
      if (!trial) return;
      const conceals = CONCEALS.exec(said);
      if (conceals) trial.missingMbs += Number(conceals[1]);
      else trial.isBroken = true;
    },
    trials: () => [...decoders.values()].sort((a, b) => b.length - a.length)[0] ?? [],
  };
}

/** The size of a picture that was complete under a width; null if it was not, or does not fill whole rows. */
export function sizeOf({ widthMbs, heightMbs, isBroken, missingMbs }: SizeTrial): SizeMbs | null {
  const rows = heightMbs - missingMbs / widthMbs;
  const isOblong = rows * MOST_OBLONG < widthMbs || rows > MOST_OBLONG * widthMbs;
  if (isBroken || missingMbs === 0 || !Number.isInteger(rows) || rows < NARROWEST || isOblong) return null;
  return { widthMbs, heightMbs: rows };
}
