import path from 'node:path';
import type { FixId } from '#common/fixes.ts';
import { probe, type MediaInfo } from '#server/media/probe/probe.ts';
import { pictureTimeBase, ticksToMs } from '#server/media/time-base.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { MediaToolError } from '#server/media/ffmpeg/tools.ts';
import { exportVideo } from '../../publish/export-video.ts';
import { hashPackets } from '../../publish/packet-hashes.ts';
import { playbackNeeds } from '../../publish/playback.ts';
import type { Finding } from '../../analyse/analysis.ts';
import { repairAudio, type RepairedAudio } from '../sound/repair-audio.ts';
import type { AudioVerdict } from '../sound/repair-audio-verdicts.ts';
import { figure } from './clip-facts.ts';
import { voicePlan } from './encode-plans.ts';
import type { FixJob } from './fix-job.ts';
import { COST } from './measure-facts.ts';
import { measureLoudness, type Loudness } from './measure-loudness.ts';
import { isRefusal } from './refusal.ts';
import { levelFilters, LOUDNESS_TARGET, loudnessHelped, roomForPeaks, VOICE_FILTERS } from './voice-chain.ts';

/** A clip on its way through the fixes. */
export interface Clip {
  readonly path: string;
  readonly info: MediaInfo;
}

const FIX_OF = { wind_noise: 'wind-noise', audio_sync: 'audio-sync' } as const satisfies Partial<
  Record<Finding['kind'], FixId>
>;

/**
 * Repairs wind and sync with the repairs of the six steps, which check their own results. The pictures are copied.
 * @param source the clip of the findings; `clip` may have other pictures
 * @throws MediaToolError when the run is cancelled or stalls, or the disk is full
 */
export async function repairSound(
  job: FixJob,
  source: Clip,
  clip: Clip,
  findings: readonly Finding[],
): Promise<Clip> {
  const fixes = findings.flatMap(({ kind }) => (kind in FIX_OF ? [fixOf(kind)] : []));
  if (fixes.length === 0) return clip;
  const { task, signal, stages, outcomes } = job;
  outcomes.working(fixes);
  const { tools, workDir } = task;
  try {
    const { audio, verdicts } = await stages.run(COST.repairSound, (onProgress) =>
      repairAudio({
        inputPath: source.path,
        info: source.info,
        findings,
        workDir,
        tools,
        signal,
        onProgress,
      }),
    );
    const repaired = verdicts.filter(({ outcome }) => outcome === 'repaired');
    if (repaired.length === 0) {
      for (const verdict of verdicts) settle(job, verdict, 'unchanged');
      return clip;
    }
    const made = await writeSound(job, clip, audio, 'sound');
    for (const verdict of verdicts)
      settle(job, verdict, verdict.outcome === 'repaired' ? 'applied' : 'unchanged');
    return made;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const detail = 'The sound of this clip could not be repaired, so it was left as it is.';
    job.tellRefusal(fixes, error);
    for (const fix of fixes) outcomes.settle(fix, 'failed', detail);
    return clip;
  }
}

/**
 * Writes a clip with another sound, or the same one at other times. The pictures are copied.
 * @param name of the file, without its ending
 * @throws MediaToolError when the run is cancelled, or the pictures did not stay as they are
 */
export async function writeSound(job: FixJob, clip: Clip, audio: RepairedAudio, name: string): Promise<Clip> {
  const { signal } = job;
  const { tools, workDir, limits } = job.task;
  const made = await exportVideo({
    inputPath: clip.path,
    info: clip.info,
    pictures: null,
    edit: [],
    audio,
    needs: playbackNeeds(clip.info),
    encodeAll: false,
    workDir,
    name,
    tools,
    limits,
    signal,
  });
  const written = { path: made.path, info: made.info ?? (await probe(tools, made.path, 'mov', signal)) };
  await mustKeepPictures(job, clip, written);
  return written;
}

function fixOf(kind: Finding['kind']): FixId {
  return kind === 'audio_sync' ? FIX_OF.audio_sync : FIX_OF.wind_noise;
}

function settle({ outcomes }: FixJob, verdict: AudioVerdict, state: 'applied' | 'unchanged'): void {
  const { measure, kind } = verdict.finding;
  outcomes.settle(fixOf(kind), state, verdict.explanation, [
    figure(measure.name, measure.unit, measure.value, verdict.after),
  ]);
}

/**
 * Makes the voice clear and brings it to the target loudness; the pictures are copied. The new sound is measured, and
 * dropped if it is no nearer to the target.
 * @throws MediaToolError when the run is cancelled or stalls, or the disk is full
 */
