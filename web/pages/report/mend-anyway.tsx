import type { VideoDto } from '#common/api/videos.ts';
import { MOST_SOUND_SHIFT_MS, seenAs } from '#common/noticed.ts';
import type { Defect } from '#common/report.ts';
import { toResultMs } from '#common/time-axis.ts';
import { addPlace, type NoticedDraft, useNoticedDraft } from '../../data/videos/noticed.ts';
import { resultMark } from '../../data/videos/videos.ts';
import { reportTexts } from '../../texts/report.ts';
import { videoTexts } from '../../texts/videos.ts';
import { Onward } from './report-parts.ts';

const { defects: texts } = reportTexts;

/**
 * What somebody would mark who disagrees with a defect being left: its end in the finished clip, or the sound moved by
 * what was measured. Null where nothing can be marked for it.
 */
export function marksOf(
  defect: Defect,
  defects: readonly Defect[],
  { places }: Pick<NoticedDraft, 'places'>,
): Partial<NoticedDraft> | null {
  const { kind, outcome, measure, endMs } = defect;
  if (outcome !== 'left_alone') return null;
  if (kind === 'audio_sync') {
    const soundShiftMs = -Math.round(measure.before ?? 0);
    const isFit =
      measure.unit === 'ms' && soundShiftMs !== 0 && Math.abs(soundShiftMs) <= MOST_SOUND_SHIFT_MS;
    return isFit ? { soundShiftMs } : null;
  }
  if (kind !== 'stuttered_cut' && kind !== 'dropped_frames') return null;
  const place = { kind: seenAs(defect), atMs: Math.round(toResultMs(endMs, defects)) };
  const marked = addPlace(places, place);
  return typeof marked === 'string' ? {} : { places: marked };
}

interface MendAnywayProps {
  readonly video: VideoDto;
  readonly defect: Defect;
  readonly defects: readonly Defect[];
}

/** Leads to the editor with the place of a defect marked that was left as it is; nothing for other defects. */
export function MendAnyway({ video, defect, defects }: MendAnywayProps) {
  const { draft, change } = useNoticedDraft(video.id, resultMark(video));
  const marks = marksOf(defect, defects, draft);
  if (!marks) return null;
  return (
    <Onward
      to={`/editor/${video.id}#noticed`}
      aria-label={texts.mendAnywayLabel(videoTexts.defects[defect.kind])}
      onClick={() => change(marks)}
    >
      {texts.mendAnyway}
    </Onward>
  );
}
