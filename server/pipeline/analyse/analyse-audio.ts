import { decodeSound } from '#server/media/signal/pcm.ts';
import {
  soundEndMs,
  soundStartMs,
  timeOfSample,
  timesSway,
  warmUpMs,
  withEvenTimes,
  type SoundClock,
} from '#server/media/signal/pcm-clock.ts';
import type { LostEnds } from '#common/report.ts';
import { countsPlaces, type MediaInfo } from '#server/media/probe/probe.ts';
import { isToolFailure, type ToolPaths } from '#server/media/ffmpeg/tools.ts';
import type { Finding, SpeechSpan } from './analysis.ts';
import { createOnsetMeter } from './audio-sync/detect-audio-sync-onsets.ts';
import type { MotionSeries } from './audio-sync/detect-audio-sync-content.ts';
import { CONTAINER_LIMITS, readClock, withoutFirstWaits } from './audio-sync/detect-audio-sync-container.ts';
import {
  beginsWithPriming,
  decodeHead,
  lostPriming,
  mayLackPriming,
  silentSamplesOf,
} from './audio-sync/detect-audio-sync-priming.ts';
import {
  FFMPEG_PRIMING,
  hasEncoderMark,
  recordedStartMs,
  startIsMoved,
  usualPriming,
} from './audio-sync/detect-audio-sync-start.ts';
import { detectAudioSync, NO_SENSE } from './audio-sync/detect-audio-sync.ts';
import { createVoiceMeter, detectSpeech } from './detect-speech.ts';
import { createWindMeter, WIND_RATE_HZ, type WindSeries } from './wind-noise/detect-wind-noise-series.ts';
import { createWidthMeter, mayBeMix, withoutMixes } from './wind-noise/detect-wind-noise-stereo.ts';
import {
  findWindHeard,
  findWindSpans,
  toWindFinding,
  type WindFound,
} from './wind-noise/detect-wind-noise.ts';
import { firstWait, steadyEnd } from './packets/picture-times.ts';
import type { AudioPackets } from './packets/read-packets.ts';
import { listedSoundEndMs } from './packets/sound-end.ts';
import type { OnSign } from './repair-signs.ts';

export interface HearSoundInput {
  readonly inputPath: string;
  readonly info: MediaInfo;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
  /** Whether somebody heard wind, so that slighter signs suffice; false when absent. */
  readonly windIsHeard?: boolean;
  /** Share done, 0 to 1. */
  readonly onProgress?: (share: number) => void;
  /** Called once the whole sound has been decoded. */
  readonly onSign?: OnSign;
}

export interface AnalyseAudioInput extends HearSoundInput {
  /** Times of the sound packets; null when they could not be listed. */
  readonly audioPackets: AudioPackets | null;
  /** Motion of the pictures, to compare with the sound; null when there are no pictures. */
  readonly motion: MotionSeries | null;
  /** Whether somebody saw that sound and picture are apart; see `SyncInput`. */
  readonly offsetIsSeen?: boolean;
  /** How far somebody moved the sound by hand, ms; 0 when absent. What was chosen by eye and ear is no fault. */
  readonly soundMovedMs?: number | undefined;
  /** How far the listed pictures go on after the last decoded one, ms; 0 when absent. */
  readonly undecodedMs?: number | undefined;
}

export interface AudioAnalysis {
  readonly findings: Finding[];
  readonly speech: SpeechSpan[];
  readonly notes: string[];
}

/** Below this a sample counts as digital silence: -90 dBFS, one step of a 16-bit sample. */
export const SILENT_AMPLITUDE = 3.1e-5;

/**
 * Measures the first sound stream in one pass (16 kHz mono through a pipe): sync with the picture, wind and speech. A
 * clip without sound, with silent sound or with sound that cannot be decoded gives no findings, only a note.
 * @throws MediaToolError when the run is cancelled or stalls, or ffmpeg is missing
 */
export async function analyseAudio(input: AnalyseAudioInput): Promise<AudioAnalysis> {
  return judgeSound(input, await hearSound(input));
}

/**
 * The half of `analyseAudio` that needs no pictures, so it can run while they are decoded.
 * @returns null without a sound stream, 'undecodable' when no decoder can read it
 * @throws MediaToolError when the run is cancelled or stalls, or ffmpeg is missing
 */
