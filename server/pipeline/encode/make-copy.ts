import { rm } from 'node:fs/promises';
import { CODING_WALL_MS, runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { codeInPieces, piecesOf } from './code-in-pieces.ts';
import { copyPiecePlan, joinedCopyPlan, wholeCopyPlan, type CopyRecipe } from './copy-plans.ts';

export interface MakeCopyInput {
  readonly recipe: CopyRecipe;
  /** Whether the clip may be cut; not if a change of a picture depends on those before it. */
  readonly inPieces?: boolean;
  /** Folder that survives a killed attempt, with its finished pieces. */
  readonly workDir: string;
  readonly outputPath: string;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
  readonly onProgress?: (share: number) => void;
  /** Called when a piece is finished for good. */
  readonly onPiece?: () => void;
}

/**
 * Makes a copy of a clip: its pictures in pieces, which a killed attempt leaves to the next one, or in one run if the
 * clip cannot be cut.
 * @throws MediaToolError when a run fails, is cancelled or stalls
 */
export async function makeCopy(input: MakeCopyInput): Promise<void> {
  const { recipe, inPieces = true, workDir, outputPath, tools, signal, onProgress, onPiece } = input;
  const clip = { inputPath: recipe.inputPath, info: recipe.info, tools, signal };
  const pieces = inPieces ? await piecesOf(clip) : null;
  const plan = (cut: Parameters<typeof copyPiecePlan>[1], path: string) => copyPiecePlan(recipe, cut, path);
  const pictures = pieces && (await codeInPieces({ ...clip, pieces, workDir, plan, onProgress, onPiece }));
  const last =
    pictures === null ? wholeCopyPlan(recipe, outputPath) : joinedCopyPlan(recipe, pictures, outputPath);
  await runFfmpeg(last, {
    tools,
    signal,
    wallMs: CODING_WALL_MS,
    onProgress: ({ share }) => share !== null && pictures === null && onProgress?.(share),
  });
  // The pieces are enough to continue from.
  if (pictures !== null) await rm(pictures);
}
