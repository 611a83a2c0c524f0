import { describe, expect, it } from 'vitest';
import { appendSound, createSoundClock, type SoundClock } from '#server/media/signal/pcm-clock.ts';
import { hits, mixAtSnr, voiceLike } from '#server/test/synthetic-sound.ts';
import { seededRandom } from '#server/test/seeded-random.ts';
import {
  containerOffset,
  offsetSeen,
  readClock,
  withoutFirstWaits,
  type StreamTimes,
} from './detect-audio-sync-container.ts';
import { contentOffset, isConvincing, type MotionSeries } from './detect-audio-sync-content.ts';
import { createOnsetMeter } from './detect-audio-sync-onsets.ts';
import { lostPriming, type MovedSound } from './detect-audio-sync-priming.ts';
import {
  dumpedBytes,
  FFMPEG_PRIMING,
  recordedStartMs,
  startIsMoved,
  usualPriming,
} from './detect-audio-sync-start.ts';
import { contentCurve, contentDrift, isConvincingDrift, offsetAt } from './detect-audio-sync-drift.ts';
import { detectAudioSync } from './detect-audio-sync.ts';

const RATE = 48_000;
const FRAME_MS = (1024 / RATE) * 1000;

/** Clock of AAC frames whose timestamps are `place(i)` ms later than their samples say. */
function clockOf(frames: number, place: (index: number) => number): SoundClock {
  const clock = createSoundClock();
  for (let i = 0; i < frames; i++) {
    appendSound(clock, { startMs: i * FRAME_MS + place(i), sampleCount: 1024, rateHz: RATE });
  }
  return clock;
}

const times = (change: Partial<StreamTimes>): StreamTimes => ({
  pictureStartMs: 0,
  pictureEndMs: 10_000,
  soundStartMs: 0,
  soundEndMs: 10_000,
  leadingSilenceMs: 0,
  ...change,
});

describe('containerOffset', () => {
  it.each([240, -120, 1500])('detects a sound that was moved as a whole by %i ms', (by) => {
    expect(containerOffset(times({ soundStartMs: by, soundEndMs: 10_000 + by + 15 }))).toEqual({
      offsetMs: by,
      cause: 'moved',
    });
  });

  it.each([
    [400, 156],
    [-400, 156],
    [300, -118],
  ])('detects a sound moved by %i ms whose end overhung by %i ms before', (by, overhang) => {
    const moved = times({ soundStartMs: by, soundEndMs: 10_000 + by + overhang });
    expect(containerOffset(moved)).toEqual({ offsetMs: by, cause: 'moved' });
  });

  it('does not trust an end that is far from a small shift', () => {
    expect(containerOffset(times({ soundStartMs: 120, soundEndMs: 10_276 }))).toBeNull();
    expect(containerOffset(times({ soundStartMs: 400, soundEndMs: 10_200 }))).toBeNull();
  });

  it('detects a picture that starts early with its head hidden by an edit list, by the sound that overhangs as much', () => {
    const moved = times({ hiddenPictureMs: 500, pictureEndMs: 9500, soundEndMs: 10_020 });
    expect(containerOffset(moved)).toEqual({ offsetMs: 500, cause: 'moved' });
  });

  it.each([
    ['both end together', { hiddenPictureMs: 500 }],
    ['the sound hangs over by far more', { hiddenPictureMs: 334, soundEndMs: 12_000 }],
    ['the sound ends first', { hiddenPictureMs: 500, soundEndMs: 9500 }],
    ['less than a lip can tell is hidden', { hiddenPictureMs: 40, soundEndMs: 10_040 }],
  ])('treats a hidden head of the picture as an intended cut when %s', (_, change) => {
    expect(containerOffset(times(change))).toBeNull();
  });

  it('concludes nothing from where both would begin when edit lists hide the heads of both, as a trim does', () => {
    const trimmed = { hiddenPictureMs: 466, soundStartMs: -413 };
    expect(containerOffset(times(trimmed))).toBeNull();
    // Sound that also ends before its picture must not look as if it had been moved.
    expect(containerOffset(times({ ...trimmed, soundEndMs: 9600 }))).toBeNull();
    expect(containerOffset(times({ soundStartMs: -413, soundEndMs: 9600 }))).toEqual({
      offsetMs: -413,
      cause: 'moved',
    });
  });

  it('ignores encoder priming and a different end', () => {
    expect(containerOffset(times({ soundStartMs: 44, soundEndMs: 10_044 }))).toBeNull();
    expect(containerOffset(times({ soundEndMs: 9_400 }))).toBeNull();
    expect(containerOffset(times({ soundEndMs: 11_400 }))).toBeNull();
  });

  it('leaves a picture or sound that only starts later where it is', () => {
    expect(containerOffset(times({ pictureStartMs: 1000, soundEndMs: 10_005 }))).toBeNull();
    expect(containerOffset(times({ soundStartMs: 300 }))).toBeNull();
    expect(containerOffset(times({ soundStartMs: 300, soundEndMs: 10_300, pictureEndMs: null }))).toBeNull();
  });

  it('detects silence added before the sound when the end overhangs by as much', () => {
    expect(containerOffset(times({ leadingSilenceMs: 300, soundEndMs: 10_310 }))?.offsetMs).toBe(300);
    expect(containerOffset(times({ leadingSilenceMs: 300 }))).toBeNull();
  });
});

