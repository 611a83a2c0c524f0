import { MARKED_PLACE, type NoticedPlace } from '#common/noticed.ts';
import { ticksToMs } from '#server/media/time-base.ts';
import { ACT_CONFIDENCE, type Finding } from '../analysis.ts';
import { judgePictures, type MeasuredPictures, type PictureAnalysis, spansOf } from '../judge-pictures.ts';
import { frameEndMs, frameStartMs } from '../packets/picture-times.ts';
import {
  lengthsSpeakFor,
  lengthsSpeakForLosses,
  surplusByLengths,
  surplusForLosses,
} from '../packets/picture-surplus.ts';
import { MAX_INTERPOLATED } from '../../repair/rebuild-pictures/rebuild-pictures.ts';
import { hiddenDropFinding, stutterFinding, type FindingContext } from '../picture-findings.ts';
import {
  AFTER_MARK_MS,
  BEFORE_MARK_MS,
  findNoticed,
  freezeUpTo,
  stillestOf,
  jumpInto,
  type NoticedRun,
  toNoticedClip,
} from './find-noticed.ts';

/** What the detectors themselves doubt stays below the confidence to act. */
const DOUBTED = ACT_CONFIDENCE - 0.01;
/** A step after a freeze that is this many times the usual one shows that pictures were lost under it. */
const HELD_STEP = 1.5;
/** Pictures before a jump that change by at most this share of the motion around are repeats over lost ones. */
const MOST_HELD = 0.15;
/** A single slow picture is no copy that somebody put in, and lengths that differ by half of one prove nothing. */
const LEAST_PUT_IN = 2;
/** Pictures on each side of a jump, or of a freeze, that are made anew where there is no time for more pictures. */
const SMOOTHED = { one: 1, more: 2 } as const;

/**
 * Judges a clip at places that somebody marked: a finding of the detectors near a mark is acted on however uncertain it
 * is, and where they have none, slighter signs suffice (`findNoticed`). Everything else that is found is kept as
 * uncertain, so that only what was marked is changed.
 * @param leadingSilenceMs digital silence before the sound
 */
export function judgeNoticed(
  measured: MeasuredPictures,
  leadingSilenceMs: number,
  places: readonly NoticedPlace[],
): PictureAnalysis {
  const judged = judgePictures(measured, leadingSilenceMs);
  const look = createLook(measured, judged);
  const chosen = new Set<Finding>();
  const added: Finding[] = [];
  for (const place of places) {
    const known = nearestKnown([...judged.findings, ...added], place);
    const anew = known ? look.again(known) : look.at(place);
    if (known && anew.length === 0) chosen.add(known);
    added.push(...anew);
  }
  const isNew = (finding: Finding) =>
    !added.slice(0, added.indexOf(finding)).some((one) => overlaps(one, finding));
  const fresh = added.filter(isNew);
  const findings = judged.findings
    .filter((finding) => chosen.has(finding) || !fresh.some((one) => isSameDefect(one, finding)))
    .map((finding) => {
      const confidence = chosen.has(finding) ? 1 : Math.min(finding.confidence, DOUBTED);
      return { ...finding, confidence };
    });
  return { ...judged, findings: [...findings, ...fresh].sort((a, b) => a.startMs - b.startMs), notes: [] };
}

/** Whether a finding was marked: all others are kept as uncertain. */
export const isMarked = ({ kind, confidence }: Pick<Finding, 'kind' | 'confidence'>): boolean =>
  (kind === 'stuttered_cut' || kind === 'dropped_frames') && confidence >= ACT_CONFIDENCE;

/** How far a finding lies from a mark, ms; null if the mark cannot mean it. */
export function apartFrom(
  { startMs, endMs }: Pick<Finding, 'startMs' | 'endMs'>,
  { atMs }: Pick<NoticedPlace, 'atMs'>,
): number | null {
  if (endMs < atMs - BEFORE_MARK_MS || startMs > atMs + AFTER_MARK_MS) return null;
  return Math.max(0, startMs - atMs, atMs - endMs);
}

function nearestKnown(findings: readonly Finding[], place: NoticedPlace): Finding | null {
  const fits = ({ detail }: Finding) =>
    place.kind === 'freeze'
      ? detail.kind === 'stuttered_cut' ||
        (detail.kind === 'dropped_frames' && detail.placement === 'instead')
      : detail.kind === 'dropped_frames' && detail.placement !== 'instead';
  const near = findings.flatMap((finding) => {
    const apartMs = fits(finding) ? apartFrom(finding, place) : null;
    return apartMs === null ? [] : [{ finding, apartMs }];
  });
  return near.sort((a, b) => a.apartMs - b.apartMs)[0]?.finding ?? null;
}

const isSameDefect = (a: Finding, b: Finding): boolean =>
  (b.kind === 'stuttered_cut' || b.kind === 'dropped_frames') && overlaps(a, b);

function overlaps(a: Finding, b: Finding): boolean {
  const [aFirst, aLast, bFirst, bLast] = [a.firstFrame, a.lastFrame, b.firstFrame, b.lastFrame];
  if (aFirst === null || aLast === null || bFirst === null || bLast === null) return false;
  return aFirst <= bLast && bFirst <= aLast;
}

