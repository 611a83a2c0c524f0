import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probe } from '#server/media/probe/probe.ts';
import { makeFlashes, moveSound, replaceSound } from '#server/test/broken-sound.ts';
import { hits, mixAtSnr, voiceLike } from '#server/test/synthetic-sound.ts';
import { analyseAudio, type AudioAnalysis } from './analyse-audio.ts';
import { analysePicture } from './analyse-picture.ts';

const tools = { ffmpeg: 'ffmpeg', ffprobe: 'ffprobe' };
const RATE = 44_100;
const SECONDS = 12;
const FLASHES = [1200, 2750, 4100, 6333, 7000, 8850, 10_400];

let folder = '';
const inFolder = (name: string) => path.join(folder, name);

async function analyse(file: string): Promise<AudioAnalysis> {
  const info = await probe(tools, file, 'mov');
  const { audioPackets, motion } = await analysePicture({ inputPath: file, info, tools });
  return analyseAudio({ inputPath: file, info, audioPackets, motion, tools });
}

/** A clip of flashes whose hits are heard `offsetMs` late, under a voice. */
async function makeStruck(offsetMs: number): Promise<string> {
  const outputPath = inFolder(`struck${offsetMs}.mp4`);
  const struck = hits(
    SECONDS,
    RATE,
    FLASHES.map((t) => t + offsetMs),
    3,
  );
  await replaceSound({
    tools,
    inputPath: inFolder('flashes.mp4'),
    outputPath,
    rateHz: RATE,
    channels: [mixAtSnr(struck, voiceLike(SECONDS, RATE, 4), 8)],
  });
  return outputPath;
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'analyse-audio-'));
  await makeFlashes({ tools, outputPath: inFolder('flashes.mp4'), seconds: SECONDS, timesMs: FLASHES });
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe('analyseAudio', () => {
  it.each([160, -200])('measures an offset of %i ms from what is seen and heard', async (offsetMs) => {
    const { findings } = await analyse(await makeStruck(offsetMs));
    const detail = findings[0]?.detail;
    expect(detail).toMatchObject({ kind: 'audio_sync', evidence: 'content' });
    expect(Math.abs((detail?.kind === 'audio_sync' ? detail.offsetMs : 999) - offsetMs)).toBeLessThanOrEqual(
      20,
    );
    expect(findings[0]?.confidence).toBeGreaterThanOrEqual(0.6);
  });

  it('changes nothing where sight and sound fit, whatever the container says', async () => {
    const inOrder = await makeStruck(0);
    expect((await analyse(inOrder)).findings).toEqual([]);
    const early = await makeStruck(-300);
    const moved = inFolder('moved.mp4');
    await moveSound({ tools, inputPath: early, outputPath: moved, offsetMs: 300 });
    const { findings, notes } = await analyse(moved);
    expect(findings).toEqual([]);
    expect(notes.join(' ')).toContain('left alone');
  });

  it('says that a silent sound is silent and judges nothing on it', async () => {
    const outputPath = inFolder('silent.mp4');
    const silence = new Float32Array(SECONDS * RATE);
    const inputPath = inFolder('flashes.mp4');
    await replaceSound({ tools, inputPath, outputPath, rateHz: RATE, channels: [silence, silence] });
    expect(await analyse(outputPath)).toEqual({
      findings: [],
      speech: [],
      notes: ['The sound is silent from start to end.'],
    });
  });

  it('reports progress that only grows and ends at 1, and stops when cancelled', async () => {
    const file = await makeStruck(0);
    const info = await probe(tools, file, 'mov');
    const shares: number[] = [];
    await analyseAudio({
      inputPath: file,
      info,
      audioPackets: null,
      motion: null,
      tools,
      onProgress: (share) => shares.push(share),
    });
    expect(shares.at(-1)).toBe(1);
    shares.slice(1).forEach((share, i) => expect(share).toBeGreaterThanOrEqual(shares[i] ?? 0));
    const input = { inputPath: file, info, audioPackets: null, motion: null, tools };
    await expect(analyseAudio({ ...input, signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'cancelled',
    });
  });
});
