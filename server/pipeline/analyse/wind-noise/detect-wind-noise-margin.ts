import { mean, percentile } from '#server/media/signal/signal.ts';
import type { SpeechSpan } from '../analysis.ts';
import type { WindSeries, WindWindow } from './detect-wind-noise-series.ts';

/**
 * Limits of the wind detector. Measured on real wind (phone and action camera microphones, outdoor recordings), alone
 * and under real speech at -5 to 10 dB, against clean speech, rotors, a plane, a train, roof-top rumble, hum, brown and
 * pink noise. Each limit lies between the two groups. The features are those of Nelke and Vary (2014, sub-band centroid
 * and low-band energy), measured on the background instead of the whole spectrum, so that a voice over the wind does
 * not hide it.
 */
export const WIND_LIMITS = {
  /** Least background at 60-500 Hz, dBFS: camera wind lies at -40 to -18, a quiet roof at -42, rooms below -43. */
  floorDb: -40.5,
  /** Wind under a quiet voice is quieter too: this lower limit applies if everything else reaches this margin. */
  quietFloorDb: -44,
  quietMargin: 0.5,
  /** If speech fills this share of the surroundings, a window is judged as wind under a voice. */
  voicedShare: 0.2,
  /**
   * Under a voice, wind may be as quiet as this if everything else reaches this margin; `totalOverFloorDb` limits how
   * much quieter than the voice it may be.
   */
  voicedFloorDb: -47,
  voicedQuietMargin: 0.3,
  /**
   * Least background below 500 Hz over that at 1-4 kHz, dB: wind under a voice at 5 dB has 15.2 and more, alone up to
   * 28. Rumble that falls by 6 dB per octave (roads) has at most 13.4, pink noise 2.
   */
  lowOverHighDb: 14.2,
  /**
   * Strong gusts, which no road has, make up for this much of it, dB: from a flutter of 1.1 dB, fully at 1.6. Syllables
   * make a street flutter too, so under a voice this needs deep rumble (20-80 Hz at most 5 dB below 60-500 Hz) that
   * bursts as well: `blockLowBurst` from 0.2, fully at 0.28.
   */
  gustGrantDb: 3.2,
  gustGrantFromDb: 1.1,
  gustGrantToDb: 1.6,
  grantRumbleDb: -5,
  burstGrantFrom: 0.2,
  burstGrantTo: 0.28,
  /** Most line share at 4 Hz resolution: wind under a voice has up to 0.64, music from 0.82, a rotor 0.7. */
  fineLineShare: 0.68,
  /**
   * Most similarity of the bass to that 256 ms earlier: wind has up to 0.21, roof 0.25, rotor 0.32, music 0.33 to 0.96.
   */
  lineSteadiness: 0.24,
  /**
   * Same for the middle window of a windy stretch with deep rumble (20-80 Hz at most 8 dB below 60-500 Hz): wind has up
   * to 0.13, the inside of cars and trains 0.18 to 0.22. Recorder hum under a phone's wind, which has no rumble, has
   * 0.18.
   */
  usualSteadiness: 0.14,
  deepRumbleDb: -8,
  /**
   * Fine lines that also stay, in the middle window. Wind passes at least one of both in 99 of 100 recordings and
   * mixtures; a tenth of the cars, planes and purring machines that pass everything else pass neither. A voice leaves
   * some lines in wind.
   */
  stayingLines: { share: 0.34, steadiness: 0.1, steadinessUnderVoice: 0.14 },
  /**
   * Least `blockLowBurst` around that window, nats. Wind on microphones has 0.24 to 0.38 in seven of ten mixtures with
   * a voice, steady synthetic rumble 0.17 to 0.22; it decides if there is deep rumble. Below 0.16 the bass holds a tone
   * (planes have 0.05 to 0.15).
   */
  deepBurst: 0.2,
  leastBurst: 0.16,
  /**
   * Most lines in the pauses of that window: wind under a voice has up to 0.3, babble of a coffee shop 0.35, which
   * never has a clear margin. Clear wind over notes has 0.35 too.
   */
  usualPauseTonalShare: 0.32,
  /**
   * Most `cracklesPerSecond` over a windy stretch: 341 winds alone, under and next to voices have up to 2.4, the embers
   * in 13 of 21 recordings of fires 3 to 9. Chosen on half of the collections: 15 fires are found as wind there, 17 in
   * the other half.
   */
  cracklesPerSecond: 3,
  /**
   * Most `knocksPerSecond` over a windy stretch whose rumble bursts more than `lowBurst` (`blockLowBurst`, nats),
   * unless one window reaches `plainMargin`. Bursting wind has up to 0.4 with one exception, balls in a hall 1.2, beats
   * in clips 0.6 to 2.2. Steadier rumble has as many, from voices and steps in the wind, and so has clear wind under
   * music.
   */
  knocks: { perSecond: 0.5, lowBurst: 0.45, plainMargin: 0.9 },
  /** Most total over background, dB: wind under a voice at 5 dB has at most 15, clean speech from 17. */
  totalOverFloorDb: 16,
  /** Rumble at 20-80 Hz that no voice has: from this level on, dBFS, up to `rumbleGrantDb` more is allowed above. */
  rumbleDb: -42,
  rumbleGrantDb: 4,
  /** Slope at 100-1600 Hz, dB per octave: wind has -4.4 to -10, a plane -2.4, pink noise -3. */
  tiltDbPerOctave: -4.2,
  /** Steeper than any measured wind (-15.6): hum and filtered noise. */
  tiltFloorDbPerOctave: -17.5,
  /**
   * Most lines in the pauses, share of power: wind under a voice has up to 0.35, breathless narration 0.42, a rotor
   * 0.6.
   */
  pauseTonalShare: 0.4,
  /** Least spread of the quarter-second background (60th over 10th percentile) within +-6 s, dB. */
  gustDb: 2,
  /**
   * Least mean distance of a quarter second from the mean of its neighbours, dB, scaled to the step of plain noise.
   * Wind on microphones has 1.05 and more, engines and roads 0.55 to 0.8. A swell over seconds, such as a passing car,
   * has none.
   */
  flutterDb: 0.85,
  /** Slow gusts make up for fast ones and vice versa, down to these shares of their limits. */
  leastSlowShare: 0.75,
  leastFastShare: 0.85,
  /**
   * Steadier wind under a voice, if everything else is clear: shares of the gust limits, for both together and for
   * each. Of 300 mixtures of steady outdoor wind with voices, 83 to 87 of 100 are found (73 to 81 with the usual
   * limits). Of 1107 mixtures of voices with engines, streets, music and synthetic noise, none is added.
   */
  steady: {
    gustShare: 0.7,
    leastShare: 0.5,
    lowOverHighDb: 14.2,
    tiltDbPerOctave: -6.5,
    lineSteadiness: 0.12,
    fineLineShare: 0.4,
    pauseTonalShare: 0.3,
    /** Most rumble below 80 Hz against 60-500 Hz, dB; roads have more. */
    rumbleDb: -9,
    lowBurst: 0.17,
  },
} as const;

