import { rm } from 'node:fs/promises';
import { versionOf } from '#server/media/ffmpeg/ffmpeg-names.ts';
import { isToolFailure } from '#server/media/ffmpeg/tools.ts';
import { detailOf } from '#server/error-detail.ts';
import { analyseVideo } from '../analyse/analyse-video.ts';
import { analyseNoticed } from '../analyse/noticed/analyse-noticed.ts';
import { DAMAGED_ANALYSIS, expectedAnalysisMs, openShare } from '../analyse/analysis-costs.ts';
import type { Analysis, Finding } from '../analyse/analysis.ts';
import { openOriginal } from '../open/open-original.ts';
import { putBytesBack, type PutBackClip } from '../repair/changed-bytes/put-bytes-back.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import type { ProgressMeter } from '../progress/progress-meter.ts';
import { isFullDisk, MediaFailure } from '../media-failure.ts';
import { playbackNeeds } from '../publish/playback.ts';
import { createExpectedWork } from './expected-work.ts';
import type { JobContext } from './job-context.ts';
import { paceOf, type ClipPace } from './step-costs.ts';
import { storedClip } from './stored-values.ts';

export interface AnalysedClip {
  /** The original, or its copy with a rebuilt index or in MP4. */
  readonly path: string;
  readonly rebuilt: { readonly notes: readonly string[] } | null;
  readonly analysis: Analysis;
  /** A lost index as a finding of its own; empty if the index was intact. */
  readonly indexFindings: readonly Finding[];
  /** The damage from single changed bytes that are restored in `path`; absent if there was none. */
  readonly putBack?: PutBack;
  /** Time for opening and decoding it, ms. */
  readonly decodedMs: number;
  readonly ffmpegVersion: string;
}

/** Single bytes restored to their original values. */
export interface PutBack extends Pick<PutBackClip, 'findings' | 'pictures'> {
  /** Time for finding them and for the analysis after that, ms. */
  readonly tookMs: number;
}

/** A clip with the time its analysis took. */
export interface TimedClip extends AnalysedClip {
  readonly tookMs: number;
  /** How fast this machine is, as the scale of the following costs. */
  readonly pace: ClipPace;
}

/** Share of opening in the time for opening a clip, listing its packets and starting its decoders. */
const OPENED = 0.35;

