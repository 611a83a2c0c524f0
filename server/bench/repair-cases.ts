import type { Defect } from '#common/report.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import {
  type ByteFault,
  corruptSamples,
  injectHiddenDrops,
  injectRepeats,
  injectTimestampGaps,
} from '#server/test/broken-clips.ts';
import { moveSound, skewSoundClock, tearHoles } from '#server/test/broken-sound.ts';

/** One true defect of a made clip, in display numbers of that clip. */
export interface TrueDefect {
  readonly firstFrame: number;
  readonly lastFrame: number;
  readonly count: number;
}

export interface BrokenClip {
  readonly truth: readonly TrueDefect[];
  /** Planted offset or drift, for sound. */
  readonly planted: number | null;
}

/** How a defect is planted, and how entries of the report are compared with the truth. */
export interface DefectCase {
  readonly name: string;
  readonly kind: Defect['kind'];
  readonly needsMotion: boolean;
  readonly needsSound: boolean;
  /**
   * Pictures that the clip gains (1) or loses (-1) for each planted one, so later ones have other numbers than in the
   * clean clip.
   */
  readonly added: 1 | 0 | -1;
  plant(input: PlantInput): Promise<BrokenClip>;
}

export interface PlantInput {
  readonly tools: ToolPaths;
  readonly inputPath: string;
  readonly outputPath: string;
  /** Codec of the input's pictures. */
  readonly codec: 'h264' | 'hevc';
  /** Pictures of the input where a defect can be planted, ascending, far from each other. */
  readonly places: readonly number[];
  readonly random: () => number;
}

const between = (random: () => number, low: number, high: number) =>
  low + Math.floor(random() * (high - low + 1));

const sign = (random: () => number) => (random() < 0.5 ? -1 : 1);

function repeats(name: string, history: 'held' | 'inserted'): DefectCase {
  return {
    name,
    kind: 'stuttered_cut',
    needsMotion: true,
    needsSound: false,
    added: history === 'inserted' ? 1 : 0,
    async plant({ places, random, ...input }) {
      const runs = places.map((frame) => ({ frame, count: between(random, 2, 6) }));
      const truth = await injectRepeats({ ...input, history, runs });
      return { truth, planted: null };
    },
  };
}

function holes(name: string, inject: typeof injectTimestampGaps, needsMotion: boolean): DefectCase {
  return {
    name,
    kind: 'dropped_frames',
    needsMotion,
    needsSound: false,
    added: -1,
    async plant({ places, random, ...input }) {
      const wanted = places.map((frame) => ({ frame, count: between(random, 1, 5) }));
      const truth = await inject({ ...input, holes: wanted });
      return {
        truth: truth.map(({ frameBefore, count }) => ({
          firstFrame: frameBefore,
          lastFrame: frameBefore + 1,
          count,
        })),
        planted: null,
      };
    },
  };
}

/** Offsets of pictures close together, as one bad stretch of storage hits the packets of several. */
const CLOSE_FRAMES = [0, 3, 6, 9];

function damage(name: string, fault: ByteFault, amount?: number, close = false): DefectCase {
  return {
    name,
    kind: 'corrupted_section',
    needsMotion: false,
    needsSound: false,
    added: 0,
    async plant({ places, random, ...input }) {
      const seed = between(random, 1, 1_000_000);
      const frames = close
        ? places.slice(0, 1).flatMap((place) => CLOSE_FRAMES.map((step) => place + step))
        : places.slice(0, 2);
      const truth = await corruptSamples({ ...input, frames, fault, amount, seed });
      return {
        truth: truth.map(({ frame }) => ({ firstFrame: frame, lastFrame: frame, count: 1 })),
        planted: null,
      };
    },
  };
}

const sound: Pick<DefectCase, 'kind' | 'needsMotion' | 'needsSound' | 'added'> = {
  kind: 'audio_sync',
  needsMotion: false,
  needsSound: true,
  added: 0,
};
const WHOLE: readonly TrueDefect[] = [{ firstFrame: -1, lastFrame: -1, count: 1 }];