/**
 * How far beyond its limit each measure is clearly wind's (margin 1), in its own unit; of the gusts, as shares of their
 * limits, both together (`gusts`) and each (`gust`).
 */
const CLEARLY = {
  floorDb: 6,
  lowOverHighDb: 5,
  totalOverFloorDb: 5,
  tiltDbPerOctave: 2,
  tiltFloorDbPerOctave: 5,
  pauseTonalShare: 0.1,
  fineLineShare: 0.2,
  lineSteadiness: 0.1,
  gusts: 0.6,
  gust: 0.25,
} as const;

/** Time on each side in which gusts are measured, ms. */
const GUST_REACH_MS = 6000;
/**
 * Background this much below that of the window, dB, for longer than `LULL_MS` belongs to another sound. Of 2636 voices
 * with 4 to 8 s of engines, streets and fans, 244 are taken for wind (259 without this); of 924 with as much wind, 663
 * are found (664). At 6 dB three more winds are missed, at 3 dB two of 68 in held-out collections
 * (docs/benchmarks/wind.md, "Found or not").
 */
const SAME_SOUND_DB = 8;
const LULL_MS = 1500;
/** Quieter blocks are pauses of the recording and say nothing about gusts, dBFS. */
const GUST_FLOOR_DB = -60;
/** Speech this close to a window counts as around it, ms. */
const VOICE_REACH_MS = 3000;