describe('offsetSeen', () => {
  it.each([
    [1000, 10_700],
    [120, 10_276],
    [-400, 9000],
  ])('moves sound that starts %i ms from the picture and ends at %i ms by its start', (by, soundEndMs) => {
    const moved = times({ soundStartMs: by, soundEndMs });
    expect(containerOffset(moved)).toBeNull();
    expect(offsetSeen(moved)).toEqual({ offsetMs: by, cause: 'seen' });
  });

  it.each([
    ['only lacks its first piece', { soundStartMs: 300 }],
    ['ends on the other side', { soundStartMs: 300, soundEndMs: 9700 }],
    ['begins with the picture', { soundEndMs: 9000 }],
    ['was trimmed with the picture', { hiddenPictureMs: 466, soundStartMs: -413, soundEndMs: 9600 }],
    ['goes with a picture of unknown length', { soundStartMs: 300, soundEndMs: 10_300, pictureEndMs: null }],
  ])('leaves sound that %s', (_, change) => {
    expect(offsetSeen(times(change))).toBeNull();
  });
});

describe('withoutFirstWaits', () => {
  const lateSound = times({ soundEndMs: 10_400 });

  it('reads a longer first sample as the start of everything after it, if the ends agree', () => {
    expect(withoutFirstWaits(lateSound, { pictureMs: 0, soundMs: 390 }).soundStartMs).toBe(390);
    const latePicture = times({ pictureEndMs: 10_600 });
    expect(withoutFirstWaits(latePicture, { pictureMs: 600, soundMs: 0 }).pictureStartMs).toBe(600);
  });

  it('finds no offset in a first piece of sound that lasts until the reordered pictures begin, though the sound ends as much earlier', () => {
    const stated = times({ pictureStartMs: 66.73, pictureEndMs: 10_066, soundEndMs: 10_005 });
    const told = withoutFirstWaits(stated, { pictureMs: 0, soundMs: 66.75 });
    expect(told.soundStartMs).toBe(66.75);
    expect(containerOffset(told)).toBeNull();
    expect(containerOffset(stated)?.cause).toBe('moved');
  });

  it.each([
    ['the ends lie together', times({}), 390],
    ['the wait is short', lateSound, 40],
    ['the ends say something else', times({ soundEndMs: 11_500 }), 390],
    ['the starts tell the offset already', times({ soundStartMs: 400, soundEndMs: 10_400 }), 390],
    ['nobody knows where the picture ends', times({ pictureEndMs: null }), 390],
  ])('leaves the times as stated when %s', (_, stated, soundMs) => {
    expect(withoutFirstWaits(stated, { pictureMs: 0, soundMs })).toBe(stated);
  });
});

