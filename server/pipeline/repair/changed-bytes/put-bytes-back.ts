import { constants } from 'node:fs';
import { copyFile, open, rm, type FileHandle } from 'node:fs/promises';
import type { SearchBudget } from '#server/media/changed-bytes.ts';
import { joinSample } from '#server/media/h264/nal.ts';
import { displayOrder, type DisplayOrder } from '#server/media/mp4/display-order.ts';
import { readExactly, writeFully } from '#server/media/mp4/file-bytes.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import type { Analysis, Finding } from '../../analyse/analysis.ts';
import { hiddenData, tornPictures } from '../damaged-pictures.ts';
import { nullIfUnfit } from '../unfit.ts';
import { unitsNear } from '../units-near.ts';
import { openRestorable, searchMs, type RestorableSource } from './restorable-source.ts';

export interface PutBackInput {
  readonly inputPath: string;
  readonly info: MediaInfo;
  readonly analysis: Analysis;
  /** Where to write a copy of the clip with the original bytes. */
  readonly outputPath: string;
  /** Runs all detectors on that copy. */
  readonly analyse: (path: string) => Promise<Analysis>;
  readonly signal?: AbortSignal;
  /**
   * Called many times a second during a search, never if there is nothing to search. Takes the cost so far, and the
   * cost if nothing is found, ms on an idle core.
   */
  readonly onSearch?: (spentMs: number, mostMs: number) => void;
}

/** A clip whose single changed bytes have their original values again. */
export interface PutBackClip {
  readonly path: string;
  readonly analysis: Analysis;
  /** Findings of the damaged clip that are gone now. */
  readonly findings: readonly Finding[];
  /** Number of coded pictures with changed bytes. */
  readonly pictures: number;
}

/** Most of the remaining search budget that one picture may use, as a share. */
const MOST_SHARE = 0.5;
/** Most damaged pictures of a stretch that are tried; more of them are a burst of damage. */
const MOST_PICTURES = 12;

/**
 * Restores single changed bytes of damaged pictures where their coding tells the original values, and analyses the
 * result. A stretch is restored as a whole or not at all, and only if no damage is left in it.
 * @returns null when nothing can be restored
 * @throws MediaToolError when a tool fails or the job is cancelled
 */
export async function putBytesBack(input: PutBackInput): Promise<PutBackClip | null> {
  const { analysis, outputPath } = input;
  if (!analysis.findings.some(({ kind }) => kind === 'corrupted_section')) return null;
  const file = await open(input.inputPath, 'r');
  try {
    const restored = await restoreStretches(input, file);
    const samples = new Map(restored.flatMap((one) => one.samples.map((sample) => [sample.sample, sample])));
    if (samples.size === 0) return null;
    await copyFile(input.inputPath, outputPath, constants.COPYFILE_FICLONE);
    await writeSamples(outputPath, [...samples.values()]);
    const again = await input.analyse(outputPath);
    const findings = restored.map(({ finding }) => finding);
    if (
      again.findings.some((one) => one.kind === 'corrupted_section' && findings.some((was) => meet(one, was)))
    ) {
      await rm(outputPath);
      return null;
    }
    const seenLater = again.findings.map((finding) => asSeenLater(finding, analysis.findings));
    return {
      path: outputPath,
      analysis: { ...again, findings: seenLater },
      findings,
      pictures: samples.size,
    };
  } catch (error) {
    return nullIfUnfit(error);
  } finally {
    await file.close();
  }
}

interface RestoredSample {
  readonly sample: number;
  readonly offset: number;
  readonly bytes: Buffer;
  readonly changes: number;
}

interface RestoredStretch {
  readonly finding: Finding;
  readonly samples: readonly RestoredSample[];
}

async function restoreStretches(
  { info, analysis, signal, onSearch }: PutBackInput,
  file: FileHandle,
): Promise<RestoredStretch[]> {
  const source = await openRestorable(file, info);
  if (!source) return [];
  const { samples, shownEdit } = source;
  const order = displayOrder(samples, shownEdit.startTicks, shownEdit.endTicks);
  const isDamaged = new Set(analysis.findings.flatMap((finding) => damagedSamples(finding, order)));
  const { mostBytes } = source;
  let left = mostBytes;
  const searchOne = async (sample: number): Promise<RestoredSample | null> => {
    // Damage other than one changed byte uses up its budget and is seldom alone.
    const most = left * MOST_SHARE;
    const reserve = left - most;
    const budget: SearchBudget = {
      bytes: most,
      onSpent() {
        left = reserve + budget.bytes;
        onSearch?.(searchMs(mostBytes - left), searchMs(mostBytes));
      },
    };
    const one = await restoreSample(source, { sample, isDamaged }, budget, signal);
    budget.onSpent?.();
    return one;
  };
  const restored: RestoredStretch[] = [];
  for (const finding of analysis.findings) {
    const damaged = damagedSamples(finding, order);
    if (damaged.length === 0 || damaged.length > MOST_PICTURES) continue;
    const made: RestoredSample[] = [];
    for (const sample of damaged) {
      const one = await searchOne(sample);
      if (one === null) break;
      made.push(one);
    }
    if (made.length === damaged.length)
      restored.push({ finding, samples: made.filter(({ changes }) => changes > 0) });
  }
  return restored.filter((one) => one.samples.length > 0);
}

/** Samples of a damaged stretch whose own data are damaged; none for other findings. */
function damagedSamples(finding: Finding, { samples, firstShown }: DisplayOrder): number[] {
  const { detail, firstFrame } = finding;
  if (detail.kind !== 'corrupted_section' || detail.besideOnly || firstFrame === null) return [];
  const frames = [...(hiddenData(finding) ?? []), ...tornPictures([finding])];
  return frames.flatMap((frame) => samples[frame + firstShown] ?? []);
}

async function restoreSample(
  source: RestorableSource,
  { sample, isDamaged }: { readonly sample: number; readonly isDamaged: ReadonlySet<number> },
  budget: SearchBudget,
  signal: AbortSignal | undefined,
): Promise<RestoredSample | null> {
  const place = source.samples[sample];
  if (!place) return null;
  try {
    const units = await source.units(sample);
    const whole = unitsNear(source, sample, (other) => isDamaged.has(other));
    const restored = await source.restore(units, whole, budget, signal);
    if (restored === null) return null;
    const bytes = joinSample(restored.units, source.lengthSize);
    const before = await readExactly(source.file, place.offset, place.sizeBytes);
    const differing = before.filter((byte, at) => byte !== bytes[at]).length;
    // If the changed bytes cannot be told from their surroundings, the picture is left alone.
    if (bytes.length !== before.length || differing !== restored.changes) return null;
    return { sample, offset: place.offset, bytes, changes: differing };
  } catch (error) {
    return nullIfUnfit(error);
  }
}

async function writeSamples(path: string, samples: readonly RestoredSample[]): Promise<void> {
  const file = await open(path, 'r+');
  try {
    for (const { bytes, offset } of samples) await writeFully(file, bytes, offset);
  } finally {
    await file.close();
  }
}

const meet = (one: Finding, other: Finding): boolean =>
  one.startMs < other.endMs && one.endMs > other.startMs;

/** Marks findings that the damage had hidden. */
function asSeenLater(finding: Finding, before: readonly Finding[]): Finding {
  const { kind, firstFrame, lastFrame } = finding;
  const isPicture = firstFrame !== null;
  const wasSeen = before.some(
    (one) => one.kind === kind && one.firstFrame === firstFrame && one.lastFrame === lastFrame,
  );
  return isPicture && !wasSeen ? { ...finding, foundIn: 'result' } : finding;
}
