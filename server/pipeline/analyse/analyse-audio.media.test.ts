import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probe } from '#server/media/probe/probe.ts';
import { seededRandom } from '#server/test/seeded-random.ts';
import { makeFlashes, moveSound, replaceSound } from '#server/test/broken-sound.ts';
import { gustingWind, hits, mixAtSnr, voiceLike } from '#server/test/synthetic-sound.ts';
import { analyseAudio, type AudioAnalysis } from './analyse-audio.ts';
import { analysePicture } from './analyse-picture.ts';
import { analyseVideo } from './analyse-video.ts';
import { testTools as tools } from '#server/test/media-job.ts';
import { onceForEach } from '#server/test/once-for-each.ts';

const run = promisify(execFile);

const RATE = 44_100;
const SECONDS = 12;
const FLASHES = [1200, 2750, 4100, 6333, 7000, 8850, 10_400];

const VOICE = voiceLike(SECONDS, RATE, 4);

let folder = '';
const inFolder = (name: string) => path.join(folder, name);

async function analyse(file: string): Promise<AudioAnalysis> {
  const info = await probe(tools, file, 'mov');
  const { audioPackets, motion } = await analysePicture({ inputPath: file, info, tools });
  return analyseAudio({ inputPath: file, info, audioPackets, motion, tools });
}

/** A clip of flashes whose hits sound `offsetMs` after them, under a voice. */
const makeStruck = onceForEach(async (offsetMs: number): Promise<string> => {
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
    channels: [mixAtSnr(struck, VOICE, 8)],
  });
  return outputPath;
});

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

  it('changes nothing when picture and sound match, whatever the container says', async () => {
    const inOrder = await makeStruck(0);
    expect((await analyse(inOrder)).findings).toEqual([]);
    const early = await makeStruck(-300);
    const moved = inFolder('moved.mp4');
    await moveSound({ tools, inputPath: early, outputPath: moved, offsetMs: 300 });
    const { findings, notes } = await analyse(moved);
    expect(findings).toEqual([]);
    expect(notes.join(' ')).toContain('is in sync, so it was left as it is');
  });

  it('does not move the sound of a clip whose end was never copied, wherever its bytes end', async () => {
    const [talk, whole, empty] = [
      inFolder('talk.mp4'),
      inFolder('late-picture.mp4'),
      inFolder('empty-end.mp4'),
    ];
    const channels = [VOICE];
    await replaceSound({
      tools,
      inputPath: inFolder('flashes.mp4'),
      outputPath: talk,
      rateHz: RATE,
      channels,
    });
    const late = `-itsoffset 0.12 -t ${SECONDS - 0.12} -i ${talk} -i ${talk} -map 0:v -map 1:a -c copy -movflags +faststart`;
    await run(tools.ffmpeg, ['-v', 'error', ...late.split(' '), whole]);
    const entries = '-v error -show_entries packet=codec_type,pts_time,pos,size -of csv=p=0';
    const { stdout } = await run(tools.ffprobe, [...entries.split(' '), whole]);
    const bytes = await readFile(whole);
    for (const line of stdout.trim().split('\n')) {
      const [type, seconds, sizeBytes, at] = line.split(',');
      // The picture is left 0.12 s longer than the sound, as it begins 0.12 s later.
      const isLost = Number(seconds) >= (type === 'video' ? 6.12 : 6);
      if (isLost) bytes.fill(0, Number(at), Number(at) + Number(sizeBytes));
    }
    await writeFile(empty, bytes);
    const info = await probe(tools, empty, 'mov');
    const { findings, notes } = await analyseVideo({ inputPath: empty, info, tools });
    expect(findings.filter(({ kind }) => kind === 'audio_sync')).toEqual([]);
    expect(notes.at(-1)).toMatch(/nothing but zeros/);
  });

  it('hears music in gusts in the low frequencies of a wide mix, and wind in the same gusts of a plain sound', async () => {
    const windy = mixAtSnr(VOICE, gustingWind(SECONDS, RATE, 1), 5);
    const random = seededRandom(7);
    let [fast, slow] = [0, 0];
    // The difference between the two channels, mostly from 700 Hz to 3 kHz. Mixing them to one channel cancels it.
    const wide = windy.map(() => {
      fast += 0.35 * (random() - 0.5 - fast);
      slow += 0.1 * (fast - slow);
      return 0.3 * (fast - slow);
    });
    const kindsOf = async (name: string, share: number) => {
      const channels = [1, -1].map((sign) => windy.map((value, i) => value + sign * share * (wide[i] ?? 0)));
      const [inputPath, outputPath] = [inFolder('flashes.mp4'), inFolder(name)];
      await replaceSound({ tools, inputPath, outputPath, rateHz: RATE, channels });
      return (await analyse(outputPath)).findings.map(({ kind }) => kind);
    };
    expect(await kindsOf('plain.mp4', 0)).toEqual(['wind_noise']);
    expect(await kindsOf('mix.mp4', 1)).toEqual([]);
  });

  it('says that a silent sound is silent and judges nothing by it', async () => {
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