describe('lostPriming', () => {
  const RATE_HZ = 44_100;
  /** A clip of 10 s whose sound consists of whole frames and begins this many samples in. */
  const moved = (firstTicks: number, frames: number, change: Partial<MovedSound> = {}): MovedSound => ({
    stream: {
      index: 1,
      codec: 'aac',
      profile: 'LC',
      sampleRateHz: RATE_HZ,
      channels: 2,
      channelLayout: 'stereo',
      timeBase: { num: 1, den: RATE_HZ },
      startMs: (firstTicks / RATE_HZ) * 1000,
      durationMs: null,
      bitRate: null,
      handler: 'Core Media Audio',
    },
    packets: {
      timeBase: { num: 1, den: RATE_HZ },
      ptsTicks: [firstTicks],
      durationTicks: [1024, 1024, 1024],
    },
    pictureStartMs: 0,
    pictureEndMs: 10_000,
    soundEndMs: ((firstTicks + 1024 * frames) / RATE_HZ) * 1000,
    silentSamples: 2050,
    ...change,
  });
  // 431 frames last 10 s; 433 do with Apple's priming before them.
  const [PLAIN, PRIMED] = [431, 433];

  it("is assumed for Apple's sound that is longer than the picture by it, moved to either side", () => {
    expect(lostPriming(moved(6708, PRIMED))).toBe(2112);
    expect(lostPriming(moved(-10_932, PRIMED))).toBe(2112);
  });

  it('is assumed for the FDK encoder if the sound is heard right after it', () => {
    const { stream } = moved(0, 0);
    const service = { stream: { ...stream, handler: 'SoundHandler' } };
    expect(lostPriming(moved(6772, PRIMED + 1, service))).toBe(2048);
    expect(lostPriming(moved(6772, PRIMED + 1, { ...service, silentSamples: 5200 }))).toBeNull();
  });

  it.each([
    ['is as long as the picture', moved(8820, PLAIN)],
    ['was cut', moved(6708, PLAIN - 5)],
    ['is heard at once', moved(6708, PRIMED, { silentSamples: 40 })],
    ['is much longer', moved(6708, PRIMED + 20)],
    ['ends nobody knows where beside the picture', moved(6708, PRIMED, { pictureEndMs: null })],
  ])('is not assumed for a sound that %s', (_, sound) => {
    expect(lostPriming(sound)).toBeNull();
  });

  it('is assumed for HE-AAC by its profile, however late it is heard', () => {
    const { stream, packets } = moved(0, 0);
    const long = packets && { ...packets, durationTicks: [2048, 2048, 2048] };
    const he = (profile: string) => ({
      stream: { ...stream, handler: 'SoundHandler', profile },
      packets: long,
      silentSamples: 8492,
    });
    expect(lostPriming(moved(0, PLAIN + 7, he('HE-AAC')))).toBe(5058);
    expect(lostPriming(moved(0, PLAIN + 7, he('HE-AACv2')))).toBe(7106);
  });

  it('is assumed for a service by the name of its writer, though its sound ends before the picture', () => {
    const { stream, packets } = moved(0, 0);
    const long = packets && { ...packets, durationTicks: [2048, 2048, 2048] };
    const named = { stream: { ...stream, handler: 'ETI ISO Audio Media Handler' }, packets: long };
    expect(lostPriming(moved(5780, PLAIN - 2, { ...named, silentSamples: 9082 }))).toBe(3040);
    expect(lostPriming(moved(5780, PLAIN - 2, { ...named, silentSamples: 1000 }))).toBeNull();
  });

  it('is assumed for HE-AAC by when it is first heard and by how much longer it is', () => {
    const { stream, packets } = moved(0, 0);
    const long = packets && { ...packets, durationTicks: [2048, 2048, 2048] };
    const he = { stream: { ...stream, handler: 'SoundHandler' }, packets: long };
    expect(lostPriming(moved(0, PLAIN + 7, { ...he, silentSamples: 6700 }))).toBe(7106);
    expect(lostPriming(moved(0, PLAIN + 10, { ...he, silentSamples: 9000 }))).toBe(5058);
    expect(lostPriming(moved(0, PLAIN + 7, { ...he, silentSamples: 4900 }))).toBe(5058);
    expect(lostPriming(moved(0, PLAIN + 1, { ...he, silentSamples: 6700 }))).toBeNull();
    expect(lostPriming(moved(0, PLAIN + 7, { ...he, silentSamples: 3000 }))).toBeNull();
  });

  it('is not assumed for other frames', () => {
    const { packets } = moved(0, 0);
    const other = packets && { ...packets, durationTicks: [960, 960, 960] };
    expect(lostPriming(moved(6708, PRIMED, { packets: other }))).toBeNull();
  });
});

