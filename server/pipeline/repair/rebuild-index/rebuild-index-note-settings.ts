import { rm, type FileHandle } from 'node:fs/promises';
import { isSlice, splitSample } from '#server/media/h264/nal.ts';
import { MACROBLOCK } from '#server/media/h264/sps.ts';
import { readExactly } from '#server/media/mp4/file-bytes.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { avcCoding } from './rebuild-index-avc.ts';
import { findNotedPicture, LENGTH_BYTES, type EncoderNote } from './rebuild-index-note.ts';
import { guessPadding, mayHidePadding, STEPS, stepsBetween } from './rebuild-index-note-crop.ts';
import { guessSets, NO_CROP, type SetsGuess, writeSets } from './rebuild-index-note-sets.ts';
import { findSizes, type SizedGuess } from './rebuild-index-note-size.ts';
import { findPictures } from './rebuild-index-pictures.ts';
import type { FoundPicture } from './rebuild-index-scan.ts';
import type { PictureSettings } from './rebuild-index-settings.ts';
import { countComplaints, readsAll, writeRawStream } from './rebuild-index-trial.ts';
import type { RebuildIndexInput } from './rebuild-index-types.ts';

/** Settings derived from the encoder's note, with a remark about them. */
export interface NotedSettings {
  readonly settings: PictureSettings;
  readonly note: EncoderNote;
  /** How they were found, as a sentence. */
  readonly remark: string;
}

/** This much of the media is enough to test settings. */
const TRIAL_BYTES = 8 << 20;

interface Survivor extends SizedGuess {
  readonly settings: PictureSettings;
  readonly pictures: readonly FoundPicture[];
}

/**
 * Finds settings of H.264 pictures of which only the note is left that x264 puts into the first picture. The note
 * determines everything in the sets except the size, and sizes are tried. The decoder must read the pictures without a
 * complaint, and under one size only.
 * @returns null if there is no such note, it does not tell enough, or more than one size fits
 * @throws MediaToolError when ffmpeg cannot run or the job is cancelled
 */
export async function findNotedSettings(
  input: RebuildIndexInput,
  file: FileHandle,
  start: number,
  end: number,
): Promise<NotedSettings | null> {
  const noted = await findNotedPicture(file, start, end, input.signal);
  const [first] = noted?.slices ?? [];
  if (!noted || !first) return null;
  const trial = { start, end: Math.min(end, start + TRIAL_BYTES) };
  const { message, slices } = noted;
  let sizes = await findSizes(input, guessSets(noted.note, first), [message, ...slices]);
  if (sizes.length > 1) sizes = await narrowDown(input, file, trial, sizes, message);
  const left = await readUnder(input, file, trial, sizes);
  const [found, another] = left;
  if (!found || another) return null;
  const crop = await findCrop(input, file, found);
  const { widthMbs, heightMbs } = found.size;
  const shown = `${widthMbs * MACROBLOCK - crop.right} x ${heightMbs * MACROBLOCK - crop.bottom}`;
  return {
    settings: settingsOf(found.guess, { ...found.size, crop }),
    note: noted.note,
    remark: `Their settings follow from what the encoder (x264) noted beside the first picture; their size, ${shown}, was found by trial: they decode without a fault under no other.${crop.isDoubtful ? DOUBTFUL : ''} Whether they are to be shown turned, and in which range of colours, is not known.`,
  };
}

function settingsOf(guess: SetsGuess, size: Parameters<typeof writeSets>[1]): PictureSettings {
  const { sps, pps } = writeSets(guess, size);
  return { coding: avcCoding(sps, [pps]), lengthSize: LENGTH_BYTES, reference: null };
}

/** Sizes under which the largest key picture decodes too, if it shows more than the first one. */
async function narrowDown(
  input: RebuildIndexInput,
  file: FileHandle,
  { start, end }: { readonly start: number; readonly end: number },
  sizes: readonly SizedGuess[],
  message: Buffer,
): Promise<SizedGuess[]> {
  const [any] = sizes;
  if (!any) return [];
  const settings = settingsOf(any.guess, { ...any.size, crop: NO_CROP });
  const { pictures } = await findPictures(file, start, end, settings, input.signal);
  const keys = pictures.filter(({ isKey }) => isKey).sort((a, b) => b.sizeBytes - a.sizeBytes);
  const [largest] = keys;
  if (!largest || largest.offset === pictures[0]?.offset) return [...sizes];
  const sample = await readExactly(file, largest.offset, largest.sizeBytes);
  const slices = splitSample(sample, LENGTH_BYTES).filter(isSlice);
  const guesses = [...new Set(sizes.map(({ guess }) => guess))];
  const found = await findSizes(input, guesses, [message, ...slices]);
  return found.filter(({ guess, size }) =>
    sizes.some((other) => other.guess === guess && other.size.widthMbs === size.widthMbs),
  );
}