export async function hearSound(input: HearSoundInput) {
  if (!input.info.audio[0]) return null;
  const voice = createVoiceMeter();
  const wind = createWindMeter(voice.listen);
  const onsets = createOnsetMeter();
  let firstAudible: number | null = null;
  let samples = 0;
  const decoded = await decodeSound({
    inputPath: input.inputPath,
    info: input.info,
    rateHz: WIND_RATE_HZ,
    channels: 1,
    tools: input.tools,
    signal: input.signal,
    onSamples: (chunk) => {
      if (firstAudible === null) {
        const at = chunk.findIndex((value) => Math.abs(value) > SILENT_AMPLITUDE);
        if (at >= 0) firstAudible = samples + at;
      }
      samples += chunk.length;
      wind.push(chunk);
      onsets.push(chunk);
    },
    onProgress: input.onProgress,
  }).catch((error: unknown) => {
    // Sound that no decoder can read is no reason to give up on the pictures.
    if (isToolFailure(error)) return null;
    throw error;
  });
  input.onProgress?.(1);
  if (!decoded) return 'undecodable';
  const isCounted = countsPlaces(input.info);
  const miscounts = isCounted && isMiscounted(input.info, decoded);
  const sways = miscounts || (isCounted && timesSway(decoded));
  const clock = sways ? withEvenTimes(decoded) : decoded;
  const scale = clock.rateHz / WIND_RATE_HZ;
  const toTimeMs = (ms: number) => timeOfSample(clock, (ms / 1000) * clock.rateHz);
  const speech = detectSpeech(voice.series);
  const windSeries = wind.finish();
  const found = firstAudible === null ? null : await findWind(input, windSeries, speech);
  const windFinding = found && toWindFinding(windSeries, found, toTimeMs);
  input.onSign?.(windFinding ? 'wind' : 'calm_sound');
  return { clock, sways, miscounts, scale, toTimeMs, firstAudible, speech, onsets, windFinding };
}

/** Wind that is plain by itself, or else what may be wind if somebody heard it. */
async function findWind(
  input: HearSoundInput,
  series: WindSeries,
  speech: readonly SpeechSpan[],
): Promise<WindFound> {
  const plain = await withoutMusic(input, findWindSpans(series, speech));
  return plain.spans.length === 0 && input.windIsHeard ? findWindHeard(series, speech) : plain;
}

/**
 * Removes findings that are really music. Doubtful ones need a second decode with both channels, so clips without
 * findings never pay for it.
 */
async function withoutMusic({ inputPath, info, tools, signal }: HearSoundInput, found: WindFound) {
  const channels = info.audio[0]?.channels ?? 1;
  if (!mayBeMix(found, channels)) return found;
  const meter = createWidthMeter(found.spans, channels);
  const how = { rateHz: WIND_RATE_HZ, channels: null, timed: false } as const;
  const onSamples = (chunk: Float32Array) => meter.push(chunk);
  await decodeSound({ inputPath, info, tools, signal, ...how, onSamples });
  return withoutMixes(found, meter.finish());
}

/**
 * Whether counted times make no sense, while the sound ends with the picture by its samples: the header states a wild
 * rate, or one length for all packets where those of Vorbis differ.
 */
function isMiscounted({ video }: MediaInfo, clock: SoundClock): boolean {
  const pictureMs = video[0]?.durationMs ?? null;
  if (pictureMs === null || readClock(clock).reliable) return false;
  return Math.abs(soundEndMs(withEvenTimes(clock)) - pictureMs) <= CONTAINER_LIMITS.unevenEndMs;
}

export type HeardSound = Awaited<ReturnType<typeof hearSound>>;

/** Digital silence before the first audible sample, ms; null when nothing is audible. */
export function leadingSilenceMs(info: MediaInfo, heard: HeardSound): number | null {
  if (!heard || heard === 'undecodable' || heard.firstAudible === null) return null;
  const stated = info.audio[0]?.startMs ?? soundStartMs(heard.clock);
  return timeOfSample(heard.clock, heard.firstAudible * heard.scale) - stated;
}

/**
 * The other half of `analyseAudio`: judges the sound against the times and the motion of the pictures.
 * @throws MediaToolError when the run is cancelled or ffmpeg is missing
 */
