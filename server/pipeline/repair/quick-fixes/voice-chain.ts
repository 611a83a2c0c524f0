import { clamp } from '#server/media/statistics.ts';
import type { Loudness } from './measure-loudness.ts';

/**
 * Target loudness of short clips. YouTube plays clips at -14 LUFS, and by all measurements so do TikTok and Instagram:
 * louder ones are turned down there, quieter ones are not turned up. -1 dBTP is the highest true peak that encoders do
 * not clip (EBU R 128 s2).
 */
export const LOUDNESS_TARGET = {
  lufs: -14,
  peakDb: -1,
  /** Below this there is no voice meant to be heard, only noise of room and recorder, which must not be amplified. */
  silentLufs: -48,
  /** A loudness this close counts as the target. */
  toleranceLu: 1,
  /** One this close is as near as the peaks of a voice allow, and is called as loud as the platforms play it. */
  nearLu: 2,
} as const;

/**
 * Least that a changed loudness must come nearer, LU. Encoding alone moves it by 0.1 at most (eight seconds of five
 * clips, AAC at 96 kbit/s; 0.4 in one that is next to silent).
 */
const LEAST_NEARER_LU = 0.3;
/**
 * Highest true peak of the new sound, dBTP. Encoding moved the peaks of those clips by up to 0.3 dB; above 0 players
 * clip.
 */
const MOST_PEAK_DB = -0.2;
/** Loudness that silence counts as, LUFS: the absolute gate of ITU-R BS.1770. */
const GATE_LUFS = -70;
/** A gain below this is not heard and not applied, dB. */
const LEAST_GAIN_DB = 0.1;

/** Most gain, dB; more would make the room noise prominent. */
const MOST_GAIN_DB = 20;
/** Most that the limiter may take off peaks, dB; more is audible as pumping. */
const MOST_LIMITING_DB = 9;
/** The limiter stops this far below the wanted peak, dB, because encoding moves peaks by about one decibel. */
const CODING_ROOM_DB = 1;
/** What more than needed a second attempt leaves for the encoder, which other samples move in another way, dB. */
const MORE_ROOM_DB = 0.5;

/**
 * Filters that make a voice clear: removing rumble below 75 Hz, a little presence at 3 kHz, gentle 2:1 compression.
 * Stereo and sample rate stay.
 */
export const VOICE_FILTERS: readonly string[] = [
  'highpass=f=75',
  'equalizer=f=3000:t=q:w=1.2:g=2',
  'acompressor=threshold=0.1:ratio=2:attack=15:release=200:knee=4',
];

export function isLevelled({ lufs, peakDb }: Loudness): boolean {
  const { lufs: target, toleranceLu, peakDb: peak } = LOUDNESS_TARGET;
  return lufs !== null && Math.abs(lufs - target) <= toleranceLu && (peakDb ?? 0) <= peak;
}

/**
 * One constant gain to the target, and a limiter at four times the sample rate if a peak would be too high.
 * @param loudness of the sound before these filters
 * @param codingRoomDb how far encoding may move peaks, dB
 * @returns empty when nothing needs to be done
 */
export function levelFilters(
  { lufs, peakDb }: Loudness,
  sampleRateHz: number,
  codingRoomDb = CODING_ROOM_DB,
): string[] {
  if (lufs === null || lufs < LOUDNESS_TARGET.silentLufs) return [];
  const ceiling = LOUDNESS_TARGET.peakDb - codingRoomDb;
  const room = ceiling - (peakDb ?? 0) + MOST_LIMITING_DB;
  const gainDb = clamp(LOUDNESS_TARGET.lufs - lufs, -MOST_GAIN_DB, Math.min(MOST_GAIN_DB, Math.max(0, room)));
  const peaks = (peakDb ?? 0) + gainDb;
  const filters = Math.abs(gainDb) < LEAST_GAIN_DB ? [] : [`volume=${gainDb.toFixed(2)}dB`];
  if (peaks <= ceiling) return filters;
  const limit = 10 ** (ceiling / 20);
  const limiter = `alimiter=level=false:limit=${limit.toFixed(4)}:attack=2:release=60`;
  return [...filters, `aresample=${4 * sampleRateHz}`, limiter, `aresample=${sampleRateHz}`];
}

/**
 * Room for another attempt where the encoder moved a peak out of range: by three decibels at a beat of a service's
 * clip, by less when its frames lay elsewhere.
 * @param made loudness of the encoded sound
 * @returns dB; null where the peaks are within what players take
 */
export function roomForPeaks({ peakDb }: Loudness): number | null {
  if ((peakDb ?? 0) <= MOST_PEAK_DB) return null;
  return CODING_ROOM_DB + (peakDb ?? 0) - LOUDNESS_TARGET.peakDb + MORE_ROOM_DB;
}

/** Whether the new loudness is nearer to the target and the peaks are within what encoders take. */
export function loudnessHelped(before: Loudness, after: Loudness): boolean {
  if (before.lufs === null || after.lufs === null) return false;
  const apart = ({ lufs }: Loudness) => Math.abs((lufs ?? GATE_LUFS) - LOUDNESS_TARGET.lufs);
  const peakFine = (after.peakDb ?? 0) <= MOST_PEAK_DB;
  const quieterPeaks = (before.peakDb ?? 0) > LOUDNESS_TARGET.peakDb && peakFine;
  return (
    peakFine &&
    (apart(after) < apart(before) - LEAST_NEARER_LU ||
      (quieterPeaks && apart(after) <= LOUDNESS_TARGET.nearLu))
  );
}