/**
 * Sizes under which the decoder reads the pictures without a complaint. One size is tested with the first pictures.
 * Several are left if these show nothing; then more pictures are read to tell them apart. Two sizes that fit are no
 * answer, so the search ends there.
 */
async function readUnder(
  input: RebuildIndexInput,
  file: FileHandle,
  { start, end }: { readonly start: number; readonly end: number },
  sizes: readonly SizedGuess[],
): Promise<Survivor[]> {
  const left: Survivor[] = [];
  for (const { guess, size } of sizes) {
    const settings = settingsOf(guess, { ...size, crop: NO_CROP });
    const { pictures } = await findPictures(file, start, end, settings, input.signal);
    const isRead =
      sizes.length > 1
        ? await readsAll(input, file, settings, pictures)
        : (await countComplaints(input, file, settings, pictures)) === 0;
    if (isRead) left.push({ guess, size, settings, pictures });
    if (left.length > 1) break;
  }
  return left;
}

const DOUBTFUL =
  ' Up to 14 rows or columns at the edges may repeat the last one, as nothing tells how many are to be shown.';

/**
 * Pictures whose edges are examined: every `EACH`th of the first ones, and the largest key pictures, which show most.
 */
const FIRST_PICTURES = 48;
const EACH = 12;
const LARGEST_KEYS = 3;
/** The last lines at the bottom, and the last columns at the right, transposed; luma alone. */
const EDGES = [
  `[0:v:0]select='not(mod(n,${EACH}))+key',extractplanes=y,split[all][same]`,
  `[all]crop=iw:${STEPS + 1}:0:ih-${STEPS + 1}:exact=1[bottom]`,
  `[same]crop=${STEPS + 1}:ih:iw-${STEPS + 1}:0:exact=1,transpose[right]`,
  '[bottom][right]hstack[edges]',
].join(';');

/** Finds the padding at the right and at the bottom of the pictures. */
async function findCrop(
  input: RebuildIndexInput,
  file: FileHandle,
  { size, settings, pictures }: Survivor,
): Promise<{ readonly right: number; readonly bottom: number; readonly isDoubtful: boolean }> {
  const { widthMbs, heightMbs } = size;
  const firstKey = pictures.findIndex(({ isKey }) => isKey);
  const keys = pictures.filter(({ isKey }) => isKey).sort((a, b) => b.sizeBytes - a.sizeBytes);
  const looked = [...pictures.slice(firstKey, firstKey + FIRST_PICTURES), ...keys.slice(0, LARGEST_KEYS)];
  const lines = await readEdges(input, file, settings, looked);
  const [width, height] = [widthMbs * MACROBLOCK, heightMbs * MACROBLOCK];
  const lineSamples = width + height;
  const [columns, rows] = [
    stepsBetween(lines, { from: width, count: height, lineSamples }),
    stepsBetween(lines, { from: 0, count: width, lineSamples }),
  ];
  return {
    right: guessPadding(widthMbs, columns),
    bottom: guessPadding(heightMbs, rows),
    isDoubtful: mayHidePadding(widthMbs, columns) || mayHidePadding(heightMbs, rows),
  };
}

/** Luma of the edges, two bytes a sample. */
async function readEdges(
  input: RebuildIndexInput,
  file: FileHandle,
  settings: PictureSettings,
  pictures: readonly FoundPicture[],
): Promise<Buffer> {
  const path = `${input.outputPath}.edges.h264`;
  const pieces: Buffer[] = [];
  const options = '-map [edges] -fps_mode passthrough -f rawvideo -pix_fmt gray16le'.split(' ');
  try {
    await writeRawStream(file, settings, pictures, path);
    await runFfmpeg(
      {
        label: 'look at the edges',
        inputs: [{ path, format: 'h264', options: ['-threads', '1'] }],
        filterComplex: EDGES,
        outputs: [{ path: 'pipe:1', options }],
        expectedDurationMs: null,
      },
      { tools: input.tools, signal: input.signal, onStdout: (chunk) => void pieces.push(chunk) },
    );
    return Buffer.concat(pieces);
  } finally {
    await rm(path, { force: true });
  }
}
