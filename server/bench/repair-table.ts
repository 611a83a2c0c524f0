import { DAMAGE_HEAD, damageRow, type DamageScore } from './damage-score.ts';
import type { RepairQuality } from './repair-quality.ts';
import { timeLines, type TimeFigures } from './repair-time.ts';

export interface CaseFigures {
  readonly name: string;
  readonly clips: number;
  readonly found: number;
  readonly missed: number;
  readonly wrong: number;
  /** Wrong claims that the clean clip has at the same place too. */
  readonly own: number;
  readonly positionErrors: readonly number[];
  readonly quality: readonly RepairQuality[];
  /**
   * Losses above the motion noise of the clean clip: how many were planted and how many found; null for other cases.
   */
  readonly aboveNoise: { readonly planted: number; readonly found: number } | null;
  /** Scores picture by picture, for damaged data. */
  readonly damage: readonly DamageScore[];
  readonly notes: readonly string[];
}

export interface CleanFigures {
  readonly clips: number;
  readonly minutes: number;
  readonly alarms: number;
  readonly untouched: number;
  readonly notes: readonly string[];
}

export interface BenchResult {
  readonly machine: string;
  readonly media: string;
  readonly clips: number;
  /** Clips in which nothing was planted, and why. */
  readonly notPlanted: readonly string[];
  readonly seed: number;
  readonly figures: readonly CaseFigures[];
  readonly clean: CleanFigures | null;
  readonly time: TimeFigures | null;
}

/** The median; null for an empty list. */
export function median(values: readonly number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}

/** Formats the whole result as Markdown. */
export function formatTable(result: BenchResult): string {
  const lines = [
    '## Repair',
    '',
    `Measured on ${result.machine}; ${result.clips} clips (${result.media}), seed ${result.seed}.`,
    ...(result.notPlanted.length > 0
      ? [`Nothing was planted in ${result.notPlanted.length} of them: ${result.notPlanted.join('; ')}.`]
      : []),
    '',
    '| defect | clips | planted | precision | recall | place off (frames) | PSNR over hold | PSNR over blend | PSNR | SSIM | residual ms | kept bit-exact | failed checks |',
    '|---|---|---|---|---|---|---|---|---|---|---|---|---|',
    ...result.figures.map(row),
    '',
    ...result.figures.flatMap(({ name, notes }) => notes.map((note) => `- ${name}: ${note}`)),
  ];
  for (const { name, found, wrong, own } of result.figures) {
    if (own === 0) continue;
    lines.push(
      `- ${name}: ${own} of ${wrong} wrong claims are claimed in the clean clip too; precision without them ${share(found, found + wrong - own)}`,
    );
  }
  for (const { name, aboveNoise } of result.figures) {
    if (!aboveNoise) continue;
    const { planted, found } = aboveNoise;
    lines.push(
      `- ${name}: ${planted} planted above the motion noise of the clean clip, recall ${share(found, planted)}`,
    );
  }
  const damaged = result.figures.filter(({ damage }) => damage.length > 0);
  if (damaged.length > 0) {
    lines.push('', ...DAMAGE_HEAD, ...damaged.map(({ name, damage }) => damageRow(name, damage)));
  }
  if (result.clean) lines.push('', ...cleanLines(result.clean));
  if (result.time) lines.push('', ...timeLines(result.time));
  return `${lines.join('\n')}\n`;
}

function row(figures: CaseFigures): string {
  const { name, clips, found, missed, wrong, quality } = figures;
  const of = (pick: (one: RepairQuality) => number | null) => {
    return median(quality.flatMap((one) => pick(one) ?? []));
  };
  const over = (pick: (one: RepairQuality) => number | null) => {
    return of((one) => {
      const other = pick(one);
      return one.psnrDb === null || other === null ? null : one.psnrDb - other;
    });
  };
  const cells = [
    name,
    clips,
    found + missed,
    share(found, found + wrong),
    share(found, found + missed),
    show(median(figures.positionErrors), 0),
    show(
      over(({ holdDb }) => holdDb),
      2,
    ),
    show(
      over(({ blendDb }) => blendDb),
      2,
    ),
    show(
      of(({ psnrDb }) => psnrDb),
      1,
    ),
    show(
      of(({ ssim }) => ssim),
      3,
    ),
    show(
      of(({ residualMs }) => residualMs),
      1,
    ),
    show(
      of(({ keptShare }) => keptShare),
      3,
    ),
    quality.reduce((sum, { checksFailed }) => sum + checksFailed, 0),
  ];
  return `| ${cells.join(' | ')} |`;
}

function share(part: number, whole: number): string {
  return whole === 0 ? '-' : (part / whole).toFixed(3);
}

function show(value: number | null, digits: number): string {
  return value === null ? '-' : value.toFixed(digits);
}

function cleanLines(clean: CleanFigures): string[] {
  const rate = clean.minutes > 0 ? (clean.alarms / clean.minutes).toFixed(2) : '-';
  return [
    `Clean footage: ${clean.clips} clips, ${clean.minutes.toFixed(1)} minutes, ${clean.alarms} false alarms ` +
      `(${rate} a minute), ${clean.untouched} handed back byte for byte.`,
    ...clean.notes.map((note) => `- ${note}`),
  ];
}
