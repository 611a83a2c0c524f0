import { ticksToMs } from '#server/media/time-base.ts';
import type { ResultCheck, StreamTreatment } from '#common/report.ts';
import { asMadeFrom, type MediaInfo } from '#server/media/probe/probe.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import type { Analysis, Finding, PictureTimes } from '../analyse/analysis.ts';
import { renumbered, type KeptRun } from '../analyse/decode/kept-pictures.ts';
import { plannedPictures, type PlannedPicture } from '../repair/compose-edit.ts';
import type { PictureEdit } from '../repair/picture-edit.ts';
import type { Verdict } from '../repair/picture-task.ts';
import { clock } from './build-report.ts';
import { lookAgain, type SecondLook } from './look-again.ts';
import { checkPackets } from './verify-packets.ts';
import { checkSound } from './verify-sound.ts';
import { judgeVerdicts, type JudgedVerdicts } from './verify-verdicts.ts';

export interface VerifyInput {
  readonly resultPath: string;
  /** What the result declares. */
  readonly resultInfo: MediaInfo;
  /** The file that the result was made from. */
  readonly inputPath: string;
  readonly analysis: Analysis;
  readonly edit: PictureEdit;
  readonly verdicts: readonly Verdict[];
  readonly video: StreamTreatment;
  readonly audio: StreamTreatment;
  /** How far the repair moved the sound relative to the pictures, ms; null if its samples were changed. */
  readonly soundShiftMs: number | null;
  readonly reencodedSpans: readonly { readonly firstFrame: number; readonly endFrame: number }[];
  /** Originals whose order counts, and so whose bytes, changed, proven to show what they showed; absent for none. */
  readonly recounted?: readonly number[];
  /** Originals in whose places other pictures may be shown now; null if unknown. */
  readonly altered: ReadonlySet<number> | null;
  /** Small grey pictures of the altered ones that a strict decode has shown, by display number of the original. */
  readonly seen: readonly KeptRun[];
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
  readonly onProgress?: (share: number) => void;
}

export interface Verification {
  /** Pictures of the result: measured if it was decoded, else those of the original that were copied. */
  readonly pictures: PictureTimes | null;
  readonly checks: readonly ResultCheck[];
  /** The verdicts with the values measured on the result. */
  readonly verdicts: readonly Verdict[];
  /** Findings whose repair did not hold; these must be left alone and the clip written again. */
  readonly failed: readonly { readonly finding: Finding; readonly reason: string }[];
  /** Certain findings at and around new pictures, in the result's numbering. */
  readonly remaining: readonly Finding[];
}

/**
 * Checks a finished clip before anybody sees it: coded units that should be untouched have equal hashes, times are as
 * planned and rise, the decoder does not complain, and the detectors that reported a defect no longer do. Pictures are
 * only decoded around new ones; copied streams are proven by hashes.
 * @throws MediaToolError when the result cannot be read at all
 */
export async function verifyResult(input: VerifyInput): Promise<Verification> {
  const { resultInfo: info, tools, signal } = input;
  const pictures = input.analysis.pictures;
  const planned = pictures ? plannedPictures(pictures.ptsTicks, input.edit) : [];
  const repainted = input.video.treatment === 'smart_render' || input.video.treatment === 'full_encode';
  if (!repainted) {
    const packetChecks = await checkUnits(input, info, planned);
    input.onProgress?.(1);
    return {
      pictures,
      checks: packetChecks,
      verdicts: input.verdicts,
      failed: [],
      remaining: [],
    };
  }
  // Hashing waits for the disk and decoding for the processor, so they run together.
  const [packetChecks, seen] = await Promise.all([
    checkUnits(input, info, planned),
    lookAgain({
      resultPath: input.resultPath,
      info: asMadeFrom(info, input.analysis.info),
      freshFrames: freshFrames(input, planned),
      known: knownPictures(input, planned),
      wasDamaged: input.analysis.findings.some(({ kind }) => kind === 'corrupted_section'),
      tools,
      signal,
      onProgress: input.onProgress,
    }),
  ]);
  const judged = judgeVerdicts(input, planned, seen);
  return {
    pictures: seen.pictures,
    checks: [...packetChecks, ...pictureChecks(input, planned, seen, judged)],
    verdicts: judged.verdicts,
    failed: judged.failed,
    remaining: judged.remaining,
  };
}

/**
 * Small pictures that need not be decoded again, by display number of the result: what the analysis saw, if the result
 * is bound or proven to decode the same, and new ones that a strict decode has already shown. Damage that was left in
 * place is examined again.
 */
