import type { FileHandle } from 'node:fs/promises';
import type { SearchBudget } from '#server/media/changed-bytes.ts';
import { restoreAvcUnits } from '#server/media/h264/slice-data/restore-slices.ts';
import { restoreHevcUnits } from '#server/media/hevc/restore-slices.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import type { RestoredUnits } from '#server/media/restore-units.ts';
import type { ClipMeasures } from '../../analyse/analysis-costs.ts';
import { openHevcSource } from '../smart-render/hevc/smart-render-hevc-source.ts';
import { openSmartSource, type ClipSource } from '../smart-render/smart-render-source.ts';

/** A clip whose coded pictures can be searched for changed bytes. */
export interface RestorableSource extends Pick<ClipSource, 'file' | 'samples' | 'shownEdit'> {
  readonly lengthSize: number;
  /** Most bytes that all searches of the clip may read. */
  readonly mostBytes: number;
  /** NAL units of a sample. */
  units(sample: number): Promise<Buffer[]>;
  /**
   * Searches a picture for changed bytes.
   * @param units NAL units of the picture
   * @param intact units of intact pictures, nearest first
   */
  restore(
    units: readonly Buffer[],
    intact: AsyncIterable<readonly Buffer[]>,
    budget: SearchBudget,
    signal?: AbortSignal,
  ): Promise<RestoredUnits | null>;
}

/**
 * Most bytes for all searches of a clip: 3 to 8 s of work if nothing is found. A changed bit of H.264 takes 0.1 to 0.5
 * MB, another byte mostly 1 to 3 MB.
 */
const MOST_BYTES = { hevc: 24e6, h264: 10e6 } as const;

/**
 * Bytes that a search reads in a millisecond of processor time, including the compiler of its code. Measured on 14 HEVC
 * clips and nine H.264 pictures with one changed byte each.
 */
const BYTES_A_MS = 3000;

/** Time to read this many bytes, ms on an idle core. */
export const searchMs = (bytes: number): number => bytes / BYTES_A_MS;

/** Cost of a search that finds nothing, ms on an idle core; 0 for clips that are not searched. */
export function mostSearchMs({ format, video }: Pick<ClipMeasures, 'format' | 'video'>): number {
  const codec = video[0]?.codec;
  if (format !== 'mov' || (codec !== 'hevc' && codec !== 'h264')) return 0;
  return searchMs(MOST_BYTES[codec]);
}

/**
 * Opens a clip for searches.
 * @returns null for clips of other kinds
 * @throws Mp4Error, H264Error or HevcError when the settings of the video are damaged
 */
export async function openRestorable(file: FileHandle, info: MediaInfo): Promise<RestorableSource | null> {
  const codec = info.format === 'mov' ? info.video[0]?.codec : null;
  if (codec === 'hevc') {
    const answer = await openHevcSource(file, info);
    if (!answer.ok) return null;
    const { source } = answer;
    return {
      ...source,
      mostBytes: MOST_BYTES.hevc,
      restore: (units, _intact, budget, signal) =>
        restoreHevcUnits(units, source.parameterSets, budget, signal),
    };
  }
  if (codec !== 'h264') return null;
  const answer = await openSmartSource(file, info);
  if (!answer.ok) return null;
  const { source } = answer;
  return {
    ...source,
    lengthSize: source.config.lengthSize,
    mostBytes: MOST_BYTES.h264,
    restore: (units, intact, budget, signal) => restoreAvcUnits(units, source, intact, budget, signal),
  };
}
