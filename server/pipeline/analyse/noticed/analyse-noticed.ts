import type { NoticedPlace } from '#common/noticed.ts';
import { analysePicture } from '../analyse-picture.ts';
import type { AnalyseInput } from '../analyse-video.ts';
import type { Analysis } from '../analysis.ts';
import { judgeNoticed } from './judge-noticed.ts';

export interface AnalyseNoticedInput extends AnalyseInput {
  /** Times on the axis of the clip's pictures. */
  readonly places: readonly NoticedPlace[];
}

/**
 * Analyses the pictures of a clip for what somebody marked in it (`judgeNoticed`). The sound is not listened to: only
 * its length counts, as room for lost pictures.
 * @throws MediaToolError when ffmpeg cannot run or the job is cancelled
 */
export async function analyseNoticed({ places, ...input }: AnalyseNoticedInput): Promise<Analysis> {
  const picture = await analysePicture({
    ...input,
    judge: (measured, leadingSilenceMs) => judgeNoticed(measured, leadingSilenceMs, places),
  });
  return {
    info: input.info,
    pictures: picture.pictures,
    sceneCuts: picture.sceneCuts,
    findings: picture.findings,
    speech: [],
    ...(picture.mended && picture.mended.length > 0 && { mended: picture.mended }),
    ...(picture.soundMovedMs && { soundMovedMs: picture.soundMovedMs }),
    posterFrame: picture.posterFrame,
    notes: [],
    ...(picture.kept && { kept: picture.kept }),
  };
}
