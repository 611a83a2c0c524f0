import type { Platform } from '#common/platform-check.ts';
import { codeInPieces, piecesOf } from '../../encode/code-in-pieces.ts';
import type { Clip } from './change-sound.ts';
import type { FixJob } from './fix-job.ts';
import { COST } from './measure-facts.ts';
import { platformPiecePlan, platformShape, wayOf } from './platform-plan.ts';

/** The coded pictures for the platform files of one clip; platforms that take the same pictures share them. */
export interface ExportPictures {
  /**
   * @returns an MP4 of the pictures at their times, without sound; null if the clip cannot be encoded in pieces
   * @throws MediaToolError when the run fails, is cancelled or stalls
   */
  coded(platform: Platform): Promise<string | null>;
  /** Hashes of coded pictures that decoded without fault, by name of the pictures. */
  readonly fine: Map<string, string>;
}

/** See `ExportPictures`. After a kill, the job continues after the last finished piece. */
export function createExportPictures(job: FixJob, clip: Clip): ExportPictures {
  const { task, signal, stages } = job;
  const { tools, limits, workDir } = task;
  const [stream] = clip.info.video;
  const made = new Map<string, string | null>();
  return {
    fine: new Map(),
    async coded(platform) {
      // Pictures at another rate are counted from the beginning of the clip, so pieces do not work.
      if (!stream || platformShape(stream, platform).fps !== null) return null;
      const way = wayOf(clip.info, stream, platform);
      const known = made.get(way);
      if (known !== undefined) return known;
      const given = { inputPath: clip.path, info: clip.info, stream, platform, limits };
      const cut = { inputPath: clip.path, info: clip.info, tools, signal };
      const pieces = await piecesOf(cut);
      const pictures =
        pieces &&
        (await stages.run(COST.export, (onProgress) =>
          codeInPieces({
            ...cut,
            pieces,
            workDir,
            plan: (part, outputPath) => platformPiecePlan(given, part, outputPath),
            onProgress,
            onPiece: job.madeHeadway,
          }),
        ));
      made.set(way, pictures);
      return pictures;
    },
  };
}
