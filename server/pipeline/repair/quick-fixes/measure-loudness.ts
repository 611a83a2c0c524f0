import { z } from 'zod';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { uploadedSoundOptions, wholeSoundFilters } from '#server/media/ffmpeg/whole-sound.ts';
import { MediaToolError, type ToolPaths } from '#server/media/ffmpeg/tools.ts';

/** EBU R128 measures of a sound. */
export interface Loudness {
  /** Integrated loudness, LUFS; null if nothing passes the gate (silence). */
  readonly lufs: number | null;
  /** True peak, dBTP; null for silence. */
  readonly peakDb: number | null;
}

export interface MeasureLoudnessInput {
  readonly inputPath: string;
  readonly info: MediaInfo;
  /** Filters before the measurement. */
  readonly chain?: readonly string[];
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
  readonly onProgress?: (share: number) => void;
}

/**
 * Measures the first sound track, as it is or after some filters.
 * @throws MediaToolError when the sound cannot be decoded or the run is cancelled
 */
export async function measureLoudness(input: MeasureLoudnessInput): Promise<Loudness> {
  const { inputPath, info, chain = [], tools, signal } = input;
  const filters = [...wholeSoundFilters(info), ...chain, 'loudnorm=print_format=json'];
  let log = '';
  const options = ['-map', `0:${info.audio[0]?.index ?? 0}`, '-vn', '-sn', '-dn'];
  await runFfmpeg(
    {
      label: 'measure the loudness',
      inputs: [{ path: inputPath, format: info.format, options: uploadedSoundOptions(info) }],
      outputs: [
        {
          path: '-',
          options: [...options, '-af', filters.join(','), '-f', 'null'],
        },
      ],
      expectedDurationMs: info.durationMs,
      logLevel: 'info',
    },
    {
      tools,
      signal,
      onStderrLine: (line) => {
        log += `${line}\n`;
      },
      onProgress: ({ share }) => share !== null && input.onProgress?.(share),
    },
  );
  const loudness = parseLoudness(log);
  if (!loudness) throw new MediaToolError('tool_failed', 'measure the loudness: no figures came back.');
  return loudness;
}

const measured = z.object({ input_i: z.string(), input_tp: z.string() });

/** Parses the measures that the filter prints at its end; null when there are none. */
export function parseLoudness(log: string): Loudness | null {
  const text = /\{[^{}]*"input_i"[^{}]*\}/.exec(log)?.[0];
  if (text === undefined) return null;
  const { input_i, input_tp } = measured.parse(JSON.parse(text));
  const number = (value: string) => (Number.isFinite(Number(value)) ? Number(value) : null);
  return { lufs: number(input_i), peakDb: number(input_tp) };
}
