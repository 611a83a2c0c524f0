import type { MediaInfo } from '#server/media/probe/probe.ts';
import { ticksToMs } from '#server/media/time-base.ts';
import type { Analysis } from '../analyse/analysis.ts';
import { plannedPictures } from '../repair/compose-edit.ts';
import type { PictureEdit } from '../repair/picture-edit.ts';

/**
 * Time of the picture that an analysis chose for the poster in a clip made from the analysed one, ms on its display axis. The plan of the
 * clip tells it, so that nobody has to wait for its pictures to be listed.
 * @param edit what was changed; nothing where the clip is the analysed one
 * @param clip what the made clip declares
 * @returns the time of the first picture where none was chosen, or where it has been replaced
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
