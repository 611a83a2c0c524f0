import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ComparisonLayout } from '#common/api/comparison.ts';
import { probe } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { sniffFile } from '#server/media/probe/sniff-container.ts';
import { isToolFailure, type ToolPaths } from '#server/media/ffmpeg/tools.ts';
import type { PreviewPlan } from './lay-out.ts';
import { joinList, joinPlan, piecePlan, PREVIEW_RATE_HZ, type PreviewSource } from './preview-commands.ts';

/** Share of the work that writing the pieces takes; joining them only reads and copies. */
const PIECES_SHARE = 0.95;
/** How much the length of the joined clip may differ from its plan; one picture at the lowest rate would be 200 ms. */
const LENGTH_TOLERANCE_MS = 250;

export interface MakePreviewInput {
  readonly plan: PreviewPlan;
  readonly originalPath: string;
  readonly resultPath: string;
  /** Empty folder for the pieces. */
  readonly folder: string;
  readonly tools: ToolPaths;
  /** Threads one ffmpeg child may use. */
  readonly threads: number;
  readonly signal: AbortSignal;
  /** Share of the work done, 0 to 1, measured by ffmpeg. */
  readonly onProgress: (share: number) => void;
}

export interface MadePreview {
  readonly path: string;
  readonly layout: ComparisonLayout;
}

/**
 * Why there is no comparison although something was mended, in words for people; its cause, if a tool gave up, is for
 * the log.
 */
export class NoComparison extends Error {}

const UNPLAYABLE = 'The original cannot be played, so there is nothing to compare the result with.';

/**
 * Writes the before/after clip of a repair: one piece after another, with one ffmpeg child at a time, then joined. No
 * thread is needed, because the children do all the work.
 * @throws NoComparison when one of the files has no readable picture; MediaToolError
 */
export async function makePreview(input: MakePreviewInput): Promise<MadePreview> {
  const { plan, folder, tools, signal } = input;
  const { layout, rate, pieceFrames } = plan;
  const original = await openSource(input.originalPath, input);
  const result = await openSource(input.resultPath, input);
  const hasSound = original.info.audio.length + result.info.audio.length > 0;
  const names: string[] = [];
  for (const [index, piece] of layout.pieces.entries()) {
    const name = `piece-${index}.mov`;
    const samplesAt = (ms: number) => Math.round((ms * PREVIEW_RATE_HZ) / 1000);
    const run = piecePlan({
      original,
      result,
      piece,
      frames: pieceFrames[index] ?? 1,
      samples: samplesAt(piece.previewEndMs) - samplesAt(piece.previewStartMs),
      rate,
      width: layout.width,
      height: layout.height,
      hasSound,
      threads: input.threads,
      outputPath: path.join(folder, name),
    });
    const lengthMs = piece.previewEndMs - piece.previewStartMs;
    await runFfmpeg(run, {
      tools,
      signal,
      onProgress: ({ share }) => {
        const doneMs = piece.previewStartMs + lengthMs * (share ?? 0);
        input.onProgress((PIECES_SHARE * doneMs) / layout.durationMs);
      },
    });
    names.push(name);
  }
  const listPath = path.join(folder, 'pieces.ffconcat');
  const outputPath = path.join(folder, 'comparison.mp4');
  const lengthsMs = layout.pieces.map(({ previewStartMs, previewEndMs }) => previewEndMs - previewStartMs);
  await writeFile(listPath, joinList(names, lengthsMs));
  await runFfmpeg(joinPlan(listPath, outputPath, layout.durationMs), { tools, signal });
  await Promise.all(names.map((name) => rm(path.join(folder, name), { force: true })));
  await mustHaveLength(outputPath, layout.durationMs, input);
  return { path: outputPath, layout: { ...layout, hasSound } };
}

async function openSource(file: string, { tools, signal }: MakePreviewInput): Promise<PreviewSource> {
  const format = await sniffFile(file);
  if (!format) throw new NoComparison(UNPLAYABLE);
  const info = await probe(tools, file, format, signal).catch((error: unknown) => {
    throw isToolFailure(error) ? new NoComparison(UNPLAYABLE, { cause: error }) : error;
  });
  if (info.video.length === 0) throw new NoComparison(UNPLAYABLE);
  return { path: file, info };
}

/** A comparison of another length than planned would show other places than it says. */
async function mustHaveLength(file: string, durationMs: number, { tools, signal }: MakePreviewInput) {
  const { video } = await probe(tools, file, 'mov', signal);
  const madeMs = video[0]?.durationMs ?? 0;
  if (Math.abs(madeMs - durationMs) > LENGTH_TOLERANCE_MS) {
    throw new Error(`the comparison is ${madeMs} ms long instead of ${durationMs} ms`);
  }
}
