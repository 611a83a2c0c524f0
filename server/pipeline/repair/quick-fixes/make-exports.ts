import path from 'node:path';
import type { FixId } from '#common/fixes.ts';
import { checkPlatforms, type Platform } from '#common/platform-check.ts';
import { probe, type MediaInfo } from '#server/media/probe.ts';
import { CODING_WALL_MS, runFfmpeg } from '#server/media/run-ffmpeg.ts';
import { MediaToolError } from '#server/media/tools.ts';
import { summarise } from '../../publish/build-report.ts';
import { isRefusal } from './change-pictures.ts';
import type { Clip } from './change-sound.ts';
import { figure } from './clip-facts.ts';
import type { FixJob } from './fix-job.ts';
import { lookAtClip } from './look-at-clip.ts';
import { COST } from './measure-facts.ts';
import { measureLoudness, type Loudness } from './measure-loudness.ts';
import { platformPlan, platformShape } from './platform-plan.ts';
import { refusalOf } from './platform-words.ts';
import { levelFilters } from './voice-chain.ts';

export interface MadeExport {
  readonly fix: FixId;
  readonly path: string;
}

const NAMES: Readonly<Record<Platform, string>> = {
  tiktok: 'TikTok',
  instagram: 'Instagram',
  youtube: 'YouTube',
};

/**
 * Makes one file for one platform out of the finished clip, decodes it and holds it against the platform's limits.
 * @returns null when there is none, with the reason among the outcomes
 * @throws MediaToolError when the run is cancelled, stalls or the disk is full
 */
export async function makeExport(
  job: FixJob,
  clip: Clip,
  fix: FixId,
  platform: Platform,
): Promise<MadeExport | null> {
  const { task, signal, stages, outcomes } = job;
  const { tools, limits } = task;
  const stream = clip.info.video[0];
  if (!stream) return null;
  outcomes.working([fix]);
  const tooLong = checked(clip.info, platform)?.remarks.find(
    ({ kind }) => kind === 'too_long' || kind === 'too_short',
  );
  if (tooLong) {
    // Nothing is cut away: which part may go is not for a program to say.
    outcomes.settle(
      fix,
      'failed',
      `${NAMES[platform]} does not take this clip: ${refusalOf(tooLong)}. No file was made.`,
    );
    return null;
  }
  const outputPath = path.join(task.workDir, `${platform}.mp4`);
  try {
    const loudness = await soundOf(job, clip);
    const soundFilters = loudness ? levelFilters(loudness, clip.info.audio[0]?.sampleRateHz ?? 48_000) : [];
    const given = {
      inputPath: clip.path,
      info: clip.info,
      stream,
      platform,
      soundFilters,
      limits,
      outputPath,
    };
    await stages.run(COST.export, (onProgress) =>
      runFfmpeg(platformPlan(given), {
        tools,
        signal,
        wallMs: CODING_WALL_MS,
        onProgress: ({ share }) => share !== null && onProgress(share),
      }),
    );
    const info = await probe(tools, outputPath, 'mov', signal);
    const made = { path: outputPath, info };
    const looked = await stages.run(COST.look, (onProgress) =>
      lookAtClip({ inputPath: outputPath, info, tools, signal, onProgress }),
    );
    const verdict = checked(info, platform);
    const boxed = verdict?.remarks.some(({ kind }) => kind === 'boxed' || kind === 'no_short');
    if (!looked || looked.damaged > 0 || !looked.rising || !verdict || verdict.refused || boxed) {
      const why = verdict?.remarks.map(refusalOf).join(', ') ?? '';
      throw new MediaToolError('tool_failed', `the file for ${platform} is not as it should be: ${why}`);
    }
    const after = await soundOf(job, made);
    const { canvas, picture } = platformShape(stream, platform);
    const filled = canvas.width !== picture.width || canvas.height !== picture.height;
    const how = filled ? 'the whole picture over its own blurred background' : 'full screen';
    const size = `${canvas.width} x ${canvas.height}`;
    outcomes.settle(fix, 'applied', `A file for ${NAMES[platform]} was made: ${size}, ${how}.`, [
      figure('loudness', 'LUFS', loudness?.lufs ?? null, after?.lufs ?? null),
      figure('size', 'MB', clip.info.sizeBytes / 1024 ** 2, info.sizeBytes / 1024 ** 2),
    ]);
    return { fix, path: outputPath };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    outcomes.settle(
      fix,
      'failed',
      `The file for ${NAMES[platform]} could not be made. Your clip is as it was.`,
    );
    return null;
  }
}

/** What a platform says to a clip. */
const checked = (info: MediaInfo, platform: Platform) =>
  checkPlatforms(summarise(info, null), info.sizeBytes).find((verdict) => verdict.platform === platform);

async function soundOf({ task, signal }: FixJob, clip: Clip): Promise<Loudness | null> {
  if (clip.info.audio.length === 0) return null;
  return measureLoudness({ inputPath: clip.path, info: clip.info, tools: task.tools, signal });
}
