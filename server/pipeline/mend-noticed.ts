import path from 'node:path';
import { mkdir } from 'node:fs/promises';
import { changesOf, HAND_FIX_OF, seenAs, type Noticed, type NoticedPlace } from '#common/noticed.ts';
import type { Defect, RepairReport } from '#common/report.ts';
import { probe } from '#server/media/probe/probe.ts';
import { apartFrom, isMarked } from './analyse/noticed/judge-noticed.ts';
import { looksMended, measureMended, type MendedPlace } from './analyse/noticed/measure-mended.ts';
import { clock, summarise } from './publish/build-report.ts';
import { markedWords, toMarkedReport } from './publish/marked-report.ts';
import { processVideo } from './process-video.ts';
import { reportNoticed } from './report-noticed.ts';
import {
  asResult,
  describeFile,
  keepOtherTracks,
  keepRecord,
  openClip,
  type ApplyFixesIo,
} from './repair/quick-fixes/apply-fixes.ts';
import type { Clip } from './repair/quick-fixes/change-sound.ts';
import { figure } from './repair/quick-fixes/clip-facts.ts';
import { createFixJob, type FixJob } from './repair/quick-fixes/fix-job.ts';
import { moveSound, MOVE_COST } from './repair/quick-fixes/move-sound.ts';
import type { ApplyFixesResult, ApplyFixesTask, FailedTask, WorkerMessage } from './worker-protocol.ts';

/** Cost of finding and mending places, in which `MOVE_COST` is told: the steps of a repair, and a look at the result. */
const MEND_COST = 4;
const LOOK_COST = 1;

const NOTHING_THERE = {
  freeze: 'no frames were found that stand still while something moves before and after them',
  jump: 'no step was found that goes farther than those around it; at a change of scene there is nothing to mend',
} as const;

/**
 * Mends what somebody noticed in a finished clip: freezes and jumps at marked places by the steps of a repair, with
 * slighter signs (`judgeNoticed`), and a sound that is moved by hand. Each place is measured again on the result. It
 * throws nothing for a clip that cannot be mended; nothing that was not marked is changed.
 */
export function mendNoticed(
  task: ApplyFixesTask,
  noticed: Noticed,
  io: ApplyFixesIo,
): Promise<ApplyFixesResult> {
  const job = createFixJob(task, io.signal, io.send, changesOf(noticed));
  return asResult(io.signal, () => run(job, noticed));
}

async function run(job: FixJob, { places, soundShiftMs }: Noticed): Promise<ApplyFixesResult> {
  job.stages.expect((places.length > 0 ? MEND_COST + LOOK_COST : 0) + (soundShiftMs === 0 ? 0 : MOVE_COST));
  const source = await openClip(job);
  const mended = places.length > 0 ? await mendPlaces(job, places) : UNCHANGED;
  if ('code' in mended) return mended;
  const clip = mended.clip ?? source;
  const { clip: moved, sound } =
    soundShiftMs === 0 ? { clip, sound: null } : await moveSound(job, clip, soundShiftMs);
  // What turned out not to be needed is not expected any more.
  job.stages.leave(0);
  const final = sound === null ? clip : await keepOtherTracks(job, clip, moved);
  // A repair of the pictures keeps the record itself.
  await keepRecord(job, clip, final, soundShiftMs);
  const made = final === source ? null : await describeFile(final.path);
  return {
    ok: true,
    clip: made && {
      ...made,
      media: summarise(final.info, null),
      posterPath: mended.clip ? mended.posterPath : null,
      ...(sound && { soundMovedMs: soundShiftMs }),
      report: await reportNoticed(job, { source, final, made, report: mended.report, sound }),
    },
    exports: [],
    fixes: job.outcomes.list(),
  };
}

interface MendedPictures {
  /** Null when no place could be mended. */
  readonly clip: Clip | null;
  readonly posterPath: string | null;
  /** Of the clip; null without one. */
  readonly report: RepairReport | null;
}

const UNCHANGED: MendedPictures = { clip: null, posterPath: null, report: null };