/** The surroundings of a window, judged together with it. */
export interface Surroundings {
  readonly spreadDb: number;
  readonly flutterDb: number;
  /** Mean of `blockLowBurst`, nats. */
  readonly lowBurst: number;
  /** Share of speech, 0 to 1. */
  readonly voiceShare: number;
}

/**
 * Measures gusts within `GUST_REACH_MS` of the middle of a window, and the share of speech within `VOICE_REACH_MS` of
 * its ends; no gusts without sound.
 */
export function measureSurroundings(
  series: WindSeries,
  window: WindWindow,
  speech: readonly SpeechSpan[],
): Surroundings {
  const { first, end } = blocksOfItsLevel(series, window);
  const blocks = series.blockFloorDb.slice(first, end).filter((level) => level > GUST_FLOOR_DB);
  const lowBurst = mean(series.blockLowBurst.slice(first, end));
  const voiceShare = shareOfSpeech(series, window, speech);
  if (blocks.length < 4) return { spreadDb: 0, flutterDb: 0, lowBurst, voiceShare };
  const bends = blocks.slice(1, -1).map((level, i) => {
    return Math.abs(level - ((blocks[i] ?? level) + (blocks[i + 2] ?? level)) / 2);
  });
  return {
    spreadDb: percentile(blocks, 0.6) - percentile(blocks, 0.1),
    // For independent levels, a bend is sqrt(1.5) and a step sqrt(2) times the deviation.
    flutterDb: mean(bends) * Math.sqrt(2 / 1.5),
    lowBurst,
    voiceShare,
  };
}

/**
 * The blocks around a window that belong to the same sound: within `GUST_REACH_MS` of its middle, as long as the
 * background keeps its level. Otherwise a fan that is switched on would have gusts from the step out of silence.
 */
function blocksOfItsLevel(
  { blockFloorDb, blockMs }: WindSeries,
  { startMs, endMs, floorDb }: WindWindow,
): { first: number; end: number } {
  const middle = (startMs + endMs) / 2;
  const from = Math.max(0, Math.floor((middle - GUST_REACH_MS) / blockMs));
  const to = Math.min(blockFloorDb.length, Math.ceil((middle + GUST_REACH_MS) / blockMs));
  const lull = Math.round(LULL_MS / blockMs);
  const walk = (start: number, step: 1 | -1): number => {
    let reached = start;
    for (let i = start + step; i >= from && i < to && Math.abs(i - reached) <= lull; i += step) {
      if ((blockFloorDb[i] ?? -140) >= floorDb - SAME_SOUND_DB) reached = i;
    }
    return reached;
  };
  return {
    first: Math.max(from, walk(Math.floor(startMs / blockMs), -1)),
    end: Math.min(to, walk(Math.ceil(endMs / blockMs) - 1, 1) + 1),
  };
}

function shareOfSpeech(series: WindSeries, window: WindWindow, speech: readonly SpeechSpan[]): number {
  const from = Math.max(0, window.startMs - VOICE_REACH_MS);
  const to = Math.min(series.windows.at(-1)?.endMs ?? 0, window.endMs + VOICE_REACH_MS);
  const spoken = speech.map((span) => Math.max(0, Math.min(to, span.endMs) - Math.max(from, span.startMs)));
  return spoken.reduce((sum, ms) => sum + ms, 0) / Math.max(1, to - from);
}

/** Whether a window is judged as wind under a voice. */
export function isVoiced(around: Surroundings): boolean {
  return around.voiceShare >= WIND_LIMITS.voicedShare;
}

/**
 * How clearly a window is wind: the smallest margin over the limits, where 0 is at the limit and 1 is clearly beyond.
 * Negative if energy, shape or gusts do not fit; all three must agree.
 */
