import { stat } from 'node:fs/promises';
import { bothAtOnce } from '#server/media/side-by-side.ts';
import { probe, type MediaInfo } from '#server/media/probe/probe.ts';
import type { MediaSummary, ResultCheck, StreamTreatment } from '#common/report.ts';
import { noteMended } from '../mended-pictures.ts';
import { summarise } from '../publish/build-report.ts';
import { exportVideo } from '../publish/export-video.ts';
import { makePoster, type PosterInput } from '../publish/make-poster.ts';
import { posterMs } from '../publish/poster-time.ts';
import { conversionNote, playsAsIs, type PlaybackNeeds } from '../publish/playback.ts';
import { verifyResult, type Verification } from '../publish/verify-result.ts';
import { composeEdit, plannedPictures } from '../repair/compose-edit.ts';
import { layOver } from '../repair/lay-over.ts';
import { REBUILT_WITH_DAMAGE, type RepairPlan } from '../repair/plan-repair.ts';
import type { Verdict } from '../repair/picture-task.ts';
import { repairPictures, type PictureRepair } from '../repair/repair-pictures.ts';
import { hashFile } from './step-store.ts';
import type { TimedClip } from './analyse-step.ts';
import { openingVerdicts, withoutPutBack } from './opening-verdicts.ts';
import { changesSound, gentler, toDropped, type Attempt } from './gentler.ts';
import type { JobContext } from './job-context.ts';
import { planSecondRound, SECOND_ROUND } from './second-round.ts';
import { exportCostMs, picturesToRepaint } from './step-costs.ts';
import type { SoundRepair } from './sound-step.ts';
import { storedExport } from './stored-values.ts';

export interface ExportWork {
  readonly opened: TimedClip;
  readonly plan: RepairPlan;
  readonly needs: PlaybackNeeds;
  readonly cuts: readonly PictureRepair[];
  readonly frames: readonly PictureRepair[];
  readonly sound: SoundRepair;
}

export interface ExportOutcome {
  /** Null if nothing was changed: the original is the result. */
  readonly resultPath: string | null;
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly media: MediaSummary;
  readonly posterPath: string | null;
  readonly video: StreamTreatment;
  readonly audio: StreamTreatment;
  readonly verdicts: readonly Verdict[];
  readonly checks: readonly ResultCheck[];
  readonly notes: readonly string[];
}

/** Attempts may drop blamed repairs, then smart render, then all picture repairs, then the sound's. */
const MAX_ATTEMPTS = 5;

/**
 * Share of the step that is done when the checks end; the result is hashed after that. Measured by: npm run bench --
 * progress.
 */
const CHECKED = 0.94;

/** Writes the clip, checks it, drops repairs that do not hold, and makes the poster. */
export async function exportStep(job: JobContext, work: ExportWork): Promise<ExportOutcome> {
  const { meter, store, steps } = job;
  steps.set('exporting', 'running');
  const { writeMs, checkMs } = costOf(work);
  meter.begin('exporting', writeMs + checkMs, 0);
  const { value, tookMs } = await store.run('exporting', storedExport, async () => {
    const outcome = await exportUntilItHolds(job, work);
    const files = [outcome.resultPath, outcome.posterPath].filter((file) => file !== null);
    const hashes = new Map(outcome.resultPath === null ? [] : [[outcome.resultPath, outcome.sha256]]);
    return { value: outcome, files, hashes };
  });
  meter.end();
  if (value.resultPath === null) {
    const left = value.verdicts.some(({ outcome }) => outcome === 'left_alone');
    const why = left ? 'Nothing could be repaired' : 'Nothing was wrong';
    steps.set('exporting', 'not_needed', `${why}: the clip is handed back byte for byte.`, tookMs);
  } else {
    const passed = value.checks.filter((check) => check.passed).length;
    steps.set('exporting', 'done', `${passed} of ${value.checks.length} checks passed.`, tookMs);
  }
  return value;
}