/** Looks at the measured pictures for what a mark means. */
function createLook(measured: MeasuredPictures, judged: PictureAnalysis) {
  const { series, index, scan, spans = spansOf(index.times, scan) } = measured;
  const { times, frameOfDecoded } = index;
  const intervalMs = ticksToMs(times.medianIntervalTicks, times.timeBase);
  const frameOf = (decoded: number) => frameOfDecoded[decoded] ?? decoded;
  const context: FindingContext = { times, frameOfDecoded, sceneCuts: judged.sceneCuts };
  const clip = toNoticedClip(measured);
  const { cuts } = clip;

  /** Pictures made anew in place of those from `first` to `last`, decoded pictures; no time is added. */
  function instead(run: NoticedRun, first: number, last: number): Finding {
    const [from, to] = [frameOf(first), frameOf(last)];
    const plain = hiddenDropFinding(dropOf(run), context);
    return {
      ...plain,
      detector: MARKED_PLACE,
      startMs: frameStartMs(times, from),
      endMs: frameEndMs(times, to),
      firstFrame: from,
      lastFrame: to,
      count: to - from + 1,
      detail: { kind: 'dropped_frames', history: 'hidden', acrossCut: false, placement: 'instead' },
    };
  }

  /** As many pictures on both sides as lie in the same shot with one more to start from. */
  function widened({ first, last }: NoticedRun, wanted: number, isJump: boolean) {
    const shotStart = cuts.findLast((cut) => cut <= first - 1) ?? 0;
    const shotEnd = cuts.find((cut) => cut > last) ?? series.count;
    const before = Math.max(0, Math.min(wanted, first - 1 - shotStart));
    const after = Math.max(0, Math.min(isJump ? wanted - 1 : wanted, shotEnd - last - 2));
    return { from: first - before, to: last + after };
  }

  function freeze(run: NoticedRun): Finding[] {
    const { last, usual } = run;
    const endsAtCut = cuts.includes(last + 1);
    const stepBehind = series.blockDiff.get(1)?.[last + 1] ?? 0;
    if (!endsAtCut && stepBehind >= HELD_STEP * usual)
      return run.count > MAX_INTERPOLATED ? [] : [repeats(run, 'held')];
    const putIn = putInOf(run);
    if (putIn) return [repeats(putIn, 'inserted')];
    const { from, to } = widened(run, run.count > 2 ? SMOOTHED.more : SMOOTHED.one, false);
    return to - from < MAX_INTERPOLATED ? [instead(run, from, to)] : [];
  }

  function repeats({ first, last, ratio }: NoticedRun, history: 'held' | 'inserted'): Finding {
    const [startsAtCut, endsAtCut] = [cuts.includes(first - 1), cuts.includes(last + 1)];
    const place = { first, last, startsAtCut, endsAtCut, history };
    return stutterFinding({ ...place, quietness: ratio, confidence: 1 }, context);
  }

  /** What of a run may be taken out: no more than the picture is longer than the sound. Null for nothing. */
  function putInOf(run: NoticedRun): NoticedRun | null {
    if (run.count < LEAST_PUT_IN) return null;
    if (!spans) return run;
    const surplusMs = surplusByLengths(spans);
    if (!lengthsSpeakFor(surplusMs, run.count * intervalMs)) return null;
    const count = Math.max(1, Math.min(run.count, Math.round(surplusMs / intervalMs)));
    return count === run.count ? run : stillestOf(clip, run, count);
  }

  /** Pictures are only put back where the sound has time for them; else the step is spread over those around it. */
  function jump(run: NoticedRun): Finding[] {
    const held = freezeUpTo(clip, run.first - 1);
    if (held && held.ratio <= MOST_HELD) return freeze(held);
    return hasTimeFor(run.count) ? [hiddenDropFinding(dropOf(run), context)] : [spread(run)];
  }

  const hasTimeFor = (missing: number) =>
    lengthsSpeakForLosses(spans && -surplusForLosses(spans, 0), missing * intervalMs);

  function spread(run: NoticedRun): Finding {
    const { from, to } = widened(run, run.count > 1 ? SMOOTHED.more : SMOOTHED.one, true);
    return instead(run, from, to);
  }

  return {
    at(place: NoticedPlace): Finding[] {
      const run = findNoticed(clip, place);
      if (!run) return [];
      return run.kind === 'freeze' ? freeze(run) : jump(run);
    },
    /** A finding of the detectors in the form in which it can be mended; none if it can be as it is. */
    again({ detail, lastFrame, count, measure }: Finding): Finding[] {
      const isStep =
        detail.kind === 'dropped_frames' && detail.history === 'hidden' && detail.placement !== 'instead';
      const at = frameOfDecoded.indexOf(lastFrame ?? -1);
      const run = isStep && at > 0 && !hasTimeFor(count) ? jumpInto(clip, at) : null;
      return run ? [spread({ ...run, ratio: Math.max(run.ratio, measure.value), count })] : [];
    },
  };
}

const dropOf = ({ first, count, ratio }: NoticedRun) => ({
  after: first,
  missing: count,
  ratio,
  confidence: 1,
});
