import type { RepairAction } from '#common/report.ts';
import type { Finding } from '../analyse/analysis.ts';

/**
 * How a repair inside a damaged stretch is made. `decoded`: from neighbours that only refer to damaged pictures, if the
 * stretch is kept as decoded. `whole`: from the intact pictures around the stretch, which is rebuilt from them too.
 */
export type UnderDamage = 'decoded' | 'whole';

/** What to do about one picture defect; frame numbers and ticks are the original's. */
export type PictureTask =
  | {
      readonly kind: 'remove';
      readonly finding: Finding;
      readonly firstFrame: number;
      readonly endFrame: number;
      /** Negative: later pictures move forward by the time of the removed ones. */
      readonly shiftAfterTicks: number;
      readonly underDamage?: UnderDamage;
    }
  | {
      readonly kind: 'rebuild';
      readonly finding: Finding;
      /** Replaced pictures `[firstFrame, endFrame)`; equal for a pure insertion. */
      readonly firstFrame: number;
      readonly endFrame: number;
      /** Times of the new pictures, before any shift. */
      readonly slotTicks: readonly number[];
      /** Time of the next original picture on the axis of `slotTicks`; null at the end of the clip. */
      readonly resumeTicks: number | null;
      /** Last true picture before the gap and first true one after it; null at an end of the clip. */
      readonly before: number | null;
      readonly after: number | null;
      /** A cut lies in the gap: pictures from its two sides must not be mixed. */
      readonly acrossCut: boolean;
      readonly shiftAfterTicks: number;
      readonly underDamage?: UnderDamage;
      /** Keeps damaged pictures as decoded, because rebuilt ones were tried and show a defect themselves. */
      readonly keepsDecoded?: boolean;
    };

export type RebuildTask = Extract<PictureTask, { kind: 'rebuild' }>;

/** The decision or result for one finding, in words for people. */
export interface Verdict {
  readonly finding: Finding;
  readonly outcome: 'repaired' | 'left_alone' | 'flagged';
  readonly action: RepairAction;
  /** The detector's value on the result; null when not measured again. */
  readonly after: number | null;
  /** The finding's curve measured again, one value for each of its points. */
  readonly curveAfter?: readonly (number | null)[];
  readonly explanation: string;
}

/** The reason for a finding without a place. */
export const UNPLACED = 'Left as it is: its position is not known.';