/** Opens the clip, refuses what cannot be repaired, and runs all detectors. */
export async function analyseStep(job: JobContext): Promise<TimedClip> {
  const { task, signal, meter, store } = job;
  job.steps.set('analyzing', 'running');
  meter.begin('analyzing', 1, createExpectedWork(false, null).later(0));
  const { value, tookMs } = await store.run('analyzing', storedClip, async () => {
    const openedAt = performance.now();
    const ffmpegVersion = await versionOf(task.tools, signal);
    const clip = await openOriginal({
      inputPath: task.inputPath,
      rebuiltPath: store.file('rebuilt.mp4'),
      referencePaths: task.referencePaths,
      tools: task.tools,
      limits: task.limits,
      signal,
    });
    // If the whole clip must be encoded, that and its check cost far more than the analysis. The clip is open now, but
    // its packets are not listed yet.
    const opened = OPENED * openShare(clip.info);
    const work = createExpectedWork(playbackNeeds(clip.info).video !== null, clip.info);
    meter.expect(work.later(0));
    meter.report(opened);
    const input = { info: clip.info, tools: task.tools, signal };
    let decodedMs: number | null = null;
    const { places } = task;
    const first = await (places ? analyseNoticed : analyseVideo)({
      ...input,
      places: places ?? [],
      inputPath: clip.path,
      keepPath: store.file('pictures'),
      onProgress: (share) => {
        meter.expect(work.later(share));
        meter.report(opened + (1 - opened) * share);
      },
      onSign: (sign, places) => {
        if (sign === 'decoded') decodedMs = performance.now() - openedAt;
        work.see(sign, places);
      },
    }).catch(refuseUndecodable);
    const startedMs = performance.now();
    decodedMs ??= startedMs - openedAt;
    const putBack = places
      ? null
      : await putBytesBack({
          inputPath: clip.path,
          info: clip.info,
          analysis: first,
          outputPath: store.file('restored.mp4'),
          analyse: (inputPath) => {
            meter.begin('analyzing', 1 / DAMAGED_ANALYSIS, work.laterThanSearch());
            const keepPath = store.file('pictures-again');
            return analyseVideo({ ...input, inputPath, keepPath, onProgress: meter.report });
          },
          signal,
          onSearch: createSearchTeller(meter, clip.info, work.laterThanSearch),
        });
    const { path, analysis } = putBack ?? { path: clip.path, analysis: first };
    const pictures = analysis.pictures?.ptsTicks.length ?? 0;
    if (countUndecoded(analysis.findings) >= pictures) {
      throw new MediaFailure('damaged_beyond_repair', NO_PICTURE);
    }
    const analysed: AnalysedClip = {
      path,
      rebuilt: clip.rebuilt,
      analysis,
      indexFindings: clip.rebuilt ? [indexFinding(analysis)] : [],
      ...(putBack && { putBack: toPutBack(putBack, performance.now() - startedMs) }),
      decodedMs,
      ffmpegVersion,
    };
    if (path !== clip.path && clip.path !== task.inputPath) await rm(clip.path);
    const kept = new Set(analysis.kept?.runs.map((run) => run.path));
    return { value: analysed, files: [...(path === task.inputPath ? [] : [path]), ...kept] };
  });
  meter.end();
  const found = value.analysis.findings.length + openingFindings(value).length;
  job.steps.set(
    'analyzing',
    'done',
    found === 0 ? 'Nothing is wrong with this clip.' : `${found} found.`,
    tookMs,
  );
  const { analysis, decodedMs } = value;
  return { ...value, tookMs, pace: paceOf(analysis.info, decodedMs, analysis.pictures?.keyframe ?? []) };
}

/** Counts a search for changed bytes as work once it reports; most clips have none. */
function createSearchTeller(meter: ProgressMeter, info: MediaInfo, later: () => number) {
  let begun = false;
  return (spentMs: number, mostMs: number) => {
    // In units of the damaged clip's own analysis.
    if (!begun) meter.begin('analyzing', mostMs / (DAMAGED_ANALYSIS * expectedAnalysisMs(info)), later());
    begun = true;
    meter.report(spentMs / mostMs);
  };
}

const toPutBack = ({ findings, pictures }: PutBackClip, tookMs: number): PutBack => ({
  findings,
  pictures,
  tookMs,
});

/** What was wrong with the upload and is already repaired in what the rest of the job reads. */
export const openingFindings = ({ indexFindings, putBack }: AnalysedClip): readonly Finding[] => [
  ...indexFindings,
  ...(putBack?.findings ?? []),
];

const NO_PICTURE = 'This clip cannot be repaired: no frame of it can be read.';

const countUndecoded = (findings: readonly Finding[]) =>
  findings.reduce((sum, { detail }) => {
    return sum + (detail.kind === 'corrupted_section' ? detail.undecodedFrames : 0);
  }, 0);

/** A decoder that gives up is the clip's fault; a full disk, a stall or a cancel is not. */
function refuseUndecodable(error: unknown): never {
  if (isToolFailure(error) && !isFullDisk(error)) {
    throw new MediaFailure('damaged_beyond_repair', NO_PICTURE, detailOf(error));
  }
  throw error;
}

function indexFinding(analysis: Analysis): Finding {
  return {
    kind: 'corrupted_section',
    startMs: 0,
    endMs: analysis.info.durationMs ?? 0,
    firstFrame: null,
    lastFrame: null,
    count: 1,
    confidence: 1,
    detector: 'rebuild-index',
    measure: { name: 'unreadable index', unit: 'indexes', threshold: 0, value: 1 },
    detail: { kind: 'corrupted_section', evidence: 'structure', undecodedFrames: 0 },
  };
}
