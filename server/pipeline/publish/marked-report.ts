import { BY_HAND, MARKED_PLACE, type NoticedMarks } from '#common/noticed.ts';
import type { Defect, RepairReport } from '#common/report.ts';
import { isMarked } from '../analyse/noticed/judge-noticed.ts';
import { looksMended, type MendedPlace } from '../analyse/noticed/measure-mended.ts';
import type { MovedSound } from '../repair/quick-fixes/move-sound.ts';
import { clock } from './build-report.ts';
import { EQUAL_STREAMS } from './verify-packets.ts';
import { moveCheck } from './verify-sound.ts';

/**
 * What became of a marked defect, in words.
 * @param place what was measured of it on the result; undefined where it was not mended
 */
export function markedWords(defect: Defect, place: MendedPlace | undefined): string {
  if (!place || defect.outcome !== 'repaired') return defect.explanation;
  const words = mendedWords(defect);
  return looksMended(place) ? words : `${words} ${NO_BETTER}`;
}

/** Of pictures that were spread nothing is missing, and nothing is repeated. */
function mendedWords({ detector, count, startMs, explanation }: Defect): string {
  if (detector !== MARKED_PLACE) return explanation;
  return `At ${clock(startMs)}, ${count} frames were made anew from those around them, so that the motion goes on evenly; nothing was moved in time.`;
}

const NO_BETTER = 'It looks no better than before, so it was kept only if another place was mended.';

const NOT_MARKED = 'Nobody marked it, so it was left as it is.';

/** How light, sharp or steady a clip is says nothing about marks. */
const isAskedAbout = ({ kind }: Defect) =>
  kind === 'stuttered_cut' || kind === 'dropped_frames' || kind === 'corrupted_section';

/** As exact as the measures before it. */
const rounded = (value: number | null) => (value === null ? null : Number(value.toFixed(4)));

/** A file with moved sound. */
export interface MovedResult extends Pick<RepairReport['result'], 'sha256' | 'sizeBytes'> {
  readonly durationMs: number;
  /** Coded sound packets of the clip before, and those of them that this one has too. */
  readonly packets: { readonly before: number; readonly kept: number };
}

/**
 * The report of a clip that was mended where somebody marked it: that of the repair, with what was measured again at
 * the marked places. The sound was not listened to.
 */
export function toMarkedReport(
  report: RepairReport,
  places: NoticedMarks['places'],
  measured: ReadonlyMap<string, MendedPlace>,
): RepairReport {
  return {
    ...report,
    marked: { places, soundShiftMs: 0 },
    steps: report.steps.filter(({ step }) => step !== 'fixing_audio' && step !== 'adding_captions'),
    defects: report.defects.filter(isAskedAbout).map((defect) => {
      if (!isMarked(defect)) return { ...defect, explanation: NOT_MARKED };
      const place = measured.get(defect.id);
      const told = { ...defect, explanation: markedWords(defect, place) };
      return place ? { ...told, measure: { ...told.measure, after: rounded(place.after) } } : told;
    }),
  };
}

/**
 * A report with the sound moved by hand as well.
 * @param report of the clip with its sound where it was
 */
export function withMovedSound(report: RepairReport, moved: MovedSound, result: MovedResult): RepairReport {
  const { shiftMs, movedMs } = moved;
  const { durationMs, packets, ...file } = result;
  const isKept = packets.kept === packets.before;
  return {
    ...report,
    outcome: 'repaired',
    result: { ...file, media: { ...report.result.media, durationMs } },
    marked: { places: report.marked?.places ?? [], soundShiftMs: shiftMs },
    soundMove: { shiftMs, startMs: 0, stretch: 1 },
    defects: [...report.defects, movedDefect(moved, report.original.media.durationMs)],
    audio: isKept ? report.audio : CONVERTED,
    checks: [
      ...report.checks.filter(({ name }) => name !== SOUND_KEPT),
      ...(isKept ? [keptCheck(packets)] : []),
      // Without anything loud enough to be found again, only the times in the file tell.
      ...(movedMs === null ? [] : [moveCheck(movedMs, shiftMs)]),
    ],
  };
}

const [SOUND_KEPT] = EQUAL_STREAMS.a;

const CONVERTED: RepairReport['audio'] = {
  treatment: 'full_encode',
  reason: 'the sound was converted, because players cannot play it as it was',
  unitsKept: null,
  unitsTotal: null,
};

const keptCheck = ({ kept, before }: MovedResult['packets']) => ({
  name: SOUND_KEPT,
  passed: true,
  detail: `${kept} of ${before} sound packets have the same SHA-256.`,
});

function movedDefect({ movedMs, words }: MovedSound, durationMs: number): Defect {
  return {
    id: 'audio_sync-1',
    kind: 'audio_sync',
    startMs: 0,
    endMs: durationMs,
    firstFrame: null,
    lastFrame: null,
    count: 1,
    confidence: 1,
    detector: BY_HAND,
    measure: { name: 'sound moved', unit: 'ms', threshold: null, before: 0, after: movedMs },
    action: 'shifted_audio',
    outcome: 'repaired',
    explanation: words,
  };
}
