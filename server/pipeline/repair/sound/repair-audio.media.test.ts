import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shiftAudioTrack } from '#server/media/mp4/shift-track.ts';
import { decodeSound } from '#server/media/signal/pcm.ts';
import { soundStartMs } from '#server/media/signal/pcm-clock.ts';
import { probe, type MediaInfo } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { makeMovingClip } from '#server/test/broken-clips.ts';
import {
  bakeOffset,
  makeFlashes,
  moveSound,
  replaceSound,
  skewSoundClock,
  tearHoles,
} from '#server/test/broken-sound.ts';
import { gustingWind, hits, mixAtSnr, siSdr, voiceLike } from '#server/test/synthetic-sound.ts';
import { analyseAudio, type AudioAnalysis } from '../../analyse/analyse-audio.ts';
import { analysePicture } from '../../analyse/analyse-picture.ts';
import { readPackets } from '../../analyse/packets/read-packets.ts';
import { repairAudio, type RepairAudioResult } from './repair-audio.ts';
import { testTools as tools } from '#server/test/media-job.ts';
import { onceForEach } from '#server/test/once-for-each.ts';

const RATE = 48_000;
const SECONDS = 12;

/** Facts about a clip, each of which is written once. */
const infoOf = onceForEach((file: string) => probe(tools, file, 'mov'));

interface Sound {
  readonly samples: Float32Array;
  readonly startMs: number;
  readonly info: MediaInfo;
}

/** Samples of the first channel at 48 kHz, and the time of the first one. */
async function readSound(file: string): Promise<Sound> {
  const info = await infoOf(file);
  const chunks: Float32Array[] = [];
  const clock = await decodeSound({
    inputPath: file,
    info,
    rateHz: RATE,
    channels: 1,
    tools,
    onSamples: (samples) => void chunks.push(samples),
  });
  const samples = new Float32Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    samples.set(chunk, at);
    at += chunk.length;
  }
  return { samples, startMs: soundStartMs(clock), info };
}

/**
 * How much later `made` plays a second of the true sound than it should, ms: the lag of the best normalised correlation
 * from `atMs` on, both on the container's axis.
 */
function lagMs(
  truth: { samples: Float32Array; startMs: number },
  made: { samples: Float32Array; startMs: number },
  atMs: number,
): number {
  const reach = Math.round(0.05 * RATE);
  const heard = windowOf(truth.samples, Math.round(((atMs - truth.startMs) / 1000) * RATE), RATE);
  const base = Math.round(((atMs - made.startMs) / 1000) * RATE);
  const played = windowOf(made.samples, base - reach, RATE + 2 * reach);
  const alikeBy = (step: number) => (lag: number) => {
    let sum = 0;
    let energy = 1e-9;
    for (let i = 0; i < RATE; i += step) {
      const sample = played[reach + lag + i] ?? 0;
      sum += (heard[i] ?? 0) * sample;
      energy += sample * sample;
    }
    return sum / Math.sqrt(energy);
  };
  // Neither voices nor claps in their envelope change much in three samples, and every 17th tells about where they are.
  const near = mostAlike(-reach, reach, COARSE, alikeBy(17));
  const most = Math.min(reach, near + COARSE);
  const best = mostAlike(Math.max(-reach, near - COARSE), most, 1, alikeBy(3));
  return (best / RATE) * 1000;
}

const COARSE = 3;

/** A part of the samples, with silence where there are none. */
function windowOf(samples: Float32Array, from: number, length: number): Float32Array {
  const part = new Float32Array(length);
  part.set(samples.subarray(Math.max(0, from), Math.max(0, from + length)), Math.max(0, -from));
  return part;
}

function mostAlike(from: number, to: number, step: number, alike: (lag: number) => number): number {
  let [best, most] = [from, -Infinity];
  for (let lag = from; lag <= to; lag += step) {
    const value = alike(lag);
    if (value > most) [best, most] = [lag, value];
  }
  return best;
}

const CLAPS = [
  900, 1630, 2750, 3480, 4100, 5320, 6333, 7000, 7910, 8850, 9444, 10_400, 11_210, 12_020, 13_300,
];

/** The sound's peaks above the voice: they are claps, however their noise was resampled. */
function envelope<Sound extends { samples: Float32Array }>(sound: Sound): Sound {
  let level = 0;
  const samples = sound.samples.map((value) => {
    level = Math.max(Math.abs(value), level * 0.998);
    return level > 0.3 ? level : 0;
  });
  return { ...sound, samples };
}

