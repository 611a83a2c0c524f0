import { readFile, rm } from 'node:fs/promises';
import type { RepairReport } from '#common/report.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { probe } from '#server/media/probe/probe.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { analysePicture } from '#server/pipeline/analyse/analyse-picture.ts';
import { hashPictures } from '#server/pipeline/publish/packet-hashes.ts';

/**
 * A picture whose luma PSNR against the clean original is lower counts as visibly damaged, dB (limit of the product
 * goal).
 */
const VISIBLE_DB = 42;
/** Number of analyses of the same broken clip that must agree. */
const ANALYSES = 5;

/** How damaged data changed the pictures of one clip, and how much of it was found and repaired. */
export interface DamageScore {
  /** Pictures below `VISIBLE_DB` against the clean original, and how many of them lie inside claimed spans. */
  readonly visible: number;
  readonly visibleClaimed: number;
  /**
   * Pictures that decode to exactly the values of the clean original, and how many of them lie inside claimed spans.
   */
  readonly undamaged: number;
  readonly undamagedClaimed: number;
  /** Undamaged pictures that still have exactly the same values in the result. */
  readonly undamagedKept: number;
  /** Stretches of visible damage, and how many of them a claim overlaps. */
  readonly stretches: number;
  readonly stretchesFound: number;
  /** Claims in which no picture differs from the clean original. */
  readonly wrongClaims: number;
  /** Sums of the mean squared errors of the pictures that differed, before and after the repair, for a mean PSNR. */
  readonly errorBefore: number;
  readonly errorAfter: number;
  readonly differing: number;
  /** All five analyses of the broken clip gave the same answer. */
  readonly repeatable: boolean;
}

interface DamageInput {
  readonly clean: string;
  readonly broken: string;
  readonly repaired: string;
  readonly report: RepairReport;
  readonly workDir: string;
  readonly tools: ToolPaths;
}

/** Entries of the report count as claims from this confidence on. */
const CLAIM_CONFIDENCE = 0.6;

/**
 * Compares a damaged clip and its repair with the clean original, picture by picture. The damage is planted in place,
 * so all three clips have the same pictures at the same times.
 * @returns null when the numbers of pictures differ, so that nothing can be compared
 */
export async function scoreDamage(input: DamageInput): Promise<DamageScore | null> {
  const { clean, broken, repaired, tools } = input;
  const [cleanHashes, repairedHashes] = [await hashesOf(clean, tools), await hashesOf(repaired, tools)];
  const before = await pictureErrors(broken, clean, input);
  const after = await pictureErrors(repaired, clean, input);
  const count = cleanHashes.length;
  if (before.length !== count || after.length !== count || repairedHashes.length !== count) return null;
  const claims = input.report.defects.filter(({ kind, confidence }) => {
    return kind === 'corrupted_section' && confidence >= CLAIM_CONFIDENCE;
  });
  const isClaimed = (frame: number) => {
    return claims.some(({ firstFrame, lastFrame }) => {
      return firstFrame !== null && lastFrame !== null && frame >= firstFrame && frame <= lastFrame;
    });
  };
  const visible = numbersWhere(before, ({ lumaDb }) => lumaDb < VISIBLE_DB);
  const undamaged = numbersWhere(before, ({ equal }) => equal);
  const differing = numbersWhere(before, ({ equal }) => !equal);
  const stretches = toStretches(visible);
  return {
    visible: visible.length,
    visibleClaimed: visible.filter(isClaimed).length,
    undamaged: undamaged.length,
    undamagedClaimed: undamaged.filter(isClaimed).length,
    undamagedKept: undamaged.filter((frame) => repairedHashes[frame] === cleanHashes[frame]).length,
    stretches: stretches.length,
    stretchesFound: stretches.filter((frames) => frames.some(isClaimed)).length,
    wrongClaims: claims.filter(({ firstFrame, lastFrame }) => {
      return !differing.some((frame) => frame >= (firstFrame ?? 0) && frame <= (lastFrame ?? -1));
    }).length,
    errorBefore: differing.reduce((sum, frame) => sum + (before[frame]?.error ?? 0), 0),
    errorAfter: differing.reduce((sum, frame) => sum + (after[frame]?.error ?? 0), 0),
    differing: differing.length,
    repeatable: await isRepeatable(broken, tools),
  };
}

