import {
  makesPlayable,
  REPORT_SCHEMA,
  type CaptionCue,
  type Defect,
  type DefectKind,
  type LostEnds,
  type MediaSummary,
  type RepairReport,
  type ResultCheck,
  type SoundMove,
  type StepRecord,
  type StreamTreatment,
} from '#common/report.ts';
import { MADE_PLAYABLE, NO_ISSUES, type FixesApplied, type VideoIssues } from '#common/video.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import { ACT_CONFIDENCE, type Finding, type PictureTimes } from '../analyse/analysis.ts';
import type { Verdict } from '../repair/picture-task.ts';

export interface ReportInput {
  readonly createdAt: Date;
  readonly outcome: RepairReport['outcome'];
  readonly original: { readonly sha256: string; readonly media: MediaSummary; readonly sizeBytes: number };
  readonly result: { readonly sha256: string; readonly media: MediaSummary; readonly sizeBytes: number };
  readonly tools: RepairReport['tools'];
  readonly video: StreamTreatment;
  readonly audio: StreamTreatment;
  /** Null if the sound stays where it was. */
  readonly soundMove: SoundMove | null;
  /** What the upload lacks at its end; absent if it was not cut off. */
  readonly lostEnds?: LostEnds | undefined;
  readonly steps: readonly StepRecord[];
  readonly verdicts: readonly Verdict[];
  readonly checks: readonly ResultCheck[];
  readonly captions: readonly CaptionCue[];
  readonly notes: readonly string[];
}

/** Makes the repair report of one clip; a pure function of what was found, done and checked. */
export function buildReport(input: ReportInput): RepairReport {
  return {
    schema: REPORT_SCHEMA,
    createdAt: input.createdAt.toISOString(),
    outcome: input.outcome,
    original: { ...input.original },
    result: { ...input.result },
    tools: input.tools,
    video: input.video,
    audio: input.audio,
    ...(input.soundMove === null ? {} : { soundMove: input.soundMove }),
    ...(input.lostEnds && { lostEnds: input.lostEnds }),
    steps: [...input.steps],
    defects: toDefects(input.verdicts),
    checks: [...input.checks],
    captions: [...input.captions],
    notes: [...input.notes],
  };
}

/** Sorts defects by time and numbers them within their kind, e.g. "stuttered_cut-1". */
export function numberDefects<Item>(
  items: readonly Item[],
  findingOf: (item: Item) => Finding,
): { readonly id: string; readonly of: Item }[] {
  const counts = new Map<DefectKind, number>();
  const sorted = [...items].sort((a, b) => findingOf(a).startMs - findingOf(b).startMs);
  return sorted.map((item) => {
    const { kind } = findingOf(item);
    const number = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, number);
    return { id: `${kind}-${number}`, of: item };
  });
}

/** Defects sorted by time, numbered within their kind. */
export function toDefects(verdicts: readonly Verdict[]): Defect[] {
  return numberDefects(verdicts, ({ finding }) => finding).map(({ id, of: verdict }) => {
    const { finding, after, action, outcome } = verdict;
    const { name, unit, threshold, value } = finding.measure;
    return {
      id,
      kind: finding.kind,
      startMs: finding.startMs,
      endMs: finding.endMs,
      firstFrame: finding.firstFrame,
      lastFrame: finding.lastFrame,
      count: finding.count,
      confidence: finding.confidence,
      detector: finding.detector,
      ...(finding.foundIn && { foundIn: finding.foundIn }),
      measure: { name, unit, threshold, before: value, after },
      ...toCurve(verdict),
      action,
      outcome,
      explanation: explain(verdict),
    };
  });
}

function toCurve({ finding, curveAfter }: Verdict): Pick<Defect, 'curve'> {
  if (!finding.curve) return {};
  const { points, ...kind } = finding.curve;
  const measured = points.map(({ atMs, value }, i) => {
    return { atMs, before: value, after: curveAfter?.[i] ?? null };
  });
  return { curve: { ...kind, points: measured } };
}

