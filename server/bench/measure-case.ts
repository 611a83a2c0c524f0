import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { isRebuiltIndex } from '#common/report.ts';
import { probe } from '#server/media/probe/probe.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import type { Finding } from '#server/pipeline/analyse/analysis.ts';
import { analysePicture } from '#server/pipeline/analyse/analyse-picture.ts';
import { processVideo } from '#server/pipeline/process-video.ts';
import { makeTask } from '#server/test/media-job.ts';
import { seededRandom } from '#server/test/seeded-random.ts';
import { scoreDamage, type DamageScore } from './damage-score.ts';
import { measureMotionNoise, type MotionNoise } from './motion-noise.ts';
import {
  countOwnClaims,
  scoreDefects,
  type BrokenClip,
  type DefectCase,
  type Score,
} from './repair-cases.ts';
import { measureRepair, type RepairQuality } from './repair-quality.ts';
import type { SourceClip } from './repair-sources.ts';
import type { CaseFigures } from './repair-table.ts';
import { isAudible } from './sound-residual.ts';

export interface BenchSetting {
  /** For working files. */
  readonly folder: string;
  readonly tools: ToolPaths;
  readonly seed: number;
  /** Whether to stop after the analysis. */
  readonly analyseOnly: boolean;
}

/** Plants one kind of defect in every clip, repairs or only analyses them, and counts what was found. */
export async function measureCase(
  defect: DefectCase,
  sources: readonly SourceClip[],
  setting: BenchSetting,
): Promise<CaseFigures> {
  const random = seededRandom(setting.seed);
  const clips: MeasuredClip[] = [];
  for (const { name, base } of sources) {
    const clip = 'reason' in base ? null : await plantIn({ name, ...base }, defect, random, setting);
    if (clip) clips.push(await (setting.analyseOnly ? analyse : repair)(clip, defect, setting));
  }
  const scores = clips.flatMap(({ score }) => score ?? []);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  return {
    name: defect.name,
    clips: clips.length,
    own: sum(scores.map(({ own }) => own)),
    found: sum(scores.map(({ found }) => found)),
    missed: sum(scores.map(({ missed }) => missed)),
    wrong: sum(scores.map(({ wrong }) => wrong)),
    positionErrors: scores.flatMap(({ positionErrors }) => positionErrors),
    aboveNoise: isHidden(defect)
      ? {
          planted: sum(scores.map(({ aboveNoise }) => aboveNoise.planted)),
          found: sum(scores.map(({ aboveNoise }) => aboveNoise.found)),
        }
      : null,
    quality: clips.flatMap(({ quality }) => quality ?? []),
    damage: clips.flatMap(({ damage }) => damage ?? []),
    notes: clips.flatMap(({ notes }) => notes),
  };
}

/** A clip with planted defects. */
interface PlantedClip {
  readonly name: string;
  readonly cleanPath: string;
  readonly brokenPath: string;
  readonly places: readonly number[];
  readonly planted: BrokenClip;
  /** What the analysis claims about the clean clip. */
  readonly cleanFindings: readonly Finding[];
  /** Null unless the place decides whether a defect can be found at all. */
  readonly noise: MotionNoise | null;
}

/** What was measured on one clip. */
interface MeasuredClip {
  /** Null when the repair failed. */
  readonly score: ClipScore | null;
  readonly quality?: RepairQuality;
  readonly damage?: DamageScore | null;
  readonly notes: readonly string[];
}

interface ClipScore extends Score {
  /** Wrong claims that the clean clip has at the same place too. */
  readonly own: number;
  /** Losses above the motion noise of the clean clip. */
  readonly aboveNoise: { readonly planted: number; readonly found: number };
}

/** Null where the clip has no place for the defect. */
async function plantIn(
  base: { readonly name: string; readonly path: string; readonly codec: 'h264' | 'hevc' },
  defect: DefectCase,
  random: () => number,
  { folder, tools }: BenchSetting,
): Promise<PlantedClip | null> {
  const { name, path: cleanPath, codec } = base;
  const { places, findings } = await pickPlaces(cleanPath, defect.needsMotion, random, tools);
  if (places.length === 0 || (defect.needsSound && !(await isAudible(cleanPath, tools)))) return null;
  const brokenPath = path.join(folder, 'broken.mp4');
  const files = { inputPath: cleanPath, outputPath: brokenPath };
  const planted = await defect.plant({ tools, ...files, codec, places, random });
  const noise = isHidden(defect) ? await measureMotionNoise(cleanPath, tools) : null;
  return { name, cleanPath, brokenPath, places, planted, cleanFindings: findings, noise };
}

async function analyse(
  clip: PlantedClip,
  defect: DefectCase,
  { tools }: BenchSetting,
): Promise<MeasuredClip> {
  const info = await probe(tools, clip.brokenPath, 'mov');
  const { findings } = await analysePicture({ inputPath: clip.brokenPath, info, tools });
  const score = toClipScore(scoreDefects(findings, defect.kind, clip.planted.truth), clip, defect);
  return { score, notes: noteMissed(clip, score) };
}

