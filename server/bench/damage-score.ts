import { readFile, rm } from 'node:fs/promises';
import type { RepairReport } from '#common/report.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { probe } from '#server/media/probe/probe.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { analysePicture } from '#server/pipeline/analyse/analyse-picture.ts';
import { hashPictures } from '#server/pipeline/publish/packet-hashes.ts';

/** Luma PSNR against the clean original below which a picture counts as visibly damaged, dB (the goal's own limit). */
const VISIBLE_DB = 42;
/** Analyses of one broken clip that must agree. */
const ANALYSES = 5;

/** What damaged data did to the pictures of one clip, and what was found and saved of it. */
export interface DamageScore {
  /** Pictures below `VISIBLE_DB` against the clean original, and those of them inside claimed spans. */
  readonly visible: number;
  readonly visibleClaimed: number;
  /** Pictures that decode to the very same values as in the clean original, and those inside claimed spans. */
  readonly undamaged: number;
  readonly undamagedClaimed: number;
  /** Undamaged pictures that are still the very same values in the result. */
  readonly undamagedKept: number;
  /** Stretches of visible damage, and those that a claim touches. */
  readonly stretches: number;
  readonly stretchesFound: number;
  /** Claims without a single picture that differs from the clean original. */
  readonly wrongClaims: number;
  /** Mean squared error of the pictures that differed, before and after the repair, for a mean PSNR. */
  readonly errorBefore: number;
  readonly errorAfter: number;
  readonly differing: number;
  /** Five analyses of the broken clip gave one answer. */
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

/** Entries of the report that count as claims. */
const CLAIM_CONFIDENCE = 0.6;

/**
 * Holds a damaged clip and its repair against the clean original, picture by picture. The damage is planted
 * in place, so that the three clips have the same pictures at the same times.
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
  /** Mean squared error of the luma. */
  readonly error: number;
  readonly equal: boolean;
}

/** Error of each picture of `path` against the one shown at the same time in `truth`. */
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
      // Two decimals are printed: an error below that is told by the decibels, which are then finite.
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

/** Rising numbers as runs without a hole. */
function toStretches(numbers: readonly number[]): number[][] {
  const runs: number[][] = [];
  for (const number of numbers) {
    const run = runs.at(-1);
    if (run && run.at(-1) === number - 1) run.push(number);
    else runs.push([number]);
  }
  return runs;
}

/** All scores of one kind of damage as one row: shares of pictures over all clips, mean PSNR of what differed. */
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
