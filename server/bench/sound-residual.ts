import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';

const RATE_HZ = 8000;
const WINDOW = RATE_HZ;
/** Largest lag that is searched, seconds. */
const REACH_SECONDS = 1;
/** A second of sound with a lower RMS (of full scale) is too quiet to locate. */
const AUDIBLE = 0.003;

/**
 * Measures how far the sound of two clips is apart on their own time axes, at start, middle and end, ms: the lag with
 * the highest normalised cross-correlation of one second of sound. Positive: `path` is later.
 * @returns one value for each of these places where the reference is audible and is found again
 */
export async function soundResiduals(reference: string, path: string, tools: ToolPaths): Promise<number[]> {
  const a = await decode(reference, tools);
  const b = await decode(path, tools);
  const reach = REACH_SECONDS * RATE_HZ;
  const last = a.length - WINDOW - reach;
  const places = [reach, Math.floor(a.length / 2), last].filter((at) => at >= reach && at <= last);
  return places.flatMap((at) => {
    const lag = bestLag(a.subarray(at, at + WINDOW), b, at, reach);
    return lag === null ? [] : [(lag * 1000) / RATE_HZ];
  });
}

/** False for silent clips and clips without sound, in which no position can be heard. */
export async function isAudible(path: string, tools: ToolPaths): Promise<boolean> {
  const samples = await decode(path, tools).catch(() => new Float32Array(0));
  return samples.some((value) => Math.abs(value) > AUDIBLE);
}

function bestLag(window: Float32Array, sound: Float32Array, at: number, reach: number): number | null {
  let own = 0;
  for (const value of window) own += value * value;
  if (Math.sqrt(own / window.length) < AUDIBLE) return null;
  let best = 0;
  let bestAt: number | null = null;
  for (let lag = -reach; lag <= reach; lag += 1) {
    let product = 0;
    let power = 0;
    // Every second sample is enough to rank the lags of sound below 2 kHz.
    for (let i = 0; i < window.length; i += 2) {
      const value = sound[at + lag + i] ?? 0;
      product += (window[i] ?? 0) * value;
      power += value * value;
    }
    const match = power > 0 ? product / Math.sqrt(power * own) : 0;
    if (match > best) {
      best = match;
      bestAt = lag;
    }
  }
  return bestAt;
}

async function decode(path: string, tools: ToolPaths): Promise<Float32Array> {
  return decodeMono(path, tools, RATE_HZ, 'lowpass=f=2000,');
}

/**
 * Decodes mono sound on the clip's own time axis from 0 on, with silence in gaps.
 * @throws MediaToolError when there is no sound or it cannot be decoded
 */
export async function decodeMono(
  path: string,
  tools: ToolPaths,
  rateHz: number,
  before = '',
): Promise<Float32Array> {
  const chunks: Buffer[] = [];
  const filter = `${before}aresample=${rateHz}:async=1:first_pts=0`;
  await runFfmpeg(
    {
      label: 'decode the sound',
      globalOptions: ['-copyts'],
      inputs: [{ path }],
      outputs: [{ path: 'pipe:1', options: ['-map', '0:a:0', '-af', filter, '-ac', '1', '-f', 'f32le'] }],
      expectedDurationMs: null,
    },
    {
      tools,
      onStdout: (chunk) => {
        chunks.push(Buffer.from(chunk));
      },
    },
  );
  const bytes = Buffer.concat(chunks);
  const samples = new Float32Array(Math.floor(bytes.length / 4));
  for (let i = 0; i < samples.length; i += 1) samples[i] = bytes.readFloatLE(i * 4);
  return samples;
}
