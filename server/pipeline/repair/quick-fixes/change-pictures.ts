import path from 'node:path';
import { rm } from 'node:fs/promises';
import type { FixFigure } from '#common/api/quick-fixes.ts';
import { probe, type MediaInfo } from '#server/media/probe/probe.ts';
import { CODING_WALL_MS, runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { MediaToolError } from '#server/media/ffmpeg/tools.ts';
import { shakeFigure, type VisualStep } from './build-fixes.ts';
import { figure, type ClipFacts } from './clip-facts.ts';
import { makeCopy } from '../../encode/make-copy.ts';
import { changedCopy, changesEachAlone, lookAtMotionPlan } from './encode-plans.ts';
import type { FixJob } from './fix-job.ts';
import { lookAtClip, type LookedAt } from './look-at-clip.ts';
import { measureEdges } from './measure-edges.ts';
import { COST } from './measure-facts.ts';
import { castPercent, measureLight, type LightFigures } from './measure-light.ts';
import { lightHelped } from './plan-light.ts';
import { isRefusal } from './refusal.ts';
import { hasFilterOption } from './tool-filters.ts';

export interface ChangedPictures {
  readonly path: string;
  readonly info: MediaInfo;
  readonly posterMs: number | null;
}

/** The new shake must be below this share of the old one. */
const STEADIER = 0.8;
/** In a stabilized clip fewer pictures move as a whole; those that still do show how much shake is left. */
const LEAST_EXPLAINED = 0.03;
/** The new edges must be steeper by this factor. Moving pictures costs sharpness, most of which must come back. */
const SHARPER = { alone: 1.03, stabilized: 0.9 } as const;
/** If the middle of tone-mapped pictures lies outside these levels, they are too dark or too pale to show. */
const TONE_MAPPED_MIDDLE = { least: 12, most: 215 } as const;

interface After {
  readonly looked: LookedAt;
  readonly light: LightFigures | null;
  readonly edges: number | null;
}

interface Judgement {
  readonly helped: boolean;
  readonly detail: string;
  readonly figures: readonly FixFigure[];
}

/**
 * Encodes the pictures once with all steps, measures the result with the same detectors, drops steps that did not help,
 * and then encodes again without them.
 * @returns null when no step is left: the clip keeps its coded pictures
 * @throws MediaToolError when the run is cancelled or stalls, or the disk is full
 */
export async function changePictures(
  job: FixJob,
  facts: ClipFacts,
  before: LookedAt,
  steps: readonly VisualStep[],
): Promise<ChangedPictures | null> {
  const fixes = steps.map(({ fix }) => fix);
  if (steps.length === 0) return null;
  job.outcomes.working(fixes);
  try {
    return await codeAndJudge(job, facts, before, steps);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const detail = 'The picture of this clip could not be changed, so it was left as it is.';
    job.tellRefusal(fixes, error);
    for (const fix of fixes) job.outcomes.settle(fix, 'failed', detail);
    return null;
  }
}

async function codeAndJudge(
  job: FixJob,
  facts: ClipFacts,
  before: LookedAt,
  steps: readonly VisualStep[],
): Promise<ChangedPictures | null> {
  const { task, signal, stages, outcomes } = job;
  const { info, stream, limits } = facts;
  const motionPath = path.join(task.workDir, 'motion.trf');
  const clip = { inputPath: task.inputPath, info, stream, motionPath, limits };
  const tooling = { tools: task.tools, signal };
  if (steps.some((step) => step.fix === 'stabilize' && step.looks)) {
    const asText = await hasFilterOption(task.tools, 'vidstabdetect', 'fileformat', signal);
    const plan = lookAtMotionPlan({ ...clip, steps, asText });
    await stages.run(COST.motion, (onProgress) =>
      runFfmpeg(plan, {
        ...tooling,
        wallMs: CODING_WALL_MS,
        onProgress: ({ share }) => share !== null && onProgress(share),
      }),
    );
  }
  let left = steps;
  for (let attempt = 0; left.length > 0; attempt += 1) {
    const outputPath = path.join(task.workDir, `pictures-${attempt}.mp4`);
    const change = { ...clip, steps: left };
    await stages.run(COST.code, (onProgress) =>
      makeCopy({
        ...tooling,
        recipe: changedCopy(change),
        inPieces: changesEachAlone(change),
        workDir: task.workDir,
        outputPath,
        onProgress,
        onPiece: job.madeHeadway,
      }),
    );
    const codedInfo = await probe(task.tools, outputPath, 'mov', signal);
    const after = await lookAfter(job, outputPath, codedInfo, left);
    mustBeWhole(before, after.looked, info, codedInfo);
    const judged = left.map((step) => ({ step, judgement: judge(step, facts, after, left) }));
    const failed = judged.filter(({ judgement }) => !judgement.helped);
    for (const { step, judgement } of failed)
      outcomes.settle(step.fix, 'unchanged', judgement.detail, judgement.figures);
    if (failed.length === 0) {
      for (const { step, judgement } of judged)
        outcomes.settle(step.fix, 'applied', judgement.detail, judgement.figures);
      return { path: outputPath, info: codedInfo, posterMs: after.looked.posterMs };
    }
    await rm(outputPath, { force: true });
    if (failed.length < left.length) stages.expect(COST.code + COST.look);
    left = judged.filter(({ judgement }) => judgement.helped).map(({ step }) => step);
  }
  return null;
}

async function lookAfter(
  { task, signal, stages }: FixJob,
  inputPath: string,
  info: MediaInfo,
  steps: readonly VisualStep[],
): Promise<After> {
  const { tools, limits } = task;
  const clip = { inputPath, info, tools, signal };
  const { threads } = limits;
  const looked = await stages.run(COST.look, (onProgress) =>
    lookAtClip({ ...clip, leastExplained: LEAST_EXPLAINED, onProgress }),
  );
  if (!looked) throw new MediaToolError('tool_failed', 'change the pictures: none came out.');
  const has = (fix: VisualStep['fix']) => steps.some((step) => step.fix === fix);
  const light = has('color-correct')
    ? await stages.run(COST.sample, (onProgress) => measureLight({ ...clip, threads, onProgress }))
    : null;
  const edges = has('sharpen')
    ? await stages.run(COST.sample, (onProgress) => measureEdges({ ...clip, threads, onProgress }))
    : null;
  return { looked, light, edges };
}

/** Largest distance between the ends of tracks, ms: one picture of a slow clip. */
const LENGTH_TOLERANCE_MS = 150;

/** @throws MediaToolError unless the new pictures match those of the clip one by one */
function mustBeWhole(before: LookedAt, after: LookedAt, from: MediaInfo, to: MediaInfo): void {
  const apartMs = Math.abs((from.video[0]?.durationMs ?? 0) - (to.video[0]?.durationMs ?? 0));
  const faults = [
    after.pictures === before.pictures ? null : `${after.pictures} of ${before.pictures} pictures`,
    after.damaged === 0 ? null : `${after.damaged} damaged stretches`,
    after.rising ? null : 'times do not rise',
    apartMs <= LENGTH_TOLERANCE_MS ? null : `ends ${Math.round(apartMs)} ms apart`,
    to.audio.length > 0 || from.audio.length === 0 ? null : 'no sound',
  ].filter((fault) => fault !== null);
  if (faults.length > 0)
    throw new MediaToolError('tool_failed', `the changed pictures are not whole: ${faults.join(', ')}`);
}

function judge(step: VisualStep, facts: ClipFacts, after: After, all: readonly VisualStep[]): Judgement {
  switch (step.fix) {
    case 'stabilize':
      return judgeShake(facts.shake, after.looked.shake);
    case 'sharpen':
      return judgeEdges(
        facts.edges,
        after.edges,
        all.some(({ fix }) => fix === 'stabilize'),
      );
    case 'color-correct':
      return step.hdr ? judgeToneMap(after.light) : judgeLight(step, facts.light, after.light);
  }
}

function judgeShake(before: number | null, after: number | null): Judgement {
  const figures = [shakeFigure(before, after)];
  if (before === null || after === null || after >= before * STEADIER) {
    const detail = 'Stabilizing did not make this clip steadier, so it was left as it is.';
    return { helped: false, detail, figures };
  }
  const percent = Math.round((1 - after / before) * 100);
  return { helped: true, detail: `The camera shakes ${percent} % less.`, figures };
}

function judgeEdges(before: number | null, after: number | null, stabilized: boolean): Judgement {
  const figures = [figure('edge contrast', '% of the contrast', before, after)];
  const least = stabilized ? SHARPER.stabilized : SHARPER.alone;
  if (before === null || after === null || after < before * least) {
    const detail = 'Sharpening showed no effect, so the picture was left as it is.';
    return { helped: false, detail, figures };
  }
  const percent = Math.round((after / before - 1) * 100);
  const detail =
    percent > 0
      ? `Edges are ${percent} % clearer.`
      : 'Edges kept their clarity, which stabilizing alone would cost.';
  return { helped: true, detail, figures };
}

function judgeToneMap(after: LightFigures | null): Judgement {
  const { least, most } = TONE_MAPPED_MIDDLE;
  if (!after || after.middle < least || after.middle > most) {
    const detail = 'Converting the high dynamic range gave no usable picture, so it was left as it is.';
    return { helped: false, detail, figures: [] };
  }
  return {
    helped: true,
    detail: 'High dynamic range was converted to standard colours (BT.709), which every player shows alike.',
    figures: [figure('middle brightness', 'of 255', null, after.middle)],
  };
}

function judgeLight(
  { setting }: Extract<VisualStep, { hdr: false }>,
  before: LightFigures | null,
  after: LightFigures | null,
): Judgement {
  const figures = [
    figure('middle brightness', 'of 255', before?.middle ?? null, after?.middle ?? null),
    figure('colour cast', '%', before && castPercent(before), after && castPercent(after)),
  ];
  if (!before || !after || !lightHelped(before, after, setting)) {
    return {
      helped: false,
      detail: 'The correction did not improve light or colours, so it was dropped.',
      figures,
    };
  }
  const words = { dark: 'brightened', flat: 'given more contrast', cast: 'freed of a colour cast' };
  const done = setting.reasons.map((reason) => words[reason]);
  return {
    helped: true,
    detail: `The clip was ${done.join(' and ')}, with one setting all through.`,
    figures,
  };
}
