import type { MediaInfo } from '#server/media/probe/probe.ts';
import { readLostEnds } from '../mended-pictures.ts';

/** A clip's facts, plus what its upload had lost at its end if it is an earlier result of a cut-off upload. */
export async function withOwnLostEnds(clip: {
  readonly path: string;
  readonly info: MediaInfo;
}): Promise<MediaInfo> {
  const { path, info } = clip;
  const pictures = info.video[0]?.frameCount ?? null;
  const lostEnds = pictures === null ? undefined : await readLostEnds(path, pictures);
  return lostEnds ? { ...info, lostEnds } : info;
}
