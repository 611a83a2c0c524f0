import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { describeEmptyTail } from '#server/media/probe/empty-bytes.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import type { Analysis } from './analysis.ts';
import { hearSound, judgeSound, leadingSilenceMs } from './analyse-audio.ts';
import { analysePicture } from './analyse-picture.ts';
import { listedSoundEndMs } from './packets/sound-end.ts';
import type { OnSign } from './repair-signs.ts';

export interface AnalyseInput {
  readonly inputPath: string;
  readonly info: MediaInfo;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
  /** Whether to believe the file's own record of an earlier repair; true when absent. */
  readonly believesFile?: boolean;
  /** Prefix of the file names under which the small pictures are kept; see `MeasurePicturesInput`. */
  readonly keepPath?: string;
  /** Share of the whole analysis that is done, 0 to 1. */
  readonly onProgress?: (share: number) => void;
  /** Called when something shows that a repair will be needed; may be called more than once. */
  readonly onSign?: OnSign;
}

/**
 * Share of the picture pass in the progress of an analysis. Decoding sound costs about a tenth of decoding pictures
 * (0.9 s against 10 s, measured on a 1080p30 clip of 15 s).
 */
const PICTURE_SHARE = 0.9;

/**
 * Runs every detector once. Packets are listed and pictures decoded while the sound is decoded. The sound is judged
 * last, because its offset needs the motion of the pictures.
 * @throws MediaToolError when ffmpeg cannot run or the job is cancelled; the other pass is ended before it throws
 */
export async function analyseVideo(input: AnalyseInput): Promise<Analysis> {
  const { onProgress } = input;
  const hasSound = input.info.audio.length > 0;
  const stop = new AbortController();
  const signal = input.signal ? AbortSignal.any([input.signal, stop.signal]) : stop.signal;
  const shares = { picture: 0, sound: hasSound ? 0 : 1 };
  const report = (part: keyof typeof shares) => (share: number) => {
    shares[part] = share;
    onProgress?.(shares.picture * PICTURE_SHARE + shares.sound * (1 - PICTURE_SHARE));
  };
  const failures: unknown[] = [];
  const endBoth = (error: unknown) => {
    failures.push(error);
    stop.abort();
    return null;
  };
  const hearing = hearSound({ ...input, signal, onProgress: report('sound') }).catch(endBoth);
  const leadingSilence = hearing.then((heard) => leadingSilenceMs(input.info, heard));
  const [picture, heard] = await Promise.all([
    analysePicture({ ...input, signal, leadingSilence, onProgress: report('picture') }).catch(endBoth),
    hearing,
  ]);
  if (failures.length > 0 || !picture) throw failures[0];
  const { audioPackets, motion, undecodedMs, soundMovedMs } = picture;
  const sound = await judgeSound({ ...input, audioPackets, motion, undecodedMs, soundMovedMs }, heard);
  onProgress?.(1);
  const emptyTail = undecodedMs ? await describeEmptyTail(input.inputPath) : null;
  const endMs = audioPackets && listedSoundEndMs(audioPackets);
  const findings = [...picture.findings, ...sound.findings].sort((a, b) => a.startMs - b.startMs);
  return {
    info: heard !== null && heard !== 'undecodable' && heard.sways ? withSway(input.info) : input.info,
    pictures: picture.pictures,
    sceneCuts: picture.sceneCuts,
    findings,
    speech: sound.speech,
    ...(endMs !== null && { soundEndMs: endMs }),
    ...(picture.mended && picture.mended.length > 0 && { mended: picture.mended }),
    ...(soundMovedMs && { soundMovedMs }),
    posterFrame: picture.posterFrame,
    notes: [
      ...(input.info.notes ?? []),
      ...picture.notes,
      ...sound.notes,
      ...(emptyTail === null ? [] : [emptyTail]),
    ],
    ...(picture.kept && { kept: picture.kept }),
  };
}

/** Marks the first sound as one whose times sway. */
const withSway = (info: MediaInfo): MediaInfo => ({
  ...info,
  audio: info.audio.map((stream, at) => (at === 0 ? { ...stream, timesSway: true } : stream)),
});