export const DEFECT_CASES: readonly DefectCase[] = [
  repeats('stutter, held', 'held'),
  repeats('stutter, inserted', 'inserted'),
  holes('dropped, gap in times', injectTimestampGaps, false),
  holes('dropped, hidden', injectHiddenDrops, true),
  damage('corrupt, zeroed', 'zero'),
  damage('corrupt, random bytes', 'random'),
  damage('corrupt, one bit', 'flip'),
  damage('corrupt, 60 bytes in 4 pictures', 'random', 15, true),
  damage('corrupt, slice cut off', 'cut'),
  damage('corrupt, picture lost', 'lost'),
  {
    ...sound,
    name: 'sound offset',
    async plant(input) {
      const offsetMs = sign(input.random) * between(input.random, 80, 600);
      await moveSound({ ...input, offsetMs });
      return { truth: WHOLE, planted: offsetMs };
    },
  },
  {
    ...sound,
    name: 'sound drift',
    async plant(input) {
      const driftPpm = sign(input.random) * between(input.random, 3000, 12_000);
      await skewSoundClock({ ...input, driftPpm });
      return { truth: WHOLE, planted: driftPpm };
    },
  },
  {
    ...sound,
    name: 'sound hole',
    async plant(input) {
      await tearHoles({ ...input, holes: [{ startMs: 1500, durationMs: between(input.random, 120, 500) }] });
      return { truth: WHOLE, planted: null };
    },
  },
];

export interface Score {
  readonly found: number;
  readonly missed: number;
  readonly wrong: number;
  /** Errors of the start and of the end, added, in pictures; one entry per found defect. */
  readonly positionErrors: readonly number[];
  /** Per true defect: whether it was found. */
  readonly hits: readonly boolean[];
  /** The claims that match no true defect. */
  readonly wrongClaims: readonly Claim[];
}

/** What an entry of the report and a finding of the analysis have in common. */
export type Claim = Pick<Defect, 'kind' | 'firstFrame' | 'lastFrame' | 'confidence'>;

/** Entries of the report from this confidence on count as issues, and so as claims. */
const CLAIM_CONFIDENCE = 0.6;

/**
 * Matches claims of one kind (entries of a report, or findings of the analysis) with the truth. A claim matches a true
 * defect when they share a picture.
 */
export function scoreDefects(
  entries: readonly Claim[],
  kind: Defect['kind'],
  truth: readonly TrueDefect[],
): Score {
  const claims = claimsOf(entries, kind);
  const used = new Set<Claim>();
  const hits: boolean[] = [];
  const positionErrors: number[] = [];
  let found = 0;
  for (const real of truth) {
    const fit = claims.find((claim) => {
      if (used.has(claim) && kind !== 'corrupted_section') return false;
      if (claim.firstFrame === null || claim.lastFrame === null) return real.firstFrame < 0;
      return claim.firstFrame <= real.lastFrame && claim.lastFrame >= real.firstFrame;
    });
    hits.push(fit !== undefined);
    if (!fit) continue;
    used.add(fit);
    found += 1;
    if (fit.firstFrame !== null && fit.lastFrame !== null && kind !== 'corrupted_section') {
      positionErrors.push(
        Math.abs(fit.firstFrame - real.firstFrame) + Math.abs(fit.lastFrame - real.lastFrame),
      );
    }
  }
  const wrongClaims = claims.filter((claim) => !used.has(claim));
  const missed = truth.length - found;
  return { found, missed, wrong: wrongClaims.length, positionErrors, hits, wrongClaims };
}

/** Entries of one kind that are confident enough to be claims. */
function claimsOf(entries: readonly Claim[], kind: Defect['kind']): Claim[] {
  return entries.filter((entry) => entry.kind === kind && entry.confidence >= CLAIM_CONFIDENCE);
}

/**
 * A claim of the same fault may be this many pictures away from its place in the clean clip, because re-encoding
 * changes the pictures.
 */
const SAME_PLACE_FRAMES = 1;

/**
 * Counts the wrong claims at places where the clean clip has a claim of the same kind: faults of its own, or claims
 * that are wrong without anything planted. Planting did not cause them, so precision can be given without them too.
 * @param clean claims about the clean clip
 * @param truth what was planted
 */
export function countOwnClaims(
  { wrongClaims }: Pick<Score, 'wrongClaims'>,
  clean: readonly Claim[],
  { kind, added }: Pick<DefectCase, 'kind' | 'added'>,
  truth: readonly TrueDefect[],
): number {
  const own = claimsOf(clean, kind);
  const inClean = (frame: number) => {
    const before = truth.filter(({ lastFrame }) => lastFrame <= frame);
    return frame - added * before.reduce((sum, { count }) => sum + count, 0);
  };
  return wrongClaims.filter(({ firstFrame, lastFrame }) => {
    if (firstFrame === null || lastFrame === null) return own.length > 0;
    const [from, to] = [inClean(firstFrame) - SAME_PLACE_FRAMES, inClean(lastFrame) + SAME_PLACE_FRAMES];
    return own.some((claim) => (claim.firstFrame ?? 0) <= to && (claim.lastFrame ?? Infinity) >= from);
  }).length;
}