describe('recordedStartMs', () => {
  const stream = {
    index: 1,
    codec: 'aac',
    profile: 'LC',
    sampleRateHz: RATE,
    channels: 1,
    channelLayout: 'mono',
    timeBase: { num: 1, den: RATE },
    startMs: 218,
    durationMs: 10_000,
    bitRate: null,
  };
  const packets = (first: number) => ({
    timeBase: { num: 1, den: RATE },
    ptsTicks: [first],
    durationTicks: [1024],
  });

  it('adds the priming that a moved sound plays, if the encoder is known to hide it', () => {
    expect(recordedStartMs(stream, packets(10_464), FFMPEG_PRIMING)).toBeCloseTo(239.33, 2);
    expect(recordedStartMs(stream, packets(10_464), null)).toBe(218);
    // A delay that is hardly longer than priming is a moved sound, too.
    const hardly = { ...stream, startMs: 52 };
    expect(recordedStartMs(hardly, packets(2496), FFMPEG_PRIMING)).toBeCloseTo(73.33, 2);
    expect(recordedStartMs(hardly, packets(2496), null)).toBe(52);
  });

  it('adds the priming that plays at the very beginning if no edit hides it', () => {
    expect(recordedStartMs({ ...stream, startMs: 0 }, packets(0), FFMPEG_PRIMING)).toBeCloseTo(21.33, 2);
    expect(recordedStartMs({ ...stream, startMs: 0 }, packets(0), null)).toBe(0);
    expect(recordedStartMs({ ...stream, startMs: 0 }, packets(-1024), FFMPEG_PRIMING)).toBe(0);
  });

  it('detects the head of a sound that an edit list hides, minus the priming of an encoder that hides it', () => {
    expect(recordedStartMs({ ...stream, startMs: 0 }, packets(-12_544), FFMPEG_PRIMING)).toBeCloseTo(-240, 2);
    expect(recordedStartMs({ ...stream, startMs: 0 }, packets(-11_520), null)).toBeCloseTo(-240, 2);
    expect(recordedStartMs({ ...stream, startMs: 0 }, packets(-1024), null)).toBe(0);
  });

  it.each([
    ['the 3040 of HE-AAC that a service writes', { num: 1, den: 22_050 }, -3040],
    ['the 7106 of HE-AAC v2 at the full rate', { num: 1, den: 22_050 }, -3553],
    ['2112 at 16 kHz', { num: 1, den: 16_000 }, -2112],
  ])('treats a head of %s as priming, unless its encoder adds less', (_, timeBase, first) => {
    const low = { ...stream, startMs: 0, timeBase };
    const started = { ...packets(first), timeBase };
    expect(recordedStartMs(low, started, null)).toBe(0);
    expect(recordedStartMs(low, { ...started, ptsTicks: [4 * -1024] }, null)).toBeLessThan(-180);
    expect(recordedStartMs(low, started, FFMPEG_PRIMING)).toBeLessThan(-60);
  });

  it.each([
    ['mp3', -0.2 * RATE - 1105, -200],
    ['mp3', 0.276 * RATE, 299.02],
    ['opus', 0.2 * RATE - 312, 200],
    ['ac3', 0.2 * RATE - 256, 200],
  ])('knows the priming of %s', (codec, first, recorded) => {
    const other = { ...stream, codec, startMs: Math.max(0, (first / RATE) * 1000) };
    expect(recordedStartMs(other, packets(first), usualPriming(codec, 'mov'))).toBeCloseTo(recorded, 1);
    expect(usualPriming(codec, 'avi')).toBeNull();
  });

  it('treats a delay as a move when it is long enough only with its priming', () => {
    expect(startIsMoved({ ...stream, startMs: 37 }, packets(37 * 48), 0)).toBe(true);
    expect(startIsMoved({ ...stream, startMs: 25 }, packets(25 * 48), 0)).toBe(false);
    expect(startIsMoved({ ...stream, startMs: 35, codec: 'mp3' }, packets(35 * 48), 0)).toBe(true);
    expect(startIsMoved({ ...stream, startMs: 45, codec: 'flac' }, packets(45 * 48), 0)).toBe(false);
  });

  it('reads the mark if the sound or its hidden head begins apart from the picture', () => {
    expect(startIsMoved(stream, packets(10_464), 0)).toBe(true);
    expect(startIsMoved({ ...stream, startMs: 0 }, packets(-12_544), 0)).toBe(true);
    expect(startIsMoved({ ...stream, startMs: 0 }, packets(-2112), 0)).toBe(false);
    expect(startIsMoved({ ...stream, startMs: 21 }, null, 0)).toBe(false);
  });

  it('finds the mark across the lines of a hex dump', () => {
    const dump =
      '\n00000000: de02 004c 6176 6335 392e 3337 2e31 3030  ...Lavc59.37.100\n00000010: 0002 5fc0  .._.\n';
    expect(dumpedBytes(dump)).toContain('Lavc59.37');
  });
});