function costOf({ opened, needs, cuts, frames, sound }: ExportWork) {
  const { info, pictures } = opened.analysis;
  const stretches = [...cuts, ...frames].map(
    ({ span: { firstFrame, endFrame, pictures: made, mendsDamage } }) => ({
      firstFrame,
      keepsCount: made.length === endFrame - firstFrame,
      isDamage: mendsDamage === true,
    }),
  );
  const repaint =
    needs.video !== null
      ? 'all'
      : picturesToRepaint(stretches, pictures?.keyframe ?? [], info.video[0]?.codec);
  return exportCostMs(opened.pace, { repaint, sound: changesSound(sound) });
}

async function exportUntilItHolds(job: JobContext, work: ExportWork): Promise<ExportOutcome> {
  let attempt: Attempt = {
    pictures: [...work.cuts, ...work.frames],
    sound: work.sound,
    encodeAll: false,
    dropped: [],
    notes: [],
  };
  for (let number = 1; number <= MAX_ATTEMPTS; number += 1) {
    if (!changesAnything(work, attempt)) break;
    const done = await tryExport(job, work, attempt, `${number}`);
    const better = number === 1 ? await mendAgain(job, work, attempt, done) : null;
    if (better !== null) return better.outcome;
    const next = number < MAX_ATTEMPTS ? gentler(attempt, done, work) : null;
    if (next === null) return done.outcome;
    job.live.settle(next.dropped);
    attempt = next;
  }
  return unchanged(job, work, attempt);
}

/**
 * Repairs once more from the original, with what the first result shows. Null if nothing is to be done, or if the
 * second result does not hold.
 */
async function mendAgain(
  job: JobContext,
  work: ExportWork,
  first: Attempt,
  done: Done,
): Promise<Done | null> {
  const { opened } = work;
  const { verdicts, remaining: shown } = done.verification;
  const planned = plannedPictures(
    opened.analysis.pictures?.ptsTicks ?? [],
    composeEdit(layOver(first.pictures).spans),
  );
  const dropped = first.dropped.map(({ finding }) => finding);
  const round = planSecondRound({
    analysis: opened.analysis,
    planned,
    shown,
    verdicts,
    resultInfo: done.info,
    dropped,
    limits: job.task.limits,
  });
  if (round === null) return null;
  const { repairs } = await repairPictures({
    inputPath: opened.path,
    analysis: round.analysis,
    tasks: round.tasks,
    allTasks: round.tasks,
    rawPath: (index) => job.store.file(`again-${index}.raw`),
    tools: job.task.tools,
    signal: job.signal,
  });
  const attempt = { ...first, pictures: repairs, notes: [...first.notes, SECOND_ROUND] };
  const again = { ...work, plan: round.plan, opened: { ...opened, analysis: round.analysis } };
  const second = await tryExport(job, again, attempt, 'again');
  return gentler(attempt, second, again) === null ? second : null;
}

function changesAnything(work: ExportWork, { pictures, sound }: Attempt): boolean {
  const { rebuilt, putBack } = work.opened;
  const isOpenedOtherwise = rebuilt !== null || putBack !== undefined;
  return pictures.length > 0 || changesSound(sound) || isOpenedOtherwise || !playsAsIs(work.needs);
}

interface Done {
  readonly outcome: ExportOutcome;
  /** What the finished clip declares. */
  readonly info: MediaInfo;
  readonly verification: Verification;
}