export async function judgeSound(input: AnalyseAudioInput, heard: HeardSound): Promise<AudioAnalysis> {
  const stream = input.info.audio[0];
  if (!stream || !heard) return { findings: [], speech: [], notes: [] };
  if (heard === 'undecodable') {
    return { findings: [], speech: [], notes: ['The sound could not be decoded and was not examined.'] };
  }
  const { clock, scale, toTimeMs, firstAudible, onsets, windFinding } = heard;
  if (firstAudible === null) {
    return { findings: [], speech: [], notes: ['The sound is silent from start to end.'] };
  }
  const { soundMovedMs: movedMs = 0 } = input;
  const stated = stream.startMs ?? soundStartMs(clock);
  const pictures = pictureTimes(input);
  const waits = { pictureMs: firstWait(input.motion?.frameTimesMs ?? []), soundMs: warmUpMs(clock) };
  const moved =
    startIsMoved(stream, input.audioPackets, pictures.pictureStartMs) ||
    Math.max(waits.pictureMs, waits.soundMs) > CONTAINER_LIMITS.offsetMs;
  const marked = moved && (await hasEncoderMark(input.inputPath, input.info, input.tools, input.signal));
  // Some writers count a delay at the start twice in the stated duration, and decoded samples include the encoder's
  // padding. The shorter of the two is right.
  const statedMs = heard.sways ? null : stream.durationMs;
  const endMs = Math.min(soundEndMs(clock), stated + (statedMs ?? Number.POSITIVE_INFINITY));
  const usual = moved ? usualPriming(stream.codec, input.info.format) : null;
  const isAsked = moved && !marked && (usual !== null || mayLackPriming(stream, input.audioPackets));
  const head = isAsked ? await decodeHead(input.inputPath, input.info, input.tools, input.signal) : null;
  const unmarked = { stream, packets: input.audioPackets, ...pictures, soundEndMs: endMs };
  const lost = head && lostPriming({ ...unmarked, silentSamples: silentSamplesOf(head) });
  const known = usual !== null && head && !beginsWithPriming(head, usual) ? 0 : usual;
  const times = {
    ...pictures,
    hiddenPictureMs: input.audioPackets?.hiddenPictureMs ?? 0,
    soundStartMs:
      recordedStartMs(stream, input.audioPackets, marked ? FFMPEG_PRIMING : (known ?? lost)) - movedMs,
    soundEndMs: endMs - movedMs,
    leadingSilenceMs: leadingSilenceMs(input.info, heard) ?? 0,
  };
  const sync = detectAudioSync({
    times: withoutFirstWaits(times, waits),
    lostEnds: lostOrUndecoded(input, clock),
    clock,
    countsTimes: countsPlaces(input.info),
    isSeen: input.offsetIsSeen,
    motion: movedMs === 0 ? input.motion : null,
    onsets: {
      strength: onsets.strength,
      timesMs: onsets.strength.map((_, i) => timeOfSample(clock, onsets.sampleOf(i) * scale)),
    },
  });
  return {
    findings: [sync.finding, windFinding].filter((finding) => finding !== null),
    speech: heard.speech.map((span) => ({
      startMs: toTimeMs(span.startMs),
      endMs: toTimeMs(span.endMs),
    })),
    notes: [
      ...(movedMs === 0 ? [] : [movedNote(movedMs)]),
      ...(heard.miscounts ? [NO_SENSE] : []),
      ...sync.notes,
    ],
  };
}

const movedNote = (ms: number): string =>
  `The sound was moved by hand before: it comes ${Math.abs(Math.round(ms))} ms ${ms < 0 ? 'earlier' : 'later'} than recorded, which is kept.`;

/**
 * How much picture and sound is missing at the end, ms. Either the file ends early, or packets are listed but no
 * decoder gets anything out of them, as when a download stopped and the rest of the file is zeros. In both cases the
 * streams end where the data end.
 */
function lostOrUndecoded(
  { info: { lostEnds }, audioPackets, undecodedMs = 0 }: AnalyseAudioInput,
  clock: SoundClock,
): LostEnds {
  const listedMs = clock.refusedPackets > 0 && audioPackets ? listedSoundEndMs(audioPackets) : null;
  const unheardMs = listedMs === null ? 0 : Math.max(0, listedMs - soundEndMs(clock));
  return {
    pictureMs: (lostEnds?.pictureMs ?? 0) + undecodedMs,
    soundMs: (lostEnds?.soundMs ?? 0) + unheardMs,
  };
}

function pictureTimes({ info, motion }: AnalyseAudioInput) {
  const picture = info.video[0];
  const times = motion?.frameTimesMs ?? [];
  const pictureStartMs = picture?.startMs ?? times[0] ?? 0;
  const shownEndMs = steadyEnd(times);
  const stated = picture?.durationMs ?? null;
  return {
    pictureStartMs,
    pictureEndMs: shownEndMs ?? (stated === null ? null : pictureStartMs + stated),
  };
}