function stretched<Sound extends { samples: Float32Array }>(sound: Sound, factor: number): Sound {
  const samples = Float32Array.from({ length: Math.floor(sound.samples.length * factor) }, (_, i) => {
    const at = i / factor;
    const low = sound.samples[Math.floor(at)] ?? 0;
    return low + ((sound.samples[Math.ceil(at)] ?? low) - low) * (at % 1);
  });
  return { ...sound, samples };
}

let folder = '';
let clean = '';
let truth: Sound;
let voice: Float32Array;
let windy: Float32Array;
/** A clip with the windy sound in both channels. */
let windyClip = '';

const inFolder = (name: string) => path.join(folder, name);

async function analyse(file: string): Promise<AudioAnalysis> {
  const info = await infoOf(file);
  const { audio } = await readPackets({ inputPath: file, info, tools });
  return analyseAudio({ inputPath: file, info, audioPackets: audio, motion: null, tools });
}

async function analyseSeen(file: string): Promise<AudioAnalysis> {
  const info = await infoOf(file);
  const { audioPackets, motion } = await analysePicture({ inputPath: file, info, tools });
  return analyseAudio({ inputPath: file, info, audioPackets, motion, tools });
}

async function repair(file: string, analysis: AudioAnalysis): Promise<RepairAudioResult> {
  const info = await infoOf(file);
  const workDir = `${file}.work`;
  const shares: number[] = [];
  const onProgress = (share: number) => shares.push(share);
  const result = await repairAudio({
    inputPath: file,
    info,
    findings: analysis.findings,
    workDir,
    tools,
    onProgress,
  });
  expect(shares.at(-1)).toBe(1);
  shares.slice(1).forEach((share, i) => expect(share).toBeGreaterThanOrEqual(shares[i] ?? 0));
  return result;
}

/** Writes the repaired clip: the sound moved by an edit list, or the new sound muxed at its start. */
async function finish(file: string, { audio }: RepairAudioResult): Promise<string> {
  const outputPath = `${file}.mended.mp4`;
  if (audio.kind === 'copy') {
    await shiftAudioTrack({ inputPath: file, outputPath, shiftMs: audio.shiftMs });
    return outputPath;
  }
  await runFfmpeg(
    {
      label: 'mux the repaired sound',
      inputs: [
        { path: file },
        { path: audio.path, options: ['-itsoffset', (audio.startMs / 1000).toFixed(6)] },
      ],
      outputs: [{ path: outputPath, options: ['-map', '0:v', '-map', '1:a', '-c', 'copy', '-f', 'mp4'] }],
      expectedDurationMs: null,
    },
    { tools },
  );
  return outputPath;
}

