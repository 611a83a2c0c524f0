import type { MediaInfo } from '#server/media/probe/probe.ts';
import { ticksToMs } from '#server/media/time-base.ts';
import type { Analysis } from '../analyse/analysis.ts';
import { plannedPictures } from '../repair/compose-edit.ts';
import type { PictureEdit } from '../repair/picture-edit.ts';

/**
 * Time of the poster picture, chosen in an analysed clip, in a clip made from it, ms on its display axis. It follows
 * from the plan of the new clip, so the clip's pictures need not be listed first.
 * @param edit what was changed; empty if the clip is the analysed one
 * @param clip what the new clip declares
 * @returns the time of the first picture if none was chosen, or if it was replaced
 */
export function posterMs(
  { pictures, posterFrame }: Pick<Analysis, 'pictures' | 'posterFrame'>,
  edit: PictureEdit,
  clip: Pick<MediaInfo, 'video' | 'startMs'>,
): number {
  const startMs = clip.video[0]?.startMs ?? clip.startMs ?? 0;
  if (!pictures || posterFrame === null) return startMs;
  const planned = plannedPictures(pictures.ptsTicks, edit);
  const chosen = planned.find(({ originalFrame }) => originalFrame === posterFrame);
  const first = planned[0];
  if (!chosen || !first) return startMs;
  return startMs + ticksToMs(chosen.ptsTicks - first.ptsTicks, pictures.timeBase);
}
