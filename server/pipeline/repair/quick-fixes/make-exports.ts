import path from 'node:path';
import type { FixId } from '#common/fixes.ts';
import { checkPlatforms, type Platform, type PlatformRemark } from '#common/platform-check.ts';
import { probe, type MediaInfo } from '#server/media/probe/probe.ts';
import { CODING_WALL_MS, runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { MediaToolError } from '#server/media/ffmpeg/tools.ts';
import { mustMatch } from '../../encode/must-match.ts';
import { shownSize } from '../../encode/picture-size.ts';
import { summarise } from '../../publish/build-report.ts';
import { hashPackets } from '../../publish/packet-hashes.ts';
import { mustKeepPictures, type Clip } from './change-sound.ts';
import { figure } from './clip-facts.ts';
import { createExportPictures, type ExportPictures } from './export-pictures.ts';
import type { FixJob } from './fix-job.ts';
import { lookAtClip } from './look-at-clip.ts';
import { COST } from './measure-facts.ts';
import { measureLoudness, type Loudness } from './measure-loudness.ts';
import {
  COPIED,
  keepsLimits,
  platformCopyPlan,
  platformPlan,
  platformShape,
  type PlatformPlanInput,
} from './platform-plan.ts';
import { refusalOf } from './platform-words.ts';
import { isRefusal } from './refusal.ts';
import { isLevelled, levelFilters } from './voice-chain.ts';
import { MESSAGES } from '#common/messages.ts';

export interface MadeExport {
  readonly fix: FixId;
  readonly path: string;
}

const NAMES: Readonly<Record<Platform, string>> = {
  tiktok: 'TikTok',
  instagram: 'Instagram',
  youtube: 'YouTube',
};

/** What the files of one clip share. */
export interface ExportWork {
  readonly job: FixJob;
  readonly clip: Clip;
  readonly pictures: ExportPictures;
  /** Loudness of the clip, measured at most once; null without sound. */
  readonly loudness: () => Promise<Loudness | null>;
}

/** @param known loudness of the clip, if it was measured before */
export function createExportWork(job: FixJob, clip: Clip, known?: Loudness | null): ExportWork {
  let loudness = known === undefined ? undefined : Promise.resolve(known);
  return {
    job,
    clip,
    pictures: createExportPictures(job, clip),
    loudness: () => (loudness ??= soundOf(job, clip)),
  };
}

/**
 * Makes a file for one platform from the finished clip, decodes it and checks it against the platform's limits.
 * Pictures that the platform takes as they are stay byte for byte; others are encoded in pieces that survive a kill.
 * @returns null if no file was made; the reason is among the outcomes
 * @throws MediaToolError when the run is cancelled or stalls, or the disk is full
 */
export async function makeExport(
  work: ExportWork,
  fix: FixId,
  platform: Platform,
): Promise<MadeExport | null> {
  const { job, clip } = work;
  const { task, outcomes } = job;
  const stream = clip.info.video[0];
  if (!stream) return null;
  outcomes.working([fix]);
  const tooLong = checked(clip.info, platform)?.remarks.find(
    ({ kind }) => kind === 'too_long' || kind === 'too_short',
  );
  if (tooLong) {
    // Nothing is cut away: a program cannot decide which part may go.
    outcomes.settle(fix, 'failed', notTaken(platform, [tooLong]));
    return null;
  }
  const outputPath = path.join(task.workDir, `${platform}.mp4`);
  try {
    const loudness = await work.loudness();
    const rateHz = clip.info.audio[0]?.sampleRateHz ?? 48_000;
    const soundFilters = loudness && !isLevelled(loudness) ? levelFilters(loudness, rateHz) : [];
    const { limits } = task;
    const given = {
      inputPath: clip.path,
      info: clip.info,
      stream,
      platform,
      soundFilters,
      limits,
      outputPath,
    };
    const copied = keepsLimits(clip.info, stream, platform) && (await copyPictures(work, fix, given));
    const info = copied || (await codePictures(work, given));
    const after = await soundOf(job, { path: outputPath, info });
    outcomes.settle(fix, 'applied', madeWords(given, info, copied !== false), [
      figure('loudness', 'LUFS', loudness?.lufs ?? null, after?.lufs ?? null),
      figure('size', 'MB', clip.info.sizeBytes / 1024 ** 2, info.sizeBytes / 1024 ** 2),
    ]);
    return { fix, path: outputPath };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    job.tellRefusal([fix], error);
    const made = `The file for ${NAMES[platform]} could not be made. ${MESSAGES.clipKept}`;
    outcomes.settle(fix, 'failed', error instanceof NotTaken ? notTaken(platform, error.remarks) : made);
    return null;
  }
}

/** A made file that its platform refuses: without the wait before its first picture, a clip may be too short. */
class NotTaken extends MediaToolError {
  readonly remarks: readonly PlatformRemark[];
  constructor(platform: Platform, remarks: readonly PlatformRemark[]) {
    super('tool_failed', `${platform} does not take the file: ${remarks.map(refusalOf).join(', ')}`);
    this.remarks = remarks;
  }
}

const notTaken = (platform: Platform, remarks: readonly PlatformRemark[]) =>
  `${NAMES[platform]} does not take this clip: ${remarks.map(refusalOf).join(', ')}. No file was made.`;

function madeWords({ stream, platform }: PlatformPlanInput, info: MediaInfo, copied: boolean): string {
  const [made] = info.video;
  const shown = made ? shownSize(made) : { width: 0, height: 0 };
  const size = `${shown.width} x ${shown.height}`;
  if (copied)
    return `A file for ${NAMES[platform]} was made: ${size}, with the frames of your clip as they are, none re-encoded.`;
  const { canvas, picture } = platformShape(stream, platform);
  const filled = canvas.width !== picture.width || canvas.height !== picture.height;
  const how = filled ? 'the whole picture over its own blurred background' : 'full screen';
  return `A file for ${NAMES[platform]} was made: ${size}, ${how}.`;
}

/**
 * @returns false if the copy is not as it should be, for example because the clip still has damage: its pictures must
 * be encoded
 */
async function copyPictures(
  work: ExportWork,
  fix: FixId,
  given: PlatformPlanInput,
): Promise<MediaInfo | false> {
  const { job, clip } = work;
  try {
    await put(job, given, null);
    const info = await madeInfo(job, given);
    await mustKeepPictures(job, clip, { path: given.outputPath, info });
    await mustBeFine(work, given, info, COPIED);
    return info;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    job.tellRefusal([fix], error);
    return false;
  }
}

async function codePictures(work: ExportWork, given: PlatformPlanInput): Promise<MediaInfo> {
  const { job, clip } = work;
  const coded = await work.pictures.coded(given.platform);
  if (coded !== null) await put(job, given, coded);
  else {
    const { tools } = job.task;
    await job.stages.run(COST.export, (onProgress) =>
      runFfmpeg(platformPlan(given), {
        tools,
        signal: job.signal,
        wallMs: CODING_WALL_MS,
        onProgress: ({ share }) => share !== null && onProgress(share),
      }),
    );
  }
  const info = await madeInfo(job, given);
  mustMatch(clip.info, info, platformShape(given.stream, given.platform).canvas);
  await mustBeFine(work, given, info, coded);
  return info;
}

/** Writes the file out of coded pictures and the sound. */
const put = (
  { task: { tools }, signal, stages }: FixJob,
  given: PlatformPlanInput,
  pictures: string | null,
) =>
  stages.run(COST.copy, (onProgress) =>
    runFfmpeg(platformCopyPlan(given, pictures), {
      tools,
      signal,
      onProgress: ({ share }) => share !== null && onProgress(share),
    }),
  );

const madeInfo = ({ task: { tools }, signal }: FixJob, { outputPath }: PlatformPlanInput) =>
  probe(tools, outputPath, 'mov', signal);

/**
 * @param pictures names the coded pictures; several files may share them, and the same bytes are decoded once. Null for
 * those of one run
 * @throws MediaToolError unless every picture decodes, in order, and the platform takes the file
 */
async function mustBeFine(
  { job, pictures: { fine } }: ExportWork,
  { platform, outputPath }: PlatformPlanInput,
  info: MediaInfo,
  pictures: string | null,
): Promise<void> {
  const { stages, signal } = job;
  const { tools } = job.task;
  const verdict = checked(info, platform);
  const wrong = new MediaToolError('tool_failed', `the file for ${platform} is not as it should be`);
  if (!verdict) throw wrong;
  const against = verdict.remarks.filter(({ kind }) => kind !== 'no_sound');
  if (against.length > 0) throw new NotTaken(platform, against);
  const hashes = (await hashPackets({ path: outputPath, info, tools, signal }, 'v'))
    .map(({ hash }) => hash)
    .join();
  if (pictures !== null && fine.get(pictures) === hashes) return;
  const looked = await stages.run(COST.look, (onProgress) =>
    lookAtClip({ inputPath: outputPath, info, tools, signal, onProgress }),
  );
  if (!looked || looked.damaged > 0 || !looked.rising) throw wrong;
  if (pictures !== null) fine.set(pictures, hashes);
}

/** A platform's verdict on a clip. */
const checked = (info: MediaInfo, platform: Platform) =>
  checkPlatforms(summarise(info, null), info.sizeBytes).find((verdict) => verdict.platform === platform);

async function soundOf({ task, signal }: FixJob, clip: Clip): Promise<Loudness | null> {
  if (clip.info.audio.length === 0) return null;
  return measureLoudness({ inputPath: clip.path, info: clip.info, tools: task.tools, signal });
}
