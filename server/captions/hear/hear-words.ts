import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { toParts } from '#common/caption-parts.ts';
import { CAPTION_LIMITS, type VideoCue } from '#common/captions.ts';
import { joinSpans, type TimeSpan } from '#common/join-spans.ts';
import { toSeconds, type FfmpegPlan } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { placedSoundFilters, uploadedSoundOptions } from '#server/media/ffmpeg/whole-sound.ts';
import { MediaToolError, runTool, type ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { readWhisperOutput, type HeardSegment } from './whisper-output.ts';

/** The operator's whisper.cpp: its command-line program, run like the media tools, and its model file. */
export interface SpeechEngine {
  readonly cli: string;
  readonly model: string;
  readonly threads: number;
}

const PIECE = {
  /** The engine processes 30 s at a time; a piece with its margins is shorter. */
  mostMs: 28_000,
  /** A longer pause separates pieces, because engines invent words in silence. */
  gapMs: 1000,
  /** Margin at each end: the first sound of a word comes before the measured start of the voice. */
  edgeMs: 200,
} as const;
/** Two lines of 42 characters. */
const CUE_CHARS = 84;
/** A piece may take this many times its length, plus a minute for loading the model. */
const SLOWEST = 20;
const LOAD_MS = 60_000;

/** Joins stretches of speech to pieces that are heard in one go; ascending, without overlap. */
export function toPieces(speech: readonly TimeSpan[], durationMs: number): TimeSpan[] {
  const joined = joinSpans(speech, (before, span) => {
    return span.startMs - before.endMs <= PIECE.gapMs && span.endMs - before.startMs <= PIECE.mostMs;
  });
  return joined.map(({ startMs, endMs }, i) => {
    const before = ((joined[i - 1]?.endMs ?? -startMs) + startMs) / 2;
    const after = ((joined[i + 1]?.startMs ?? 2 * durationMs - endMs) + endMs) / 2;
    return {
      startMs: Math.max(0, before, startMs - PIECE.edgeMs),
      endMs: Math.min(durationMs, after, endMs + PIECE.edgeMs),
    };
  });
}

/** Converts what was heard in a piece to cues of the clip: inside the piece, ascending, none too long. */
export function toHeardCues(segments: readonly HeardSegment[], piece: TimeSpan): VideoCue[] {
  let lastEndMs = Math.round(piece.startMs);
  return segments.flatMap(({ startMs, endMs, text, confidence }) => {
    const from = Math.max(lastEndMs, Math.round(piece.startMs + startMs));
    const to = Math.min(Math.round(piece.endMs), Math.round(piece.startMs + endMs));
    if (to <= from) return [];
    lastEndMs = to;
    return toParts({ startMs: from, endMs: to, text }, CUE_CHARS).map((part): VideoCue => ({
      ...part,
      source: 'speech_model',
      confidence,
    }));
  });
}

export interface HearInput {
  readonly engine: SpeechEngine;
  readonly tools: ToolPaths;
  readonly inputPath: string;
  readonly info: MediaInfo;
  readonly durationMs: number;
  /** Stretches in which somebody speaks. */
  readonly speech: readonly TimeSpan[];
  /** Private folder for the sound of one piece at a time. */
  readonly workDir: string;
  readonly signal: AbortSignal;
  /** Share of the speech that has been processed, 0 to 1. */
  readonly onProgress: (share: number) => void;
}

/**
 * Runs the engine on the stretches in which somebody speaks, and on nothing else.
 * @throws MediaToolError when ffmpeg or the engine fails, takes too long or is cancelled
 */
export async function hearWords(input: HearInput): Promise<VideoCue[]> {
  const pieces = toPieces(input.speech, input.durationMs);
  const totalMs = pieces.reduce((sum, piece) => sum + piece.endMs - piece.startMs, 0);
  let heardMs = 0;
  const cues: VideoCue[] = [];
  for (const piece of pieces) {
    cues.push(...toHeardCues(await hearPiece(input, piece), piece));
    heardMs += piece.endMs - piece.startMs;
    input.onProgress(heardMs / totalMs);
  }
  return cues.slice(0, CAPTION_LIMITS.cues);
}

async function hearPiece(
  { engine, tools, signal, ...input }: HearInput,
  piece: TimeSpan,
): Promise<HeardSegment[]> {
  const stem = path.join(input.workDir, 'piece');
  const [wavPath, jsonPath] = [`${stem}.wav`, `${stem}.json`];
  const lengthMs = piece.endMs - piece.startMs;
  await runFfmpeg(soundPlan(input, piece, wavPath), { tools, signal });
  await rm(jsonPath, { force: true });
  const options = ['--output-json-full', '--output-file', stem, '--language', 'auto', '--max-context', '0'];
  const args = [
    '--model',
    engine.model,
    '--threads',
    String(engine.threads),
    '--no-prints',
    ...options,
    '--file',
    wavPath,
  ];
  const run = await runTool('hear words', engine.cli, args, { signal, wallMs: LOAD_MS + SLOWEST * lengthMs });
  // With a wrong option or an unreadable model the engine exits without an error and without this file.
  const json = await readFile(jsonPath, 'utf8').catch(() => null);
  if (json === null)
    throw new MediaToolError('tool_failed', 'hear words: no output', run.stderr.slice(-2000));
  try {
    return readWhisperOutput(json);
  } catch (error) {
    throw new MediaToolError('tool_failed', `hear words: ${String(error)}`);
  }
}

/** Plan for the sound of a piece in the engine's format: 16 kHz, mono, 16 bits. */
function soundPlan(
  { inputPath, info }: Pick<HearInput, 'inputPath' | 'info'>,
  { startMs, endMs }: TimeSpan,
  wavPath: string,
): FfmpegPlan {
  const cut = ['-ss', toSeconds(startMs), '-t', toSeconds(endMs - startMs)];
  return {
    label: 'cut out speech',
    inputs: [{ path: inputPath, format: info.format, options: [...uploadedSoundOptions(info), ...cut] }],
    outputs: [
      {
        path: wavPath,
        options: [
          ...'-map 0:a:0 -vn -af'.split(' '),
          placedSoundFilters(info).join(','),
          ...'-ac 1 -ar 16000 -c:a pcm_s16le -map_metadata -1 -f wav'.split(' '),
        ],
      },
    ],
    expectedDurationMs: endMs - startMs,
  };
}
