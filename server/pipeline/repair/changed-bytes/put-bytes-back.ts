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
  /** Where a copy of the clip with the bytes put back goes. */
  readonly outputPath: string;
  /** Runs all detectors on that copy. */
  readonly analyse: (path: string) => Promise<Analysis>;
  readonly signal?: AbortSignal;
  /**
   * Called many times a second while bytes are searched, never where there is nothing to search: what was spent of the search, and what it
   * costs if nothing is found, ms on an idle core.
   */
  readonly onSearch?: (spentMs: number, mostMs: number) => void;
}

/** A clip in which single changed bytes are what they were. */
export interface PutBackClip {
  readonly path: string;
  readonly analysis: Analysis;
  /** Damage of the clip as it came that is gone with them. */
  readonly findings: readonly Finding[];
  /** Coded pictures that hold changed bytes. */
  readonly pictures: number;
}

/** Of what the searches of a clip may still read, the share that one picture takes at most. */
const MOST_SHARE = 0.5;
/** Damaged pictures of a stretch at most that are tried: more are a burst of damage. */
const MOST_PICTURES = 12;

/**
 * Puts single changed bytes of damaged pictures back where their coding tells what they were, and analyses the clip as it then is. A
 * stretch is mended so as a whole or not at all, and only where no damage is left of it.
 * @returns null where nothing can be put back
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
    // What is not one changed byte takes all that it may, and is rarely alone.
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
    // What cannot be told apart from the bytes around it is left.
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

/** What shows only now was hidden by the damage. */
function asSeenLater(finding: Finding, before: readonly Finding[]): Finding {
  const { kind, firstFrame, lastFrame } = finding;
  const isPicture = firstFrame !== null;
  const wasSeen = before.some(
    (one) => one.kind === kind && one.firstFrame === firstFrame && one.lastFrame === lastFrame,
  );
  return isPicture && !wasSeen ? { ...finding, foundIn: 'result' } : finding;
}