async function repair(
  clip: PlantedClip,
  defect: DefectCase,
  { folder, tools }: BenchSetting,
): Promise<MeasuredClip> {
  const { name, cleanPath, brokenPath, planted } = clip;
  const workDir = path.join(folder, 'work');
  await mkdir(workDir, { recursive: true });
  try {
    const task = await makeTask(brokenPath, workDir, { tools });
    const result = await processVideo(task, { signal: new AbortController().signal, send: () => undefined });
    if (!result.ok) return { score: null, notes: [`${name}: ${result.code}`] };
    const { report } = result;
    const repairedPath = result.resultPath ?? brokenPath;
    const files = { clean: cleanPath, broken: brokenPath, repaired: repairedPath };
    const isDamage = defect.kind === 'corrupted_section';
    const damage = isDamage ? await scoreDamage({ ...files, report, workDir, tools }) : null;
    const claims = report.defects.filter(({ action }) => !isRebuiltIndex(action));
    const score = toClipScore(
      damage ? fromDamage(damage) : scoreDefects(claims, defect.kind, planted.truth),
      clip,
      defect,
    );
    const quality = await measureRepair({
      source: cleanPath,
      broken: brokenPath,
      repairedPath,
      result,
      planted,
      defect,
      tools,
    });
    const { video, notes: said } = report;
    const coded =
      video.treatment === 'full_encode'
        ? [`${name}: all pictures coded anew: ${[video.reason, ...said].join('; ')}`]
        : [];
    const notes = [...noteLost(name, damage), ...coded, ...noteMissed(clip, score)];
    return { score, quality, damage, notes };
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}

function toClipScore(score: Score, clip: PlantedClip, defect: DefectCase): ClipScore {
  const { truth } = clip.planted;
  const above = truth.flatMap(({ count }, at) =>
    clip.noise?.isAbove(clip.places[at] ?? 0, count) ? [score.hits[at] === true] : [],
  );
  return {
    ...score,
    own: countOwnClaims(score, clip.cleanFindings, defect, truth),
    aboveNoise: { planted: above.length, found: above.filter(Boolean).length },
  };
}

function noteMissed({ name }: PlantedClip, { missed, wrong, own }: ClipScore): string[] {
  if (missed + wrong === 0) return [];
  const too = own > 0 ? `, ${own} of them claimed in the clean clip too` : '';
  return [`${name}: ${missed} missed, ${wrong} wrong${too}`];
}

/** Undamaged pictures that changed are worth a note from this share on. */
const NOTED_SHARE = 0.01;

function noteLost(name: string, damage: DamageScore | null): string[] {
  if (!damage) return [];
  const { undamaged, undamagedKept } = damage;
  const lost = undamaged - undamagedKept;
  return lost > NOTED_SHARE * undamaged
    ? [`${name}: ${lost} of ${undamaged} undamaged pictures not bit-exact`]
    : [];
}

/** Whether a loss shows only in the motion, so that its place decides whether it can be found at all. */
function isHidden({ kind, needsMotion }: DefectCase): boolean {
  return kind === 'dropped_frames' && needsMotion;
}

/** The score of damaged data counts stretches of visible damage, and claims in which no picture differs. */
function fromDamage({ stretches, stretchesFound, wrongClaims }: DamageScore): Score {
  return {
    found: stretchesFound,
    missed: stretches - stretchesFound,
    wrong: wrongClaims,
    positionErrors: [],
    hits: [],
    wrongClaims: [],
  };
}

/**
 * Picks up to three places with moving surroundings, at least a second and a half apart and away from both ends. Also
 * returns what the analysis claims about the unchanged clip.
 */
async function pickPlaces(
  file: string,
  needsMotion: boolean,
  random: () => number,
  tools: ToolPaths,
): Promise<{ readonly places: number[]; readonly findings: readonly Finding[] }> {
  const info = await probe(tools, file, 'mov');
  const { pictures, motion, sceneCuts, findings } = await analysePicture({ inputPath: file, info, tools });
  const count = pictures?.ptsTicks.length ?? 0;
  const rate = info.video[0]?.frameRate ?? 30;
  const series = motion?.motion ?? [];
  const fit: number[] = [];
  for (let frame = Math.ceil(rate); frame < count - rate; frame += 1) {
    const around = series.slice(frame - 8, frame + 16);
    const nearCut = sceneCuts.some((cut) => Math.abs(cut - frame) < 16);
    if (nearCut || (needsMotion && Math.min(...around) < LIVE_MOTION)) continue;
    fit.push(frame);
  }
  const places: number[] = [];
  for (let tries = 0; tries < 60 && places.length < 3 && fit.length > 0; tries += 1) {
    const frame = fit[Math.floor(random() * fit.length)] ?? 0;
    if (places.every((place) => Math.abs(place - frame) >= rate * 1.5)) places.push(frame);
  }
  return { places: places.sort((a, b) => a - b), findings };
}

/** The busiest blocks change by at least this many grey levels from picture to picture: clearly above sensor noise. */
const LIVE_MOTION = 3;