async function tryExport(job: JobContext, work: ExportWork, attempt: Attempt, name: string): Promise<Done> {
  const { task, signal, meter } = job;
  const { analysis, path: inputPath } = work.opened;
  const laid = layOver(attempt.pictures);
  const edit = composeEdit(laid.spans);
  const { writeMs, checkMs } = costOf(work);
  const writeShare = (CHECKED * writeMs) / (writeMs + checkMs);
  const exported = await exportVideo({
    inputPath,
    info: analysis.info,
    pictures: analysis.pictures,
    edit,
    audio: attempt.sound.audio,
    needs: work.needs,
    encodeAll: attempt.encodeAll,
    workDir: task.workDir,
    name: `result-${name}`,
    tools: task.tools,
    limits: task.limits,
    signal,
    onProgress: (share) => meter.report(share * writeShare),
  });
  const rebuilt = laid.dropped.map((verdict) => toDropped(verdict, REBUILT_WITH_DAMAGE));
  const concealedLost = new Set(exported.concealedLost);
  const laidNow = laid.verdicts.map((verdict) => asConcealed(verdict, concealedLost));
  const repaired = [...laidNow, ...rebuilt, ...attempt.sound.verdicts];
  const resultInfo = exported.info ?? (await probe(task.tools, exported.path, 'mov', signal));
  const verify = (ended: AbortSignal) =>
    verifyResult({
      resultPath: exported.path,
      resultInfo,
      inputPath,
      analysis,
      edit,
      verdicts: [...repaired, ...attempt.dropped, ...work.plan.left, ...openingVerdicts(work.opened)],
      video: exported.video,
      audio: exported.audio,
      soundShiftMs: attempt.sound.audio.kind === 'copy' ? attempt.sound.audio.shiftMs : null,
      reencodedSpans: exported.reencodedSpans,
      recounted: exported.recounted,
      altered: exported.altered,
      seen: exported.seen,
      tools: task.tools,
      signal: ended,
      onProgress: (share) => meter.report(writeShare + share * (CHECKED - writeShare)),
    });
  const clip = { inputPath: exported.path, info: resultInfo, atMs: posterMs(analysis, edit, resultInfo) };
  // The checks use one core for most of their time.
  const [verification, posterPath] = await bothAtOnce(signal, verify, (ended) => poster(job, clip, ended));
  if (exported.path !== inputPath) await noteMended(exported.path, edit, analysis);
  const sha256 = await hashFile(exported.path);
  const { size } = await stat(exported.path);
  const note = conversionNote(work.needs);
  const outcome: ExportOutcome = {
    resultPath: exported.path,
    sha256,
    sizeBytes: size,
    media: summarise(resultInfo, verification.pictures),
    posterPath,
    video: withoutPutBack(exported.video, work.opened),
    audio: exported.audio,
    verdicts: verification.verdicts,
    checks: verification.checks,
    notes: [...attempt.notes, ...(note === null ? [] : [note]), ...exported.notes],
  };
  return { outcome, info: resultInfo, verification };
}

/**
 * Rewords the verdict on reference pictures that were lost from the file.
 * @param concealedLost originals before which they were filled in like damaged ones
 */
function asConcealed(verdict: Verdict, concealedLost: ReadonlySet<number>): Verdict {
  const { kind, firstFrame } = verdict.finding;
  if (kind !== 'dropped_frames' || firstFrame === null || !concealedLost.has(firstFrame + 1)) return verdict;
  return { ...verdict, explanation: CONCEALED_LOST };
}

const CONCEALED_LOST =
  'Filled in from the frames around it, because others build on what was lost here; they keep their own data.';

/** The original is the result, byte for byte. */
async function unchanged(job: JobContext, work: ExportWork, attempt: Attempt): Promise<ExportOutcome> {
  const { analysis, path } = work.opened;
  const { pictures, info } = analysis;
  const atMs = posterMs(analysis, [], info);
  const { size } = await stat(path);
  const kept = (units: number | null): StreamTreatment => {
    return { treatment: 'untouched', reason: null, unitsKept: units, unitsTotal: units };
  };
  const verdicts = [...attempt.dropped, ...attempt.sound.verdicts, ...work.plan.left];
  return {
    resultPath: null,
    sha256: job.task.inputSha256,
    sizeBytes: size,
    media: summarise(info, pictures),
    posterPath: await poster(job, { inputPath: path, info, atMs }, job.signal),
    video: kept(pictures?.ptsTicks.length ?? null),
    audio: info.audio.length > 0 ? kept(null) : { ...kept(null), treatment: 'absent' },
    verdicts,
    checks: [],
    notes: attempt.notes,
  };
}

/** @returns the file; null when the clip has no picture there */
async function poster(
  { task, store }: JobContext,
  clip: Pick<PosterInput, 'inputPath' | 'info' | 'atMs'>,
  signal: AbortSignal,
): Promise<string | null> {
  const outputPath = store.file('poster.jpg');
  return (await makePoster({ ...clip, outputPath, tools: task.tools, signal })) ? outputPath : null;
}