async function mendPlaces(
  job: FixJob,
  places: readonly NoticedPlace[],
): Promise<MendedPictures | FailedTask> {
  const { task, signal, stages, outcomes } = job;
  outcomes.working(changesOf({ places, soundShiftMs: 0 }));
  const workDir = path.join(task.workDir, 'places');
  await mkdir(workDir, { recursive: true });
  const result = await stages.run(MEND_COST, (onProgress) =>
    processVideo(
      {
        kind: 'process-video',
        videoId: task.videoId,
        inputPath: task.inputPath,
        inputSha256: task.inputSha256,
        workDir,
        tools: task.tools,
        limits: task.limits,
        reelmendVersion: task.reelmendVersion,
        referencePaths: [],
        places,
      },
      { signal, send: (message: WorkerMessage) => message.type === 'progress' && onProgress(message.share) },
    ),
  );
  if (!result.ok) return result;
  const { resultPath, posterPath, report } = result;
  const clip = resultPath === null ? null : await open(job, resultPath);
  const marked = report.defects.filter(isMarked);
  const after = clip
    ? await stages.run(LOOK_COST, (onProgress) =>
        measureMended({ ...job, clip, defects: report.defects, onProgress }),
      )
    : new Map<string, MendedPlace>();
  const helped = [...after.values()].some(looksMended);
  tellPlaces(job, places, marked, after);
  return clip && helped
    ? { clip, posterPath, report: toMarkedReport(report, [...places], after) }
    : UNCHANGED;
}

async function open({ task, signal }: FixJob, clipPath: string): Promise<Clip> {
  return { path: clipPath, info: await probe(task.tools, clipPath, 'mov', signal) };
}

function tellPlaces(
  { outcomes }: FixJob,
  places: readonly NoticedPlace[],
  marked: readonly Defect[],
  after: ReadonlyMap<string, MendedPlace>,
): void {
  const meant = assign(places, marked);
  for (const kind of ['freeze', 'jump'] as const) {
    const mine = places.filter((place) => place.kind === kind).sort((a, b) => a.atMs - b.atMs);
    if (mine.length === 0) continue;
    const told = mine.map((place) => tellPlace(place, meant.get(place), after));
    const state = told.some(({ isMended }) => isMended) ? 'applied' : 'unchanged';
    const figures = new Map(told.flatMap((one) => one.figures).map((one) => [one.name, one]));
    const words = new Set(told.map((one) => one.words));
    outcomes.settle(HAND_FIX_OF[kind], state, [...words].join(' '), [...figures.values()]);
  }
}

/** What each mark means: the nearest defect of its kind, or else one that no other mark means. */
function assign(places: readonly NoticedPlace[], marked: readonly Defect[]): Map<NoticedPlace, Defect> {
  const meant = new Map<NoticedPlace, Defect>();
  const give = (fits: (place: NoticedPlace, defect: Defect) => boolean) => {
    for (const place of places.filter((one) => !meant.has(one))) {
      const near = marked.flatMap((defect) => {
        const apartMs = fits(place, defect) ? apartFrom(defect, place) : null;
        return apartMs === null ? [] : [{ defect, apartMs }];
      });
      const [nearest] = near.sort((a, b) => a.apartMs - b.apartMs);
      if (nearest) meant.set(place, nearest.defect);
    }
  };
  give(({ kind }, defect) => kind === seenAs(defect));
  const taken = new Set(meant.values());
  give((_, defect) => !taken.has(defect));
  return meant;
}

function tellPlace(place: NoticedPlace, defect: Defect | undefined, after: ReadonlyMap<string, MendedPlace>) {
  const untold = { isMended: false, figures: [] };
  if (!defect) return { ...untold, words: `At ${clock(place.atMs)}: ${NOTHING_THERE[place.kind]}.` };
  const measured = after.get(defect.id);
  const words = markedWords(defect, measured);
  if (defect.outcome !== 'repaired' || !measured) return { ...untold, words };
  const percent = (share: number | null) => (share === null ? null : 100 * share);
  const name = `motion at ${clock(defect.startMs)}, of that around it`;
  const figures = [figure(name, '%', percent(measured.before), percent(measured.after))];
  return { isMended: looksMended(measured), words, figures };
}