/** Checks that every moment plays in its place, and that the detector finds nothing any more. */
async function expectInSync(mended: string): Promise<void> {
  expect((await analyse(mended)).findings.filter(({ kind }) => kind === 'audio_sync')).toEqual([]);
  const made = await readSound(mended);
  for (const atMs of [900, 5500, 10_200]) {
    expect(Math.abs(lagMs(truth, made, atMs)), `lag at ${atMs} ms`).toBeLessThanOrEqual(5);
  }
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'repair-audio-'));
  const silent = inFolder('picture.mp4');
  await makeMovingClip({
    tools,
    outputPath: silent,
    seconds: SECONDS,
    width: 160,
    height: 96,
    sound: false,
  });
  voice = voiceLike(SECONDS, RATE, 5);
  clean = inFolder('clean.mp4');
  await replaceSound({ tools, inputPath: silent, outputPath: clean, channels: [voice], rateHz: RATE });
  truth = await readSound(clean);
  windy = mixAtSnr(voice, gustingWind(SECONDS, RATE, 11), 0);
  windyClip = inFolder('windy.mp4');
  const channels = [windy, windy];
  await replaceSound({ tools, inputPath: clean, outputPath: windyClip, channels, rateHz: RATE });
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe('repairAudio', () => {
  it('finds nothing in a clean clip', async () => {
    const { findings, speech } = await analyse(clean);
    expect(findings).toEqual([]);
    expect(speech.length).toBeGreaterThan(1);
  });

  it.each([240, -180, 1200])('puts sound moved by %i ms back without re-encoding', async (offsetMs) => {
    const file = inFolder(`moved${offsetMs}.mp4`);
    await moveSound({ tools, inputPath: clean, outputPath: file, offsetMs });
    const analysis = await analyse(file);
    expect(analysis.findings.map(({ kind }) => kind)).toEqual(['audio_sync']);
    const result = await repair(file, analysis);
    expect(result.audio.kind).toBe('copy');
    expect(result.verdicts[0]).toMatchObject({ outcome: 'repaired', action: 'shifted_audio' });
    await expectInSync(await finish(file, result));
  });

  it('removes silence that was added before the sound', async () => {
    const file = inFolder('baked.mp4');
    const voiced = inFolder('voiced.mp4');
    // The voice starts at once here, so that the inserted silence is the only one.
    await replaceSound({
      tools,
      inputPath: clean,
      outputPath: voiced,
      channels: [voice.map((value, i) => value + 0.002 * Math.sin(i * i))],
      rateHz: RATE,
    });
    await bakeOffset({ tools, inputPath: voiced, outputPath: file, offsetMs: 300 });
    const analysis = await analyse(file);
    const result = await repair(file, analysis);
    expect(result.audio.kind).toBe('copy');
    await expectInSync(await finish(file, result));
  });

  it.each([2500, -2500])('resamples a sound whose clock is %i ppm off', async (driftPpm) => {
    const file = inFolder(`drift${driftPpm}.mp4`);
    await skewSoundClock({ tools, inputPath: clean, outputPath: file, driftPpm });
    const analysis = await analyse(file);
    const finding = analysis.findings[0];
    expect(finding?.detail.kind === 'audio_sync' && finding.detail.driftPpm).toBeCloseTo(driftPpm, -2);
    const result = await repair(file, analysis);
    expect(result.verdicts[0]).toMatchObject({ outcome: 'repaired', action: 'resampled_audio' });
    expect(result.verdicts[0]?.after).toBeLessThanOrEqual(5);
    // Each moment must play where its timestamp said: the truth is the clean sound, stretched by interpolation.
    const slowed = stretched(truth, 1 / (1 + driftPpm / 1e6));
    const made = await readSound(await finish(file, result));
    for (const atMs of [900, 5500, 10_200])
      expect(Math.abs(lagMs(slowed, made, atMs))).toBeLessThanOrEqual(1);
  });

  it('mends a sound that is early and drifts (judged by what is seen and heard) alone', async () => {
    const [startMs, driftMs] = [-100, -300];
    const flashes = inFolder('flashes.mp4');
    await makeFlashes({ tools, outputPath: flashes, seconds: 15, timesMs: CLAPS });
    const file = inFolder(`claps${driftMs}.mp4`);
    const heardMs = CLAPS.map((t) => t + startMs + (driftMs * t) / 15_000);
    const sound = mixAtSnr(hits(15, RATE, heardMs, 3), voiceLike(15, RATE, 4), 8);
    await replaceSound({ tools, inputPath: flashes, outputPath: file, channels: [sound], rateHz: RATE });
    const analysis = await analyseSeen(file);
    const finding = analysis.findings[0];
    expect(finding?.detail).toMatchObject({
      kind: 'audio_sync',
      evidence: 'content',
      driftSource: 'content',
    });
    const result = await repair(file, analysis);
    const [verdict] = result.verdicts;
    expect(verdict).toMatchObject({ outcome: 'repaired', action: 'resampled_audio' });
    const points = finding?.curve?.points ?? [];
    expect(points.length).toBeGreaterThan(8);
    points.forEach(({ atMs, value }, i) => {
      expect(Math.abs(value - startMs - (driftMs * atMs) / 15_000), `before, ${atMs} ms`).toBeLessThanOrEqual(
        20,
      );
      expect(Math.abs(verdict?.curveAfter?.[i] ?? 99), `after, ${atMs} ms`).toBeLessThan(20);
    });
    // Measured in the finished clip itself: each clap where its flash is.
    const mended = await finish(file, result);
    expect((await analyseSeen(mended)).findings.filter(({ kind }) => kind === 'audio_sync')).toEqual([]);
    const made = await readSound(mended);
    const seen = envelope({ samples: hits(15, RATE, CLAPS, 3), startMs: 0 });
    const heard = envelope(made);
    for (const atMs of [600, 6800, 12_900]) {
      expect(Math.abs(lagMs(seen, heard, atMs)), `lag at ${atMs} ms`).toBeLessThan(20);
    }
  });

  it('fills holes with silence of their own length', async () => {
    const file = inFolder('holes.mp4');
    const torn = await tearHoles({
      tools,
      inputPath: clean,
      outputPath: file,
      holes: [
        { startMs: 3000, durationMs: 130 },
        { startMs: 7200, durationMs: 300 },
      ],
    });
    const analysis = await analyse(file);
    const detail = analysis.findings[0]?.detail;
    const holes = detail?.kind === 'audio_sync' ? detail.holes : [];
    expect(holes).toHaveLength(2);
    holes.forEach((hole, i) => {
      expect(Math.abs(hole.startMs - (torn[i]?.startMs ?? 0))).toBeLessThan(1);
      expect(Math.abs(hole.durationMs - (torn[i]?.durationMs ?? 0))).toBeLessThan(1);
    });
    const result = await repair(file, analysis);
    expect(result.verdicts[0]).toMatchObject({ outcome: 'repaired', action: 'filled_audio', after: 0 });
    await expectInSync(await finish(file, result));
  });

  it('leaves the coded sound unchanged when repairing it gained nothing', async () => {
    const file = inFolder('torn-again.mp4');
    const holes = [{ startMs: 3000, durationMs: 130 }];
    await tearHoles({ tools, inputPath: clean, outputPath: file, holes });
    const analysis = await analyse(file);
    const findings = analysis.findings.map((finding) => ({
      ...finding,
      measure: { ...finding.measure, value: 0 },
    }));
    const result = await repair(file, { ...analysis, findings });
    expect(result.verdicts.map(({ outcome }) => outcome)).toEqual(['left_alone']);
    expect(result.audio).toEqual({ kind: 'copy', shiftMs: 0 });
  });

  it('lowers wind under a voice and keeps rate, channels, length and sync', async () => {
    const file = windyClip;
    const analysis = await analyse(file);
    expect(analysis.findings.map(({ kind }) => kind)).toEqual(['wind_noise']);
    const result = await repair(file, analysis);
    expect(result.verdicts[0]).toMatchObject({ outcome: 'repaired', action: 'suppressed_wind' });
    const points = analysis.findings[0]?.curve?.points ?? [];
    const after = result.verdicts[0]?.curveAfter ?? [];
    expect(points).toHaveLength(SECONDS);
    expect(after).toHaveLength(SECONDS);
    points.forEach(({ value }, i) => expect((after[i] ?? 0) - value, `second ${i}`).toBeLessThan(-6));
    const mended = await finish(file, result);
    const [made, broken] = [await readSound(mended), await readSound(file)];
    expect(made.info.audio[0]).toMatchObject({ sampleRateHz: RATE, channels: 2 });
    expect(made.samples.length).toBe(broken.samples.length);
    expect(siSdr(voice, made.samples) - siSdr(voice, broken.samples)).toBeGreaterThan(6);
    await expectInSync(mended);
  });

  it('lowers wind in a sound whose holes it fills', async () => {
    const file = inFolder('windy-holes.mp4');
    await tearHoles({
      tools,
      inputPath: windyClip,
      outputPath: file,
      holes: [
        { startMs: 1500, durationMs: 300 },
        { startMs: 3000, durationMs: 200 },
      ],
    });
    const result = await repair(file, await analyse(file));
    const actions = result.verdicts.map(({ outcome, action }) => [outcome, action]);
    expect(actions).toContainEqual(['repaired', 'suppressed_wind']);
    expect(actions).toContainEqual(['repaired', 'filled_audio']);
    const spoken = { samples: voice, startMs: 0 };
    const made = await readSound(await finish(file, result));
    for (const atMs of [400, 5500, 10_200])
      expect(Math.abs(lagMs(spoken, made, atMs))).toBeLessThanOrEqual(1);
  });

  it.each(['wind', 'a hole'])(
    'keeps a sound with %s in its place when its first frame is the warm-up of its encoder',
    async (fault) => {
      const file = inFolder(`warm-${fault}.mp4`);
      const broken = inFolder(`warm-${fault}-whole.mp4`);
      const sound = { tools, inputPath: clean, outputPath: broken };
      const holes = [{ startMs: 3000, durationMs: 130 }];
      if (fault === 'wind') await replaceSound({ ...sound, channels: [windy], rateHz: RATE });
      else await tearHoles({ ...sound, holes });
      // Without an edit list, the first frame begins at 0 and all others wait for the reordered pictures.
      const fragments = ['-c', 'copy', '-movflags', 'frag_keyframe+empty_moov', '-f', 'mp4'];
      await runFfmpeg(
        {
          label: 'write fragments',
          inputs: [{ path: broken }],
          outputs: [{ path: file, options: fragments }],
          expectedDurationMs: null,
        },
        { tools },
      );
      const waitMs = (await infoOf(file)).video[0]?.startMs ?? 0;
      expect(waitMs).toBeGreaterThan(40);
      const result = await repair(file, await analyse(file));
      expect(result.audio.kind).toBe('file');
      expect(result.verdicts.map(({ outcome }) => outcome)).toEqual(['repaired']);
      const made = await readSound(await finish(file, result));
      const spoken = { samples: voice, startMs: waitMs };
      for (const atMs of [900, 5500, 10_200]) {
        expect(Math.abs(lagMs(spoken, made, atMs)), `lag at ${atMs} ms`).toBeLessThanOrEqual(2);
      }
    },
  );
});
