import type { StreamTreatment } from '#common/report.ts';
import { isCutShort } from '#server/media/probe/lost-ends.ts';
import type { Verdict } from '../repair/picture-task.ts';
import type { AnalysedClip } from './analyse-step.ts';

/** Verdicts on what was repaired before the rest of the job read the clip: a lost index, single changed bytes. */
export function openingVerdicts({ rebuilt, indexFindings, putBack, analysis }: AnalysedClip): Verdict[] {
  const index = indexFindings.map((finding): Verdict => ({
    finding,
    outcome: 'repaired',
    action: isCutShort(analysis.info.lostEnds) ? 'rebuilt_rest' : 'rebuilt_index',
    after: 0,
    explanation: [...(rebuilt?.notes ?? []), 'A new index was written for what is there.'].join(' '),
  }));
  const bytes = (putBack?.findings ?? []).map((finding): Verdict => ({
    finding,
    outcome: 'repaired',
    action: 'restored_bytes',
    after: 0,
    explanation: RESTORED,
  }));
  return [...index, ...bytes];
}

const RESTORED =
  'Single bytes had changed. Only one value of each makes the data readable to the very end, so they were put back, and these frames are whole again.';

/** The treatment of the pictures, without counting those with restored bytes as kept. */
export function withoutPutBack(
  video: StreamTreatment,
  { putBack }: Pick<AnalysedClip, 'putBack'>,
): StreamTreatment {
  if (!putBack || video.unitsKept === null) return video;
  const treatment = video.treatment === 'copied' ? 'smart_render' : video.treatment;
  return { ...video, treatment, unitsKept: Math.max(0, video.unitsKept - putBack.pictures) };
}
