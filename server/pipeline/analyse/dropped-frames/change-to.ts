/** Change from an earlier picture to a displayed one; null where it is unknown, and across a cut. */
export type ChangeTo = (frame: number) => number | null;

export interface MeasuredSteps {
  /** Display number of each decoded picture. */
  readonly frameOfDecoded: readonly number[];
  /** Decoded pictures that begin a shot. */
  readonly decodedCuts: readonly number[];
}

export interface ChangeOptions {
  /** Distance between the two compared pictures; default 1. */
  readonly steps?: number;
  /** Displayed pictures that are unreliable: what a decoder puts in place of damaged data moves in its own way. */
  readonly unfit?: ReadonlySet<number>;
}

/** Converts measures by decoded picture to functions of the displayed picture. */
export function createChangeTo({ frameOfDecoded, decodedCuts }: MeasuredSteps) {
  const decodedOf = new Map(frameOfDecoded.map((frame, decoded) => [frame, decoded]));
  const cuts = new Set(decodedCuts);
  return (changes: readonly number[], { steps = 1, unfit }: ChangeOptions = {}): ChangeTo => {
    const back = Array.from({ length: steps + 1 }, (_, step) => step);
    return (frame) => {
      const at = decodedOf.get(frame) ?? 0;
      const isOverCut = back.slice(0, steps).some((step) => cuts.has(at - step));
      if (at < steps || isOverCut || back.some((step) => unfit?.has(frame - step))) return null;
      return changes[at] ?? null;
    };
  };
}