describe('readClock', () => {
  it('ignores jitter that returns', () => {
    const facts = readClock(clockOf(500, (i) => (i % 10 === 0 ? 9 : 0)));
    expect(facts.holes).toEqual([]);
    expect(Math.abs(facts.driftTotalMs)).toBeLessThan(20);
  });

  it('finds a hole with its place and length', () => {
    const facts = readClock(clockOf(500, (i) => (i >= 200 ? 128 : 0)));
    expect(facts.holes).toHaveLength(1);
    expect(facts.holes[0]?.startMs).toBeCloseTo(200 * FRAME_MS, 6);
    expect(facts.holes[0]?.durationMs).toBeCloseTo(128, 6);
    expect(facts.driftPpm).toBe(0);
  });

  it('treats times that step back as an overlap at one place, not as a clock error', () => {
    const facts = readClock(clockOf(400, (i) => (i < 100 ? 0 : i < 103 ? -20 * (i - 99) : -60)));
    expect(facts).toMatchObject({ holes: [], driftPpm: 0, driftTotalMs: 0, reliable: true });
    expect(facts.overlapMs).toBeCloseTo(60);
  });

  it('still measures a drift on both sides of a step back', () => {
    const facts = readClock(clockOf(400, (i) => -0.003 * i * FRAME_MS - (i < 200 ? 0 : 60)));
    expect(facts.overlapMs).toBeCloseTo(60, 0);
    expect(Math.abs(facts.driftPpm - (1e6 / 0.997 - 1e6))).toBeLessThan(20);
  });

  it('treats a long first frame as the start of the sound, not as a hole', () => {
    expect(readClock(clockOf(300, (i) => (i >= 1 ? 155 : 0))).holes).toEqual([]);
  });

  it('finds no hole before a lone last frame, the rest of one that was cut off', () => {
    const holes = (from: number) => readClock(clockOf(300, (i) => (i >= from ? 167 : 0))).holes;
    expect(holes(299)).toEqual([]);
    expect(holes(298)).toHaveLength(1);
  });

  it.each([1500, -800])('measures a clock that is %i ppm off', (ppm) => {
    const facts = readClock(clockOf(1500, (i) => i * FRAME_MS * (1 / (1 + ppm / 1e6) - 1)));
    expect(facts.driftPpm).toBeCloseTo(ppm, 0);
    expect(Math.sign(facts.driftTotalMs)).toBe(Math.sign(ppm));
    expect(facts.holes).toEqual([]);
  });

  it('does not trust timestamps that are grossly wrong', () => {
    expect(readClock(clockOf(80, (i) => -i * FRAME_MS * 0.98)).reliable).toBe(false);
    // A gap of ten hours between two frames.
    expect(readClock(clockOf(80, (i) => (i > 40 ? 36_000_000 : 0))).reliable).toBe(false);
  });
});

describe('a sound with holes', () => {
  const torn = (change: Partial<StreamTimes>) =>
    detectAudioSync({
      times: times(change),
      clock: clockOf(400, (i) => (i >= 300 ? 192 : i >= 200 ? 128 : 0)),
      motion: null,
      onsets: null,
    }).finding;

  it('has its fault from the first hole to the last', () => {
    const finding = torn({});
    expect(finding?.startMs).toBeCloseTo(200 * FRAME_MS, 3);
    expect(finding?.endMs).toBeCloseTo(300 * FRAME_MS + 192, 3);
  });

  it('has it everywhere if it was moved as well', () => {
    expect(torn({ soundStartMs: 300, soundEndMs: 10_300 })).toMatchObject({ startMs: 300, endMs: 10_300 });
  });
});

