import { type FixId, isPlatformFix } from '#common/fixes.ts';
import type { MediaInfo, VideoStreamInfo } from '#server/media/probe/probe.ts';
import { analyseAudio } from '../../analyse/analyse-audio.ts';
import type { Analysis } from '../../analyse/analysis.ts';
import { isHdr } from '../full-encode/full-encode-pictures.ts';
import { planRepair } from '../plan-repair.ts';
import { VISUAL_ORDER } from './build-fixes.ts';
import type { ClipFacts } from './clip-facts.ts';
import type { FixJob } from './fix-job.ts';
import { lookAtClip, type LookedAt } from './look-at-clip.ts';
import { measureEdges } from './measure-edges.ts';
import { measureLight } from './measure-light.ts';
import { measureLoudness } from './measure-loudness.ts';
import { COPIED, platformOf, wayOf } from './platform-plan.ts';
import { readFilters } from './tool-filters.ts';

/** Cost of the parts of a request, relative to one strict decode of all pictures. */
export const COST = {
  look: 1,
  sample: 0.6,
  hear: 0.15,
  motion: 1.5,
  code: 4,
  repairSound: 0.6,
  voice: 0.3,
  export: 4,
  copy: 0.2,
} as const;

/** Which measurements a choice of fixes needs. */
export function needsOf(fixes: ReadonlySet<FixId>) {
  const exports = [...fixes].filter(isPlatformFix).length;
  const changesPictures = VISUAL_ORDER.some((fix) => fixes.has(fix));
  return {
    pictures: changesPictures || fixes.has('audio-sync'),
    sound: fixes.has('wind-noise') || fixes.has('audio-sync'),
    loudness: fixes.has('voice-enhance') || exports > 0,
    light: fixes.has('color-correct'),
    edges: fixes.has('sharpen'),
    changesPictures,
    exports,
  };
}

/** Cost of the platform files; those with the same pictures are encoded and checked once. */
function exportCost(fixes: ReadonlySet<FixId>, info: MediaInfo): number {
  const [stream] = info.video;
  if (!stream) return 0;
  const platforms = [...fixes].flatMap((fix) => platformOf(fix) ?? []);
  const ways = platforms.map((platform) => wayOf(info, stream, platform));
  const made = new Set(ways.filter((way) => way !== COPIED));
  const looks = new Set(ways).size;
  return COST.export * made.size + COST.look * looks + COST.copy * ways.length;
}

const sumOf = (parts: readonly (readonly [boolean, number])[]) =>
  parts.reduce((total, [wanted, cost]) => total + (wanted ? cost : 0), 0);

/** Expected cost of a whole request in the units of `COST`. */
export function expectedCost(fixes: ReadonlySet<FixId>, info: MediaInfo): number {
  const needs = needsOf(fixes);
  const measuring = sumOf([
    [needs.pictures, COST.look],
    [needs.sound, COST.hear],
    [needs.loudness, COST.hear],
    [needs.light, COST.sample],
    [needs.edges, COST.sample],
  ]);
  return measuring + makingCost(fixes, info);
}

/** Cost of everything after the measuring, for the fixes that have something to do. */
export function makingCost(fixes: ReadonlySet<FixId>, info: MediaInfo): number {
  const needs = needsOf(fixes);
  const changes = sumOf([
    [needs.sound, COST.repairSound],
    [needs.light, COST.sample],
    [needs.edges, COST.sample],
    [needs.changesPictures, COST.code + COST.look],
    [fixes.has('stabilize'), COST.motion],
    [fixes.has('voice-enhance'), COST.voice + 2 * COST.hear],
  ]);
  return exportCost(fixes, info) + changes;
}

export interface Measured {
  readonly facts: ClipFacts;
  readonly looked: LookedAt | null;
}

/**
 * Measures what the chosen fixes are planned from, and nothing else.
 * @throws MediaToolError when the clip cannot be decoded or the run is cancelled
 */
export async function measureFacts(job: FixJob, info: MediaInfo, stream: VideoStreamInfo): Promise<Measured> {
  const { task, signal, stages } = job;
  const { tools, inputPath } = task;
  const needs = needsOf(new Set(task.fixes));
  const hasSound = info.audio.length > 0;
  const { threads } = task.limits;
  const clip = { inputPath, info, tools, signal };
  const filters = await readFilters(tools, signal);
  const looked = needs.pictures
    ? await stages.run(COST.look, (onProgress) => lookAtClip({ ...clip, onProgress }))
    : null;
  const sound =
    needs.sound && hasSound
      ? await stages.run(COST.hear, (onProgress) => hear(job, info, looked, onProgress))
      : NOT_HEARD;
  const loudness =
    needs.loudness && hasSound
      ? await stages.run(COST.hear, (onProgress) => measureLoudness({ ...clip, onProgress }))
      : null;
  const light =
    needs.light && !isHdr(stream)
      ? await stages.run(COST.sample, (onProgress) => measureLight({ ...clip, threads, onProgress }))
      : null;
  const edges = needs.edges
    ? await stages.run(COST.sample, (onProgress) => measureEdges({ ...clip, threads, onProgress }))
    : null;
  const { limits } = task;
  const facts = {
    info,
    stream,
    filters,
    limits,
    shake: looked?.shake ?? null,
    light,
    edges,
    loudness,
    ...sound,
  };
  return { facts, looked };
}

type SoundFacts = Pick<ClipFacts, 'sound' | 'syncNotes'>;

const NOT_HEARD: SoundFacts = { sound: [], syncNotes: [] };

/** What is wrong with the sound, by the detectors of the repair, which take slighter signs for what was asked for. */
async function hear(
  { task, signal }: FixJob,
  info: MediaInfo,
  looked: LookedAt | null,
  onProgress: (share: number) => void,
): Promise<SoundFacts> {
  const heard = await analyseAudio({
    inputPath: task.inputPath,
    info,
    tools: task.tools,
    signal,
    onProgress,
    windIsHeard: task.fixes.includes('wind-noise'),
    offsetIsSeen: task.fixes.includes('audio-sync'),
    audioPackets: looked?.judged.audioPackets ?? null,
    motion: looked?.judged.motion ?? null,
    soundMovedMs: looked?.soundMovedMs,
  });
  const analysis: Analysis = {
    info,
    pictures: null,
    sceneCuts: [],
    findings: heard.findings,
    speech: heard.speech,
    posterFrame: null,
    notes: [],
  };
  return { sound: planRepair(analysis, task.limits).sound, syncNotes: heard.notes };
}
