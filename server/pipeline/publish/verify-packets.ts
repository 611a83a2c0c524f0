import { ticksToMs } from '#server/media/time-base.ts';
import type { ResultCheck } from '#common/report.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import type { PictureTimes } from '../analyse/analysis.ts';
import type { PlannedPicture } from '../repair/compose-edit.ts';
import {
  hashPackets,
  inCommon,
  hashPacketsByTool,
  hashPictures,
  type HashedPacket,
} from './packet-hashes.ts';
import type { VerifyInput } from './verify-result.ts';

/**
 * Checks coded units without decoding: untouched pictures and sound have the same bytes, decode times rise, and the
 * clip is as long as planned.
 */
export async function checkPackets(
  input: VerifyInput,
  info: MediaInfo,
  planned: readonly PlannedPicture[],
): Promise<ResultCheck[]> {
  const { tools, signal, analysis } = input;
  const before = { path: input.inputPath, info: analysis.info, tools, signal };
  const after = { path: input.resultPath, info, tools, signal };
  const checks: ResultCheck[] = [];
  const samePackets = async (stream: 'v' | 'a', result: readonly HashedPacket[]): Promise<ResultCheck> => {
    const [name, what] = EQUAL_STREAMS[stream];
    const check = equalCheck(name, what, await hashPackets(before, stream), result);
    if (check.passed) return check;
    // The two readers may treat hidden units differently; ffmpeg's list is the one that anybody can repeat.
    const byTool = await hashPacketsByTool(after, stream);
    return equalCheck(name, what, await hashPacketsByTool(before, stream), byTool);
  };
  const video = await hashPackets(after, 'v');
  checks.push(risingCheck(video), lengthCheck({ info, video }, planned, input));
  if (input.video.treatment === 'copied') {
    checks.push(
      sameCodedForm(analysis.info)
        ? await samePackets('v', video)
        : equalCheck(
            'pictures bit-exact',
            'decoded pictures',
            await hashPictures(before),
            await hashPictures(after),
          ),
    );
  } else if (input.video.treatment === 'smart_render') {
    const check = keptCheck(await hashPackets(before, 'v'), video, planned, input);
    // The two readers may treat hidden units differently; ffmpeg's list is the one that anybody can repeat.
    const [beforeByTool, afterByTool] = check.passed
      ? [[], []]
      : [await hashPacketsByTool(before, 'v'), await hashPacketsByTool(after, 'v')];
    checks.push(check.passed ? check : keptCheck(beforeByTool, afterByTool, planned, input));
  }
  if (input.audio.treatment === 'copied' && info.audio.length > 0) {
    if (sameCodedForm(analysis.info)) checks.push(await samePackets('a', await hashPackets(after, 'a')));
  } else if (input.audio.treatment === 'smart_render') {
    checks.push(keptSoundCheck(input.audio, await hashPackets(before, 'a'), await hashPackets(after, 'a')));
  }
  return checks;
}

/** Name of the check that a stream was kept whole, and what is counted. */
export const EQUAL_STREAMS = {
  v: ['pictures bit-exact', 'coded pictures'],
  a: ['sound bit-exact', 'sound packets'],
} as const;

/**
 * Whether coded bytes can be compared. Transport streams and AVI mark units with start codes or headers of their own,
 * MP4 and Matroska store lengths, and the headers once: same content, other bytes.
 */
function sameCodedForm(info: MediaInfo): boolean {
  return info.format === 'mov' || info.format === 'matroska';
}

function risingCheck(packets: readonly HashedPacket[]): ResultCheck {
  let falls = 0;
  packets.forEach((packet, index) => {
    const previous = packets[index - 1];
    if (previous && packet.dtsTicks <= previous.dtsTicks) falls += 1;
  });
  const passed = falls === 0 && packets.length > 0;
  return { name: 'decode times rise', passed, detail: `${packets.length} units, ${falls} out of order.` };
}

/**
 * Checks the duration. MP4-like containers declare the sum of all picture durations, which is too short if pictures are
 * missing before the last coded one. Then the times of the pictures count, as far as the container outputs them.
 */
function lengthCheck(
  { info, video }: { readonly info: MediaInfo; readonly video: readonly HashedPacket[] },
  planned: readonly PlannedPicture[],
  input: VerifyInput,
): ResultCheck {
  const name = 'length as planned';
  const pictures = input.analysis.pictures;
  const first = planned[0];
  const last = planned.at(-1);
  const declaredMs = info.video[0]?.durationMs ?? null;
  if (!pictures || !first || !last || declaredMs === null) {
    const passed = declaredMs !== null && declaredMs > 0;
    return { name, passed, detail: 'The original tells no picture times.' };
  }
  const toMs = (ticks: number) => ticksToMs(ticks, pictures.timeBase);
  const frameMs = toMs(pictures.medianIntervalTicks);
  const wantMs = toMs(last.ptsTicks - first.ptsTicks) + frameMs;
  // Half a picture, plus the last picture of a variable-rate clip, which may be declared longer or shorter.
  const slackMs = frameMs * (pictures.variableByNature ? 3 : 0.5) + lastPictureSlackMs(input, wantMs);
  // A clip whose container stores no display times begins with a delay that counts as part of its duration.
  const waitMs = input.analysis.info.format === 'mov' ? 0 : Math.max(0, toMs(first.ptsTicks));
  const lengths = lengthsOf(info, video, planned.length);
  const extrasMs = [0, waitMs, tailMs(input, pictures), lengths.hiddenMs];
  const isLong = (ms: number) => extrasMs.some((extraMs) => Math.abs(ms - wantMs - extraMs) <= slackMs);
  const shownMs = lengths.shownMs + frameMs;
  const gotMs = declaredMs < shownMs && !isLong(declaredMs) ? shownMs : declaredMs;
  return {
    name,
    passed: isLong(gotMs),
    detail: `${Math.round(gotMs)} ms, planned ${Math.round(wantMs)} ms.`,
  };
}