describe('a sound that lost its end', () => {
  const input = {
    times: times({ soundStartMs: 1000, soundEndMs: 10_700 }),
    clock: clockOf(455, () => 1000),
    motion: null,
    onsets: null,
  };

  it('is moved only where somebody saw that it is late', () => {
    const left = detectAudioSync(input);
    expect(left.finding).toBeNull();
    expect(left.notes.join(' ')).toContain('Nothing shows which, so nothing was moved.');
    const seen = detectAudioSync({ ...input, isSeen: true });
    expect(seen.finding).toMatchObject({
      confidence: 0.6,
      detail: { evidence: 'container', offsetMs: 1000 },
    });
    expect(seen.notes.join(' ')).not.toContain('nothing was moved');
  });
});

/** Motion at 30 pictures a second with sudden starts at the given times over small random motion. */
function motionAt(timesMs: readonly number[], seconds: number, seed: number): MotionSeries {
  const random = seededRandom(seed);
  const frameTimesMs = Array.from({ length: seconds * 30 }, (_, i) => (i * 1000) / 30);
  const motion = frameTimesMs.map(() => 0.8 + 0.6 * random());
  for (const timeMs of timesMs) {
    const at = Math.ceil((timeMs * 30) / 1000);
    [12, 4, 9].forEach((rise, d) => {
      motion[at + d] = (motion[at + d] ?? 0) + rise;
    });
  }
  return { motion, frameTimesMs };
}

function onsetsOf(samples: Float32Array) {
  const meter = createOnsetMeter();
  meter.push(samples);
  return { strength: meter.strength, timesMs: meter.strength.map((_, i) => meter.sampleOf(i) / 16) };
}

const EVENTS = [1200, 2750, 4100, 6333, 7000, 8850, 10_400, 12_020];

describe('contentOffset', () => {
  it.each([0, 120, -240, 700])('measures hits that are heard %i ms after they are seen', (offsetMs) => {
    const struck = hits(
      15,
      16_000,
      EVENTS.map((t) => t + offsetMs),
      3,
    );
    const sound = mixAtSnr(struck, voiceLike(15, 16_000, 4), 3);
    const evidence = contentOffset(motionAt(EVENTS, 15, 5), onsetsOf(sound));
    expect(evidence && isConvincing(evidence)).toBe(true);
    expect(Math.abs((evidence?.offsetMs ?? 999) - offsetMs)).toBeLessThanOrEqual(20);
  });

  it('finds nothing convincing between unrelated picture and sound', () => {
    for (let seed = 1; seed <= 25; seed++) {
      const random = seededRandom(seed);
      const other = Array.from({ length: 8 }, () => 1000 + 12_500 * random());
      const evidence = contentOffset(motionAt(EVENTS, 15, seed), onsetsOf(hits(15, 16_000, other, seed)));
      expect(evidence !== null && isConvincing(evidence), `seed ${seed}`).toBe(false);
    }
  });

  it('does not choose between the periods of a fast beat', () => {
    const beat = Array.from({ length: 27 }, (_, i) => 700 + 500 * i);
    const sound = hits(
      15,
      16_000,
      beat.map((t) => t + 255),
      3,
    ).map((v, i) => v + 1e-3 * Math.sin(i * i));
    const evidence = contentOffset(motionAt(beat.slice(1, -1), 15, 5), onsetsOf(sound));
    expect(evidence !== null && isConvincing(evidence)).toBe(false);
  });
});

const MANY = [
  900, 1630, 2750, 3480, 4100, 5320, 6333, 7000, 7910, 8850, 9444, 10_400, 11_210, 12_020, 13_300,
];

/** Hits under a voice whose distance to the picture is a line: `startMs` at 0, `driftMs` more at 15 s. */
function drifting(events: readonly number[], startMs: number, driftMs: number, seed: number) {
  const struck = hits(
    15,
    16_000,
    events.map((t) => t + startMs + (driftMs * t) / 15_000),
    seed,
  );
  return onsetsOf(mixAtSnr(struck, voiceLike(15, 16_000, seed + 1), 6));
}

