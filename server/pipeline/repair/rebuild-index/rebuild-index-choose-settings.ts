import type { FileHandle } from 'node:fs/promises';
import { findPictures } from './rebuild-index-pictures.ts';
import {
  findInBandSettings,
  findStoredSettings,
  type PictureSettings,
  readReference,
} from './rebuild-index-settings.ts';
import { countComplaints, readsSomeKey } from './rebuild-index-trial.ts';
import type { RebuildIndexInput } from './rebuild-index-types.ts';

/** This much of the media is enough to test settings: if a reference fits, pictures are found at once. */
const TRIAL_BYTES = 8 << 20;
/**
 * Most complaints under right settings. A damaged picture at the start causes a few; wrong settings cause several for
 * each picture, unless it is a still.
 */
const MAX_COMPLAINTS = 12;

/** How well settings fit the pictures found under them. */
interface Fit {
  /** Of the decoder, about the first pictures. */
  readonly complaints: number;
  /** Of all pictures. */
  readonly sizeBytes: number;
}

/**
 * Chooses the settings with the fewest complaints of the decoder about the first pictures; of equal ones, those that
 * find most.
 * @returns null if none fit: neither those in the file nor those of earlier clips
 */
export async function chooseSettings(
  input: RebuildIndexInput,
  file: FileHandle,
  start: number,
  end: number,
): Promise<PictureSettings | null> {
  const inBand = await findInBandSettings(file, start, end, input.signal);
  const range = { start, end: Math.min(end, start + TRIAL_BYTES) };
  let best: PictureSettings | null = null;
  let bestFit: Fit = { complaints: Infinity, sizeBytes: 0 };
  for (const settings of await listCandidates(input, file, inBand)) {
    const fit = await tryOn(input, file, range, settings, inBand);
    if (!fit || !isBetter(fit, bestFit)) continue;
    best = settings;
    bestFit = fit;
  }
  return best;
}

const isBetter = (one: Fit, other: Fit) =>
  one.complaints < other.complaints ||
  (one.complaints === other.complaints && one.sizeBytes > other.sizeBytes);

/** Settings that may fit, the best description first. */
async function listCandidates(
  { inputPath, referencePaths, signal }: RebuildIndexInput,
  file: FileHandle,
  inBand: PictureSettings | null,
): Promise<PictureSettings[]> {
  const candidates: PictureSettings[] = [];
  // What is left of the clip's own index describes its pictures best.
  for (const path of [inputPath, ...referencePaths]) {
    const reference = await readReference(path);
    if (reference) candidates.push(reference);
  }
  // A reference with the same settings also knows sound, rotation and rate.
  if (inBand) candidates.push(inBand);
  return [...candidates, ...(await findStoredSettings(file, signal))];
}

/** Finds and decodes the first pictures under some settings; null if these are wrong. */
async function tryOn(
  input: RebuildIndexInput,
  file: FileHandle,
  { start, end }: { readonly start: number; readonly end: number },
  settings: PictureSettings,
  inBand: PictureSettings | null,
): Promise<Fit | null> {
  const { pictures } = await findPictures(file, start, end, settings, input.signal);
  if (!pictures.some((picture) => picture.isKey)) return null;
  const complaints = await countComplaints(input, file, settings, pictures);
  if (complaints > MAX_COMPLAINTS) return null;
  const { reference } = settings;
  const isForeign = reference !== null && reference.path !== input.inputPath && !isSame(settings, inBand);
  // Settings of another clip must prove themselves: pictures of a still shot are so short that they decode under any.
  const isDoubtful = complaints > 0 && isForeign;
  if (isDoubtful && !(await readsSomeKey(input, file, settings, pictures))) return null;
  return { complaints, sizeBytes: pictures.reduce((sum, picture) => sum + picture.sizeBytes, 0) };
}

/** Whether two settings have the same parameter sets. */
function isSame(one: PictureSettings, other: PictureSettings | null): boolean {
  return other !== null && Buffer.concat(one.coding.units).equals(Buffer.concat(other.coding.units));
}
