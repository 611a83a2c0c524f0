import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { FfmpegPlan } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { runTool, type ToolPaths } from '#server/media/ffmpeg/tools.ts';
import type { Samples } from './synthetic-sound.ts';

/**
 * Makers of clips whose sound has a known fault. Each takes any clip with sound, writes a new MP4 and returns the
 * truth; the coded pictures are copied unchanged.
 */
export interface SoundFaultInput {
  readonly tools: ToolPaths;
  readonly inputPath: string;
  /** MP4 file to write. */
  readonly outputPath: string;
}

/** Muxes the sound `offsetMs` away from the picture (positive: late) without re-encoding. */
export async function moveSound(
  input: SoundFaultInput & { readonly offsetMs: number },
): Promise<{ offsetMs: number }> {
  await runFfmpeg(
    {
      label: 'move the sound',
      inputs: [
        { path: input.inputPath },
        { path: input.inputPath, options: ['-itsoffset', (input.offsetMs / 1000).toFixed(6)] },
      ],
      outputs: [
        { path: input.outputPath, options: ['-map', '0:v', '-map', '1:a', '-c', 'copy', '-f', 'mp4'] },
      ],
      expectedDurationMs: null,
    },
    input,
  );
  return { offsetMs: input.offsetMs };
}

/** Moves the sound inside its own track: adds silence at the start (late) or cuts it (early). */
export async function bakeOffset(
  input: SoundFaultInput & { readonly offsetMs: number },
): Promise<{ offsetMs: number }> {
  const seconds = Math.abs(input.offsetMs) / 1000;
  const filter =
    input.offsetMs >= 0
      ? `adelay=${Math.round(input.offsetMs)}:all=1`
      : `atrim=start=${seconds.toFixed(6)},asetpts=PTS-STARTPTS`;
  await filterSound(input, filter);
  return { offsetMs: input.offsetMs };
}

/**
 * Gives the sound timestamps that run slower or faster than its samples, as with a wrong sound clock. Positive
 * `driftPpm` means that the samples last longer than the timestamps say.
 */
export async function skewSoundClock(
  input: SoundFaultInput & { readonly driftPpm: number },
): Promise<{ driftPpm: number }> {
  const factor = 1 / (1 + input.driftPpm / 1e6);
  await copyThrough(input, `setts=ts=TS*${factor.toFixed(9)}`);
  return { driftPpm: input.driftPpm };
}

export interface SoundHoleTruth {
  readonly startMs: number;
  readonly durationMs: number;
}

/** Drops sound packets and keeps the times of the others. The truth is rounded to whole packets. */
export async function tearHoles(
  input: SoundFaultInput & { readonly holes: readonly SoundHoleTruth[] },
): Promise<SoundHoleTruth[]> {
  const { stdout } = await runTool('list sound packets', input.tools.ffprobe, [
    '-v',
    'error',
    '-select_streams',
    'a:0',
    '-show_entries',
    'packet=pts_time,duration_time',
    '-of',
    'csv=p=0',
    input.inputPath,
  ]);
  const packets = stdout
    .split('\n')
    .filter((line) => line.length > 0)
    .map((line) => line.split(',').map(Number))
    .map(([start, length]) => ({ startMs: (start ?? Number.NaN) * 1000, durationMs: (length ?? 0) * 1000 }))
    .filter(({ startMs }) => Number.isFinite(startMs));
  const truth: SoundHoleTruth[] = [];
  const terms: string[] = [];
  for (const hole of input.holes) {
    const first = packets.findIndex(({ startMs }) => startMs >= hole.startMs);
    const start = packets[first];
    if (!start) continue;
    const count = Math.max(1, Math.round(hole.durationMs / start.durationMs));
    terms.push(`between(n,${first},${first + count - 1})`);
    truth.push({ startMs: start.startMs, durationMs: count * start.durationMs });
  }
  await copyThrough(input, `noise=drop='${terms.join('+')}'`);
  return truth;
}