/**
 * How long the original shows its last picture beyond the usual time, for example because an edit list hides the
 * pictures after it.
 */
function tailMs(
  { analysis }: VerifyInput,
  { ptsTicks, medianIntervalTicks, timeBase }: PictureTimes,
): number {
  const { startMs, durationMs } = analysis.info.video[0] ?? { startMs: null, durationMs: null };
  const firstTicks = ptsTicks[0] ?? 0;
  const lastEndTicks = (ptsTicks.at(-1) ?? 0) + medianIntervalTicks;
  // The first picture may come later than the stream is stated to begin.
  const endMs = (startMs ?? ticksToMs(firstTicks, timeBase)) + (durationMs ?? 0);
  return Math.max(0, endMs - ticksToMs(lastEndTicks, timeBase));
}

/**
 * Duration from the first to the last shown picture, and of what an edit list hides before them. A container includes
 * the hidden part in its duration if a key picture precedes it; before a repair there may have been none, and what
 * could not be decoded was not declared.
 */
function lengthsOf(
  info: MediaInfo,
  video: readonly HashedPacket[],
  shown: number,
): { readonly shownMs: number; readonly hiddenMs: number } {
  const base = info.video[0]?.timeBase ?? { num: 1, den: 1 };
  const times = video.map(({ ptsTicks }) => ptsTicks).sort((a, b) => a - b);
  const first = times[Math.max(0, times.length - shown)] ?? 0;
  return {
    shownMs: ticksToMs((times.at(-1) ?? first) - first, base),
    hiddenMs: ticksToMs(first - (times[0] ?? first), base),
  };
}

/** What the original itself declares beyond its last picture. */
function lastPictureSlackMs(input: VerifyInput, wantMs: number): number {
  const declared = input.analysis.info.video[0]?.durationMs ?? null;
  const changed = input.edit.length > 0;
  return declared === null || changed ? 1 : Math.abs(declared - wantMs) + 1;
}

function equalCheck(
  name: string,
  what: string,
  original: readonly HashedPacket[],
  result: readonly HashedPacket[],
): ResultCheck {
  const equal = original.filter((packet, index) => result[index]?.hash === packet.hash).length;
  const passed = equal === original.length && result.length === original.length && equal > 0;
  return { name, passed, detail: `${equal} of ${original.length} ${what} have the same SHA-256.` };
}

/** If a sound has new frames in its holes, all others must be there with the same bytes. */
function keptSoundCheck(
  { unitsKept }: VerifyInput['audio'],
  original: readonly HashedPacket[],
  result: readonly HashedPacket[],
): ResultCheck {
  const common = inCommon(original, result);
  return {
    name: 'untouched sound bit-exact',
    passed: unitsKept !== null && common >= unitsKept,
    detail: `${common} sound packets have the same SHA-256, ${unitsKept ?? 0} were kept.`,
  };
}

/** Smart render states which pictures it did not touch: each must be there with the same bytes. */
function keptCheck(
  original: readonly HashedPacket[],
  result: readonly HashedPacket[],
  planned: readonly PlannedPicture[],
  input: VerifyInput,
): ResultCheck {
  const name = 'untouched pictures bit-exact';
  const byTime = (packets: readonly HashedPacket[]) => [...packets].sort((a, b) => a.ptsTicks - b.ptsTicks);
  const before = byTime(original);
  const after = byTime(result);
  // Pictures that an edit list hides come before the first displayed one in both files.
  const hiddenBefore = before.length - (input.analysis.pictures?.ptsTicks.length ?? before.length);
  const hiddenAfter = after.length - planned.length;
  const recounted = new Set(input.recounted);
  let promised = 0;
  let equal = 0;
  planned.forEach(({ originalFrame }, index) => {
    if (originalFrame === null || isReencoded(originalFrame, input) || recounted.has(originalFrame)) return;
    promised += 1;
    if (before[originalFrame + hiddenBefore]?.hash === after[index + hiddenAfter]?.hash) equal += 1;
  });
  const detail = `${equal} of ${promised} pictures outside the repaired groups have the same SHA-256.`;
  return { name, passed: equal === promised, detail };
}

function isReencoded(frame: number, input: VerifyInput): boolean {
  return input.reencodedSpans.some((span) => frame >= span.firstFrame && frame < span.endFrame);
}