describe('contentDrift', () => {
  it.each([
    [0, 400],
    [0, -300],
    [150, 200],
    [-200, 400],
  ])('measures a sound that is %i ms off at the start and drifts by %i ms', (startMs, driftMs) => {
    const motion = motionAt(MANY, 15, 5);
    const onsets = drifting(MANY, startMs, driftMs, 3);
    const evidence = contentDrift(motion, onsets);
    expect(evidence && isConvincingDrift(evidence)).toBe(true);
    if (!evidence) return;
    for (const atMs of [0, 7500, 15_000]) {
      const trueMs = startMs + (driftMs * atMs) / 15_000;
      expect(Math.abs(offsetAt(evidence.line, atMs) - trueMs), `at ${atMs} ms`).toBeLessThanOrEqual(20);
    }
    const curve = contentCurve(motion, onsets, evidence.line, 60);
    expect(curve.length).toBeGreaterThanOrEqual(4);
    for (const { atMs, offsetMs } of curve) {
      expect(Math.abs(offsetMs - startMs - (driftMs * atMs) / 15_000)).toBeLessThanOrEqual(25);
    }
  });

  it.each([0, 250])('is not claimed for a sound that is %i ms off throughout', (offsetMs) => {
    const evidence = contentDrift(motionAt(MANY, 15, 7), drifting(MANY, offsetMs, 0, 4));
    expect(evidence !== null && isConvincingDrift(evidence)).toBe(false);
  });

  it('is not claimed for unrelated pictures and sounds, nor for a few events', () => {
    for (let seed = 1; seed <= 12; seed++) {
      const random = seededRandom(seed);
      const other = MANY.map(() => 1000 + 12_500 * random());
      const evidence = contentDrift(motionAt(MANY, 15, seed), onsetsOf(hits(15, 16_000, other, seed)));
      expect(evidence !== null && isConvincingDrift(evidence), `seed ${seed}`).toBe(false);
    }
    expect(contentDrift(motionAt(MANY.slice(0, 5), 15, 1), drifting(MANY, 0, 400, 1))).toBeNull();
  });
});