/** Replaces the sound of a clip by samples (one array per channel), coded as AAC or stored as 16-bit PCM in MOV. */
export async function replaceSound(
  input: SoundFaultInput & {
    readonly channels: readonly Samples[];
    readonly rateHz: number;
    readonly codec?: 'aac' | 'pcm_s16le';
  },
): Promise<void> {
  await withRawSound(input.channels, async (rawPath) => {
    const codec = input.codec ?? 'aac';
    await runFfmpeg(
      {
        label: 'replace the sound',
        inputs: [
          { path: input.inputPath },
          {
            path: rawPath,
            format: 'f32le',
            options: ['-ar', String(input.rateHz), '-ac', String(input.channels.length)],
          },
        ],
        outputs: [
          {
            path: input.outputPath,
            options: [
              '-map',
              '0:v',
              '-map',
              '1:a',
              '-c:v',
              'copy',
              '-c:a',
              codec,
              ...(codec === 'aac' ? ['-b:a', '160k', '-f', 'mp4'] : ['-f', 'mov']),
            ],
          },
        ],
        expectedDurationMs: null,
      },
      input,
    );
  });
}

/** A clip of flashes: a white box appears for 80 ms at each of the given times; no sound. */
export async function makeFlashes(input: {
  readonly tools: ToolPaths;
  readonly outputPath: string;
  readonly seconds: number;
  readonly fps?: number;
  readonly timesMs: readonly number[];
}): Promise<void> {
  const { fps = 30 } = input;
  const shown = input.timesMs
    .map((ms) => `between(t,${(ms / 1000 - 0.25 / fps).toFixed(4)},${(ms / 1000 + 0.08).toFixed(4)})`)
    .join('+');
  const source =
    `color=c=0x404040:size=160x90:rate=${fps}:duration=${input.seconds},` +
    `drawbox=x=45:y=20:w=70:h=50:color=white:t=fill:enable='${shown || '0'}',noise=alls=4:allf=t:all_seed=7`;
  const plan: FfmpegPlan = {
    label: 'make flashes',
    inputs: [{ path: source, lavfi: true }],
    outputs: [
      {
        path: input.outputPath,
        options: ['-c:v', 'libx264', '-preset', 'veryfast', '-pix_fmt', 'yuv420p', '-f', 'mp4'],
      },
    ],
    expectedDurationMs: input.seconds * 1000,
  };
  await runFfmpeg(plan, input);
}

async function withRawSound(
  channels: readonly Samples[],
  job: (rawPath: string) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sound-'));
  try {
    const length = channels[0]?.length ?? 0;
    const interleaved = new Float32Array(length * channels.length);
    channels.forEach((channel, c) => {
      for (let i = 0; i < length; i++) interleaved[i * channels.length + c] = channel[i] ?? 0;
    });
    const rawPath = path.join(folder, 'sound.f32');
    await writeFile(rawPath, new Uint8Array(interleaved.buffer));
    await job(rawPath);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function filterSound(input: SoundFaultInput, filter: string): Promise<void> {
  await runFfmpeg(
    {
      label: 'filter the sound',
      inputs: [{ path: input.inputPath }],
      outputs: [
        {
          path: input.outputPath,
          options: ['-map', '0:v', '-map', '0:a', '-c:v', 'copy', '-c:a', 'aac', '-af', filter, '-f', 'mp4'],
        },
      ],
      expectedDurationMs: null,
    },
    input,
  );
}

async function copyThrough(input: SoundFaultInput, bitstreamFilter: string): Promise<void> {
  await runFfmpeg(
    {
      label: 'rewrite the sound packets',
      inputs: [{ path: input.inputPath }],
      outputs: [
        {
          path: input.outputPath,
          options: ['-map', '0:v', '-map', '0:a', '-c', 'copy', '-bsf:a', bitstreamFilter, '-f', 'mp4'],
        },
      ],
      expectedDurationMs: null,
    },
    input,
  );
}
