import { createHash } from 'node:crypto';
import path from 'node:path';
import { z } from 'zod';
import { type FfmpegPlan, planToArgs } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import { CODING_WALL_MS, runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { listPackets } from '../analyse/packets/list-packets.ts';
import { readPackets } from '../analyse/packets/read-packets.ts';
import { hashFile, openStepStore } from '../steps/step-store.ts';
import { joinPieces } from './join-pieces.ts';
import { type Piece, planPieces } from './piece-plan.ts';

/** How the input of a piece is opened and cut; to be put before the other options and filters. */
export interface PieceCut {
  readonly globalOptions: readonly string[];
  readonly inputOptions: readonly string[];
  /** Filter that passes the pictures of the piece, at the clip's times. */
  readonly filter: string;
}

export interface ClipToCut {
  readonly inputPath: string;
  readonly info: MediaInfo;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
}

/**
 * Where a clip is cut for encoding; a single piece if it has no place for a cut.
 * @returns null if the times of its pictures are uncertain: it must then be encoded in one run
 * @throws MediaToolError when the clip cannot be read or the run is cancelled
 */
export async function piecesOf(clip: ClipToCut): Promise<readonly Piece[] | null> {
  const { inputPath, info } = clip;
  const stream = info.video[0];
  if (stream?.timeBase.num !== 1 || info.format !== 'mov') return null;
  const { video } = (await listPackets(inputPath, info)) ?? (await readPackets(clip));
  return planPieces(video, stream.timeBase.den);
}

export interface PiecesInput extends ClipToCut {
  readonly pieces: readonly Piece[];
  /** Folder that survives a killed attempt; complete pieces in it of the same clip and plan are not encoded again. */
  readonly workDir: string;
  /** Encodes the pictures of one piece, one by one, to an MP4 without sound. */
  readonly plan: (cut: PieceCut, outputPath: string) => FfmpegPlan;
  readonly onProgress?: (share: number) => void;
  /** Called when a piece is finished for good. */
  readonly onPiece?: () => void;
}

const pieceDone = z.object({ pictures: z.number() });

/**
 * Encodes the pictures of a clip in pieces from key picture to key picture, each in a run of its own, and joins them
 * without encoding again. A killed job continues after its last finished piece.
 * @returns path of an MP4 with all pictures at their times and no sound; null if the pieces are not as they should be:
 * the clip must then be encoded in one run
 * @throws MediaToolError when a run fails, is cancelled or stalls
 */
export async function codeInPieces(input: PiecesInput): Promise<string | null> {
  const { inputPath, info, pieces, workDir, tools, signal, onProgress } = input;
  const ticksPerSecond = info.video[0]?.timeBase.den ?? 1;
  const named = createHash('sha256').update(planToArgs(input.plan(cutOf(pieces[0], 1), '-')).join('\0'));
  const key = named.update(await hashFile(inputPath)).digest('hex');
  const store = await openStepStore(path.join(workDir, `pieces-${key.slice(0, 16)}`), key);
  const total = pieces.reduce((sum, { times }) => sum + times.length, 0);
  let before = 0;
  const coded = [];
  for (const [at, piece] of pieces.entries()) {
    const outputPath = store.file(`piece-${at}.mp4`);
    const { resumed } = await store.run(`piece-${at}`, pieceDone, async () => {
      await runFfmpeg(input.plan(cutOf(piece, ticksPerSecond), outputPath), {
        tools,
        signal,
        wallMs: CODING_WALL_MS,
        onProgress: ({ frame }) => onProgress?.((before + Math.min(frame ?? 0, piece.times.length)) / total),
      });
      return { value: { pictures: piece.times.length }, files: [outputPath] };
    });
    before += piece.times.length;
    onProgress?.(before / total);
    if (!resumed) input.onPiece?.();
    coded.push({ path: outputPath, times: piece.times });
  }
  const outputPath = store.file('joined.mp4');
  const lastTicks = usualTicks(pieces);
  return (await joinPieces({ pieces: coded, ticksPerSecond, lastTicks, outputPath, signal }))
    ? outputPath
    : null;
}

/** Pictures keep the clip's times; those that a decoder shows before the key picture belong to the piece before. */
function cutOf(piece: Piece | undefined, ticksPerSecond: number): PieceCut {
  const { startTicks, endTicks } = piece ?? { startTicks: null, endTicks: null };
  const bounds = [
    ...(startTicks === null ? [] : [`start_pts=${startTicks}`]),
    ...(endTicks === null ? [] : [`end_pts=${endTicks}`]),
  ];
  const seek = ['-noaccurate_seek', '-seek_timestamp', '1', '-ss'];
  return {
    globalOptions: ['-copyts'],
    inputOptions: startTicks === null ? [] : [...seek, (startTicks / ticksPerSecond).toFixed(6)],
    filter: bounds.length > 0 ? `trim=${bounds.join(':')}` : 'null',
  };
}

/** Usual duration of a picture. */
function usualTicks(pieces: readonly Piece[]): number {
  const times = pieces.flatMap((piece) => piece.times);
  const span = (times.at(-1) ?? 0) - (times[0] ?? 0);
  return Math.max(1, Math.round(span / Math.max(1, times.length - 1)));
}