function knownPictures(
  { analysis, altered, seen }: VerifyInput,
  planned: readonly PlannedPicture[],
): KeptRun[] {
  if (!altered) return [];
  const damaged = analysis.findings.filter(({ kind }) => kind === 'corrupted_section');
  const isDamaged = (frame: number) =>
    damaged.some(({ firstFrame, lastFrame }) => frame >= (firstFrame ?? 0) && frame <= (lastFrame ?? -1));
  const frameOfPlace: number[] = [];
  const frameOfSame: number[] = [];
  for (const [frame, { placeFrame, originalFrame }] of planned.entries()) {
    if (placeFrame === null) continue;
    frameOfPlace[placeFrame] = frame;
    const isLeftDamaged = originalFrame !== null && isDamaged(originalFrame);
    if (!isLeftDamaged && !altered.has(placeFrame)) frameOfSame[placeFrame] = frame;
  }
  return [...renumbered(analysis.kept?.runs ?? [], frameOfSame), ...renumbered(seen, frameOfPlace)];
}

async function checkUnits(
  input: VerifyInput,
  info: MediaInfo,
  planned: readonly PlannedPicture[],
): Promise<ResultCheck[]> {
  return [...(await checkPackets(input, info, planned)), ...(await checkSound(input, info))];
}

/** New or re-encoded pictures of the result; at a removal, the two that now follow each other. */
function freshFrames(input: VerifyInput, planned: readonly PlannedPicture[]): number[] {
  const isFresh = ({ originalFrame }: PlannedPicture, index: number) => {
    if (originalFrame === null) return true;
    const before = planned[index - 1]?.originalFrame;
    const meets = typeof before === 'number' && before !== originalFrame - 1;
    return (
      meets ||
      input.reencodedSpans.some((span) => originalFrame >= span.firstFrame && originalFrame < span.endFrame)
    );
  };
  return planned.flatMap((picture, index) => (isFresh(picture, index) ? [index] : []));
}

function pictureChecks(
  input: VerifyInput,
  planned: readonly PlannedPicture[],
  seen: SecondLook,
  { unexplained, inherited }: Pick<JudgedVerdicts, 'unexplained' | 'inherited'>,
): ResultCheck[] {
  const damaged = unexplained.filter((finding) => finding.kind === 'corrupted_section');
  const others = unexplained.filter((finding) => finding.kind !== 'corrupted_section');
  return [
    {
      name: 'decodes without a complaint',
      passed: damaged.length === 0,
      detail:
        damaged.length === 0
          ? `Strict error detection said nothing on ${seen.decoded} pictures, all new ones among them; all others are the coded pictures of the original.`
          : `Damage at ${damaged.map((finding) => clock(finding.startMs)).join(', ')}.`,
    },
    {
      name: 'picture count as planned',
      passed: seen.pictures?.ptsTicks.length === planned.length,
      detail: `${seen.pictures?.ptsTicks.length ?? 0} of ${planned.length} pictures.`,
    },
    timesCheck(input, planned, seen),
    {
      name: 'no new defect',
      passed: others.length === 0,
      detail: others.length === 0 ? nothingNew(inherited) : places(others),
    },
  ];
}

const places = (findings: readonly Finding[]) =>
  findings.map((finding) => `${finding.kind} at ${clock(finding.startMs)}`).join(', ');

function nothingNew(inherited: readonly Finding[]): string {
  const none = 'The detectors see nothing that was not in the original.';
  if (inherited.length === 0) return none;
  return `${none} Beside the repairs they now see what the original has too: ${places(inherited)}.`;
}

/** Largest difference between a picture's time and the plan, both counted from the first picture. */
function timesCheck(input: VerifyInput, planned: readonly PlannedPicture[], seen: SecondLook): ResultCheck {
  const name = 'times as planned';
  const from = input.analysis.pictures?.timeBase;
  const to = seen.pictures?.timeBase;
  const times = seen.pictures?.ptsTicks ?? [];
  if (!from || !to || times.length !== planned.length) {
    return { name, passed: false, detail: 'The number of pictures differs.' };
  }
  const first = planned[0]?.ptsTicks ?? 0;
  const seenFirst = times[0] ?? 0;
  let worstMs = 0;
  planned.forEach((picture, index) => {
    const want = ticksToMs(picture.ptsTicks - first, from);
    const got = ticksToMs((times[index] ?? 0) - seenFirst, to);
    worstMs = Math.max(worstMs, Math.abs(want - got));
  });
  // Rounding costs at most one tick of a coarse time base (1/600 s in QuickTime).
  const passed = worstMs <= 2;
  return {
    name,
    passed,
    detail: `Largest difference ${worstMs.toFixed(3)} ms over ${times.length} pictures.`,
  };
}