const FOUND_LATER = 'It showed up only after what stands beside it was mended.';

/** What was found, where, and what became of it, in plain words: "5 missing frames at 0:12.40: ...". */
function explain({ finding, explanation }: Verdict): string {
  const at = clock(finding.startMs);
  const frames = (adjective: string) => {
    return finding.count === 1 ? `1 ${adjective} frame` : `${finding.count} ${adjective} frames`;
  };
  const what: Partial<Record<DefectKind, string>> = {
    stuttered_cut: `${frames('repeated')} at ${at}`,
    dropped_frames: `${frames('missing')} at ${at}`,
    corrupted_section: `${frames('damaged')} from ${at} to ${clock(finding.endMs)}`,
  };
  const head = finding.firstFrame === null ? undefined : what[finding.kind];
  const said = finding.foundIn === 'result' ? `${explanation} ${FOUND_LATER}` : explanation;
  return head === undefined ? said : `${head}: ${said}`;
}

/** Minutes, seconds and hundredths: 0:12.34. */
export function clock(ms: number): string {
  const hundredths = Math.round(Math.max(0, ms) / 10);
  const seconds = (hundredths % 6000) / 100;
  return `${Math.floor(hundredths / 6000)}:${seconds.toFixed(2).padStart(5, '0')}`;
}

/**
 * Issues in the specification's form. Only findings that are certain enough to act on count; weaker ones are in the
 * report alone.
 */
export function toIssues(findings: readonly Finding[]): VideoIssues {
  const sure = findings.filter((finding) => finding.confidence >= ACT_CONFIDENCE);
  const of = (kind: DefectKind) => sure.filter((finding) => finding.kind === kind);
  return {
    ...NO_ISSUES,
    stutteredCuts: of('stuttered_cut').length,
    audioSyncIssues: of('audio_sync').length > 0,
    droppedFrames: of('dropped_frames').reduce((sum, finding) => sum + finding.count, 0),
    corruptedSections: of('corrupted_section').length,
    windNoise: of('wind_noise').length > 0,
    shakyFootage: of('shaky_footage').length > 0,
    poorLighting: of('poor_lighting').length > 0,
    blurrySection: of('blurry_section').length > 0,
  };
}

/** What was really repaired, under the names of the issues; empty if nothing was. */
export function toFixes(verdicts: readonly Verdict[]): FixesApplied {
  const repaired = verdicts.filter((verdict) => verdict.outcome === 'repaired').map(({ finding }) => finding);
  const issues = toIssues(repaired.map((finding) => ({ ...finding, confidence: 1 })));
  const fixes: FixesApplied = {};
  for (const [name, value] of Object.entries(issues)) if (value) fixes[name] = value;
  const playable = verdicts.filter(({ outcome, action }) => outcome === 'repaired' && makesPlayable(action));
  const { corruptedSections } = toIssues(playable.map(({ finding }) => ({ ...finding, confidence: 1 })));
  if (corruptedSections > 0) fixes[MADE_PLAYABLE] = corruptedSections;
  return fixes;
}

/** What a file declares, for the report. */
export function summarise(info: MediaInfo, pictures: PictureTimes | null): MediaSummary {
  const video = info.video[0];
  const audio = info.audio[0];
  return {
    container: info.rewrapped?.from ?? info.format,
    durationMs: info.durationMs ?? video?.durationMs ?? 0,
    videoCodec: video?.codec ?? null,
    width: video?.width ?? null,
    height: video?.height ?? null,
    rotation: video?.rotation ?? null,
    frameCount: pictures?.ptsTicks.length ?? video?.frameCount ?? null,
    frameRate: video?.frameRate ?? null,
    variableFrameRate: pictures?.variableByNature ?? null,
    audioCodec: audio?.codec ?? null,
    sampleRateHz: audio?.sampleRateHz ?? null,
    channels: audio?.channels ?? null,
  };
}