interface PictureError {
  readonly lumaDb: number;
  /** Mean squared error of the luma plane. */
  readonly error: number;
  readonly equal: boolean;
}

/** Errors of the pictures of `path`, each against the picture shown at the same time in `truth`. */
async function pictureErrors(path: string, truth: string, input: DamageInput): Promise<PictureError[]> {
  const statsPath = `${input.workDir}/picture-errors.log`;
  await rm(statsPath, { force: true });
  await runFfmpeg(
    {
      label: 'compare pictures',
      inputs: [path, truth].map((one) => ({ path: one, options: ['-threads', '1'] })),
      filterComplex: `[0:v]settb=1/90000[got];[1:v]settb=1/90000[true];[true][got]psnr=stats_file=${statsPath}[out]`,
      outputs: [{ path: '-', options: ['-map', '[out]', '-f', 'null'] }],
      expectedDurationMs: null,
    },
    { tools: input.tools },
  );
  const text = await readFile(statsPath, 'latin1');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const error = Number(/mse_y:(\S+)/.exec(line)?.[1]);
      const colour = Number(/mse_u:(\S+)/.exec(line)?.[1] ?? 0) + Number(/mse_v:(\S+)/.exec(line)?.[1] ?? 0);
      const lumaDb = error === 0 ? Infinity : 10 * Math.log10(255 ** 2 / error);
      // The log prints errors with two decimals. A smaller error shows only in the PSNR, which is then finite.
      const equal = error === 0 && colour === 0 && /psnr_avg:inf/.test(line);
      return { error, lumaDb, equal };
    });
}

async function hashesOf(path: string, tools: ToolPaths): Promise<string[]> {
  const info = await probe(tools, path, 'mov');
  return (await hashPictures({ path, info, tools })).map(({ hash }) => hash);
}

async function isRepeatable(path: string, tools: ToolPaths): Promise<boolean> {
  const info = await probe(tools, path, 'mov');
  const answers = new Set<string>();
  for (let run = 0; run < ANALYSES; run += 1) {
    const { findings } = await analysePicture({ inputPath: path, info, tools });
    answers.add(JSON.stringify(findings));
  }
  return answers.size === 1;
}

function numbersWhere<T>(values: readonly T[], test: (value: T) => boolean): number[] {
  return values.flatMap((value, number) => (test(value) ? [number] : []));
}

/** Groups ascending numbers into runs without gaps. */
function toStretches(numbers: readonly number[]): number[][] {
  const runs: number[][] = [];
  for (const number of numbers) {
    const run = runs.at(-1);
    if (run && run.at(-1) === number - 1) run.push(number);
    else runs.push([number]);
  }
  return runs;
}

/**
 * All scores of one kind of damage as one table row: shares of pictures over all clips, and the mean PSNR of the
 * pictures that differed.
 */
export function damageRow(name: string, scores: readonly DamageScore[]): string {
  const total = (pick: (score: DamageScore) => number) => scores.reduce((sum, score) => sum + pick(score), 0);
  const share = (part: number, whole: number, digits = 4) =>
    whole === 0 ? '-' : (part / whole).toFixed(digits);
  const differing = total((score) => score.differing);
  const decibels = (error: number) => {
    return differing === 0 ? '-' : (10 * Math.log10(255 ** 2 / Math.max(1e-3, error / differing))).toFixed(1);
  };
  const cells = [
    name,
    total((score) => score.visible),
    share(
      total((score) => score.visibleClaimed),
      total((score) => score.visible),
    ),
    total((score) => score.undamaged),
    share(
      total((score) => score.undamagedClaimed),
      total((score) => score.undamaged),
    ),
    share(
      total((score) => score.undamagedKept),
      total((score) => score.undamaged),
    ),
    decibels(total((score) => score.errorBefore)),
    decibels(total((score) => score.errorAfter)),
    `${scores.filter((score) => score.repeatable).length} of ${scores.length}`,
  ];
  return `| ${cells.join(' | ')} |`;
}

export const DAMAGE_HEAD = [
  '| damage | visibly damaged pictures | of them claimed | undamaged pictures | of them claimed | of them bit-exact in the result | PSNR of differing pictures before | after | five equal analyses |',
  '|---|---|---|---|---|---|---|---|---|',
];