export async function enhanceVoice(job: FixJob, clip: Clip): Promise<Clip> {
  const { task, signal, stages, outcomes } = job;
  const { tools } = task;
  const { info } = clip;
  outcomes.working(['voice-enhance']);
  const rateHz = info.audio[0]?.sampleRateHz ?? 48_000;
  const outputPath = path.join(task.workDir, 'voice.mp4');
  const read = { inputPath: clip.path, info, tools, signal };
  try {
    // After wind and sync repairs the sound differs from the one that was measured first.
    const before = await measureLoudness(read);
    if (before.lufs === null || before.lufs < LOUDNESS_TARGET.silentLufs) {
      const detail = 'Nothing but quiet is left of this sound, so there is no voice to enhance.';
      outcomes.settle('voice-enhance', 'unchanged', detail);
      return clip;
    }
    const shaped = await stages.run(COST.hear, (onProgress) =>
      measureLoudness({ ...read, chain: VOICE_FILTERS, onProgress }),
    );
    const make = async (codingRoomDb?: number) => {
      const filters = [...VOICE_FILTERS, ...levelFilters(shaped, rateHz, codingRoomDb)];
      await stages.run(COST.voice, (onProgress) =>
        runFfmpeg(voicePlan({ inputPath: clip.path, info, filters, outputPath }), {
          tools,
          signal,
          onProgress: ({ share }) => share !== null && onProgress(share),
        }),
      );
      const voice = { path: outputPath, info: await probe(tools, outputPath, 'mov', signal) };
      const loudness = await stages.run(COST.hear, (onProgress) =>
        measureLoudness({ inputPath: voice.path, info: voice.info, tools, signal, onProgress }),
      );
      return { voice, loudness };
    };
    const first = await make();
    const roomDb = roomForPeaks(first.loudness);
    const { voice: made, loudness: after } = roomDb === null ? first : await make(roomDb);
    const figures = [
      figure('loudness', 'LUFS', before.lufs, after.lufs),
      figure('true peak', 'dBTP', before.peakDb, after.peakDb),
    ];
    if (!loudnessHelped(before, after)) {
      const detail = 'The voice did not come nearer to the right loudness, so the sound was left as it is.';
      outcomes.settle('voice-enhance', 'unchanged', detail, figures);
      return clip;
    }
    await mustKeepPictures(job, clip, made);
    outcomes.settle('voice-enhance', 'applied', enhancedWords(after), figures);
    return made;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const detail = 'The sound of this clip could not be changed, so it was left as it is.';
    job.tellRefusal(['voice-enhance'], error);
    outcomes.settle('voice-enhance', 'failed', detail);
    return clip;
  }
}

function enhancedWords({ lufs }: Loudness): string {
  const reached = lufs !== null && Math.abs(lufs - LOUDNESS_TARGET.lufs) <= LOUDNESS_TARGET.nearLu;
  return reached
    ? 'The voice is clearer and as loud as the platforms play it; rumble and peaks are tamed.'
    : 'The voice is clearer and louder, as far as its peaks allow; rumble is taken out.';
}

/** Sound may end this far from before, ms: a few packets. */
const LENGTH_TOLERANCE_MS = 250;
/** Sound that was moved may end after the pictures, ms: offsets are searched to 1.5 s (`CONTENT_LIMITS.reachMs`). */
const MOVED_SOUND_MS = 2000;
/** Farthest between the old and the new time of a picture, ms: each is rounded to a time scale, at worst of 1000. */
const PICTURE_TOLERANCE_MS = 2;

/** @throws MediaToolError unless every coded picture has the same bytes and time, and the sound is there */
export async function mustKeepPictures({ task, signal }: FixJob, before: Clip, after: Clip): Promise<void> {
  const { tools } = task;
  const list = ({ path: file, info }: Clip) => hashPackets({ path: file, info, tools, signal }, 'v');
  const [from, to] = [await list(before), await list(after)];
  const ms = (clip: Clip, ticks: number) => ticksToMs(ticks, pictureTimeBase(clip.info));
  const [start, newStart] = [from[0]?.ptsTicks ?? 0, to[0]?.ptsTicks ?? 0];
  const same = from.every((packet, at) => {
    const other = to[at];
    if (!other) return false;
    const apartMs = ms(before, packet.ptsTicks - start) - ms(after, other.ptsTicks - newStart);
    return other.hash === packet.hash && Math.abs(apartMs) <= PICTURE_TOLERANCE_MS;
  });
  const apartMs = Math.abs(endMs(before.info) - endMs(after.info));
  const sounds = (clip: Clip) => clip.info.audio.length > 0;
  const fits = sounds(after) === sounds(before) && apartMs <= LENGTH_TOLERANCE_MS + MOVED_SOUND_MS;
  if (!same || from.length !== to.length || !fits)
    throw new MediaToolError('tool_failed', 'the pictures did not stay as they are beside the new sound');
}

/** Later end of picture and sound, ms; subtitles may last longer than both. */
function endMs({ video, audio }: MediaInfo): number {
  const ends = [video[0], audio[0]].map((stream) => (stream?.startMs ?? 0) + (stream?.durationMs ?? 0));
  return Math.max(...ends);
}