describe('detectAudioSync', () => {
  const clock = clockOf(469, () => 0);

  it('returns no finding and no note for a clip in order', () => {
    expect(detectAudioSync({ times: times({}), clock, motion: null, onsets: null })).toEqual({
      finding: null,
      notes: [],
    });
  });

  it('says in a sentence why a late start is left alone', () => {
    const verdict = detectAudioSync({
      times: times({ pictureStartMs: 1000, soundEndMs: 10_005 }),
      clock,
      motion: null,
      onsets: null,
    });
    expect(verdict.finding).toBeNull();
    expect(verdict.notes[0]).toContain('The picture begins 1000 ms after the sound');
    expect(verdict.notes[0]).toContain('a piece is missing at the start');
  });

  it('does not call a piece missing at the start when the ends are apart in the same way', () => {
    const early = times({ pictureStartMs: 137, pictureEndMs: 10_200 });
    const { finding, notes } = detectAudioSync({ times: early, clock, motion: null, onsets: null });
    expect(finding).toBeNull();
    expect(notes).toEqual([expect.stringContaining('they end 200 ms apart, the same one later both times')]);
  });

  it.each([
    [
      -600,
      'The sound ends 600 ms before the picture: a piece is missing, or one of them runs at a wrong speed.',
    ],
    [
      400,
      'The picture ends 400 ms before the sound: a piece is missing, or one of them runs at a wrong speed.',
    ],
    [-3000, 'The sound ends 3000 ms before the picture; both were left as they are.'],
  ])('says in a sentence that the ends are apart (%d ms), and moves nothing', (apart, text) => {
    const { pictureEndMs } = times({});
    const ends = times({ soundEndMs: (pictureEndMs ?? 0) + apart });
    const verdict = detectAudioSync({ times: ends, clock, motion: null, onsets: null });
    expect(verdict.finding).toBeNull();
    expect(verdict.notes[0]).toContain(text);
  });

  it('says nothing about ends that are as far apart as phones and editors leave them', () => {
    const { pictureEndMs } = times({});
    const ends = times({ soundEndMs: (pictureEndMs ?? 0) - 150 });
    expect(detectAudioSync({ times: ends, clock, motion: null, onsets: null }).notes).toEqual([]);
  });

  it('acts on content when the container shows nothing', () => {
    const sound = hits(
      15,
      16_000,
      EVENTS.map((t) => t + 200),
      3,
    );
    const verdict = detectAudioSync({
      times: times({}),
      clock,
      motion: motionAt(EVENTS, 15, 5),
      onsets: onsetsOf(mixAtSnr(sound, voiceLike(15, 16_000, 8), 10)),
    });
    expect(verdict.finding?.detail).toMatchObject({ evidence: 'content' });
    expect(verdict.finding?.confidence).toBeGreaterThanOrEqual(0.6);
    expect(Math.abs((verdict.finding?.measure.value ?? 0) - 200)).toBeLessThanOrEqual(20);
    const points = verdict.finding?.curve?.points ?? [];
    expect(points.length).toBeGreaterThan(1);
    points.forEach(({ value }) => expect(Math.abs(value - 200)).toBeLessThanOrEqual(25));
  });

  it.each([
    ['leaves', 60],
    ['moves', 110],
    ['moves', -70],
  ])('%s a sound that only the content shows to be %i ms off the picture', (verb, offsetMs) => {
    const sound = hits(
      15,
      16_000,
      EVENTS.map((t) => t + offsetMs),
      3,
    );
    const onsets = onsetsOf(mixAtSnr(sound, voiceLike(15, 16_000, 8), 10));
    const { finding } = detectAudioSync({ times: times({}), clock, motion: motionAt(EVENTS, 15, 5), onsets });
    expect(finding === null ? 'leaves' : 'moves').toBe(verb);
  });

  it('draws the curve of a drift that only the content shows', () => {
    const { finding } = detectAudioSync({
      times: times({ pictureEndMs: 15_000, soundEndMs: 15_000 }),
      clock,
      motion: motionAt(MANY, 15, 5),
      onsets: drifting(MANY, 0, 400, 3),
    });
    expect(finding?.detail).toMatchObject({ kind: 'audio_sync', evidence: 'content', holes: [] });
    expect(finding?.detail.kind === 'audio_sync' && finding.detail.driftPpm).toBeCloseTo(26_667, -3.5);
    expect(Math.abs((finding?.measure.value ?? 0) - 400)).toBeLessThanOrEqual(20);
    expect(finding?.curve).toMatchObject({ quantity: 'sync_offset', unit: 'ms', source: 'content' });
  });

  it('draws the curve of the clock when timestamps show a drift', () => {
    const slow = clockOf(469, (i) => i * FRAME_MS * (1 / 1.004 - 1));
    const { finding } = detectAudioSync({ times: times({}), clock: slow, motion: null, onsets: null });
    const points = finding?.curve?.points ?? [];
    expect(points).toHaveLength(25);
    expect(points[0]?.value).toBeCloseTo(0, 6);
    expect(points.at(-1)?.value).toBeCloseTo(finding?.measure.value ?? 0, 0);
  });

  it('leaves a moved sound alone when what is seen and heard already matches', () => {
    const verdict = detectAudioSync({
      times: times({ soundStartMs: 300, soundEndMs: 10_300 }),
      clock,
      motion: motionAt(EVENTS, 15, 5),
      onsets: onsetsOf(mixAtSnr(hits(15, 16_000, EVENTS, 3), voiceLike(15, 16_000, 8), 10)),
    });
    expect(verdict.finding).toBeNull();
    expect(verdict.notes.join(' ')).toContain('is in sync, so it was left as it is');
  });
});

describe('a sound whose times are counted at a rate that a header states', () => {
  const frames = Math.round(10_000 / FRAME_MS);
  const slow = clockOf(frames, (index) => 0.01 * index * FRAME_MS);
  const judge = (pictureEndMs: number, countsTimes: boolean) =>
    detectAudioSync({
      times: times({ pictureEndMs, soundEndMs: 10_100 }),
      clock: slow,
      motion: null,
      onsets: null,
      countsTimes,
    });

  it('is not stretched to them if its samples end with the picture', () => {
    const { finding, notes } = judge(10_000, true);
    expect(finding).toBeNull();
    expect(notes.join(' ')).toMatch(/a wrong speed for the sound/);
  });

  it('is stretched if its times end with the picture, and if they are more than counted', () => {
    expect(judge(10_100, true).finding?.detail).toMatchObject({ kind: 'audio_sync' });
    expect(judge(10_000, false).finding?.detail).toMatchObject({ kind: 'audio_sync' });
  });
});