export function windMargin(window: WindWindow, around: Surroundings): number {
  const { floorDb, tiltDbPerOctave: tilt } = window;
  const { rumbleDb, rumbleGrantDb } = WIND_LIMITS;
  const voiced = isVoiced(around);
  const granted = Math.min(rumbleGrantDb, Math.max(0, window.lowFloorDb - rumbleDb));
  const shape = Math.min(
    (floorDb - window.highFloorDb - WIND_LIMITS.lowOverHighDb + gustGrant(window, around, voiced)) /
      CLEARLY.lowOverHighDb,
    (WIND_LIMITS.totalOverFloorDb + granted - (window.totalDb - floorDb)) / CLEARLY.totalOverFloorDb,
    (WIND_LIMITS.tiltDbPerOctave - tilt) / CLEARLY.tiltDbPerOctave,
    (tilt - WIND_LIMITS.tiltFloorDbPerOctave) / CLEARLY.tiltFloorDbPerOctave,
    (WIND_LIMITS.pauseTonalShare - window.pauseTonalShare) / CLEARLY.pauseTonalShare,
    (WIND_LIMITS.fineLineShare - window.fineLineShare) / CLEARLY.fineLineShare,
    (WIND_LIMITS.lineSteadiness - window.lineSteadiness) / CLEARLY.lineSteadiness,
    gustMargin(around, voiced && hasSteadyShape(window, around)),
  );
  const { voicedQuietMargin, voicedFloorDb, quietMargin, quietFloorDb } = WIND_LIMITS;
  const [plain, lowest] = voiced ? [voicedQuietMargin, voicedFloorDb] : [quietMargin, quietFloorDb];
  const quiet = floorDb < WIND_LIMITS.floorDb && shape >= plain;
  return Math.min(shape, (floorDb - (quiet ? lowest : WIND_LIMITS.floorDb)) / CLEARLY.floorDb);
}

function gustGrant(window: WindWindow, around: Surroundings, voiced: boolean): number {
  const { gustGrantDb, gustGrantFromDb, gustGrantToDb, burstGrantFrom, burstGrantTo } = WIND_LIMITS;
  const gusty = gustGrantDb * ramp(around.flutterDb, gustGrantFromDb, gustGrantToDb);
  if (!voiced) return gusty;
  const rumbles = window.lowFloorDb - window.floorDb > WIND_LIMITS.grantRumbleDb;
  return rumbles ? gusty * ramp(around.lowBurst, burstGrantFrom, burstGrantTo) : 0;
}

function ramp(value: number, from: number, to: number): number {
  return Math.min(1, Math.max(0, (value - from) / (to - from)));
}

function gustMargin(around: Surroundings, maySteady: boolean): number {
  const slow = around.spreadDb / WIND_LIMITS.gustDb;
  const fast = around.flutterDb / WIND_LIMITS.flutterDb;
  const { gustShare, leastShare } = WIND_LIMITS.steady;
  return Math.min(
    ((slow + fast) / 2 - (maySteady ? gustShare : 1)) / CLEARLY.gusts,
    (slow - (maySteady ? leastShare : WIND_LIMITS.leastSlowShare)) / CLEARLY.gust,
    (fast - (maySteady ? leastShare : WIND_LIMITS.leastFastShare)) / CLEARLY.gust,
  );
}

/** Whether everything but the gusts is so much like wind that weak gusts suffice. */
function hasSteadyShape(window: WindWindow, around: Surroundings): boolean {
  const { steady } = WIND_LIMITS;
  return (
    window.floorDb - window.highFloorDb >= steady.lowOverHighDb &&
    window.tiltDbPerOctave <= steady.tiltDbPerOctave &&
    window.lineSteadiness <= steady.lineSteadiness &&
    window.fineLineShare <= steady.fineLineShare &&
    window.pauseTonalShare <= steady.pauseTonalShare &&
    window.lowFloorDb - window.floorDb < steady.rumbleDb &&
    around.lowBurst >= steady.lowBurst
  );
}
