import type { ResultCheck } from '#common/report.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import { ticksToMs } from '#server/media/time-base.ts';
import { median } from '#server/media/signal/signal.ts';
import { analyseAudio } from '../analyse/analyse-audio.ts';
import { ACT_CONFIDENCE } from '../analyse/analysis.ts';
import { analysePicture } from '../analyse/analyse-picture.ts';
import { readPackets } from '../analyse/packets/read-packets.ts';
import { heardMove } from './heard-move.ts';
import { hashPackets, type HashInput } from './packet-hashes.ts';
import type { VerifyInput } from './verify-result.ts';

/** The goal for the remaining offset after a repair, ms. */
const MOVE_TOLERANCE_MS = 5;

/**
 * Checks the sound of a result whose sound was moved or changed: it begins where planned relative to the pictures,
 * keeps rate and channels, and the sync detector no longer finds a fault.
 */
export async function checkSound(input: VerifyInput, info: MediaInfo): Promise<ResultCheck[]> {
  const before = input.analysis.info.audio[0];
  const after = info.audio[0];
  const repaired = input.verdicts.filter(({ finding, outcome }) => {
    return outcome === 'repaired' && (finding.kind === 'audio_sync' || finding.kind === 'wind_noise');
  });
  if (!before || repaired.length === 0) return [];
  const same = after?.sampleRateHz === before.sampleRateHz && after.channels === before.channels;
  const checks: ResultCheck[] = [
    {
      name: 'sound keeps rate and channels',
      passed: same,
      detail: `${after?.sampleRateHz ?? 0} Hz, ${after?.channels ?? 0} channels.`,
    },
  ];
  if (input.soundShiftMs !== null) {
    checks.push(moveCheck(await measureMove(input, info), input.soundShiftMs));
  }
  if (repaired.some(({ finding }) => finding.kind === 'audio_sync'))
    checks.push(await syncCheck(input, info));
  return checks;
}

/** Whether a sound is heard where it was to be moved, ms. */
export function moveCheck(movedMs: number | null, plannedMs: number): ResultCheck {
  const planned = `planned ${plannedMs.toFixed(1)} ms`;
  return {
    name: 'sound moved as planned',
    passed: movedMs !== null && Math.abs(movedMs - plannedMs) <= MOVE_TOLERANCE_MS,
    detail:
      movedMs === null
        ? `Nothing of it is found again; ${planned}.`
        : `Moved ${movedMs.toFixed(1)} ms, ${planned}.`,
  };
}

async function syncCheck(input: VerifyInput, info: MediaInfo): Promise<ResultCheck> {
  const { tools, signal, resultPath } = input;
  const { audio } = await readPackets({ inputPath: resultPath, info, tools, signal });
  // Sound moved by the content contradicts the container's times; only the content can tell.
  const bySight = input.verdicts.some(({ finding: { detail } }) => {
    return (
      detail.kind === 'audio_sync' && (detail.evidence === 'content' || detail.driftSource === 'content')
    );
  });
  const seen = bySight ? await analysePicture({ inputPath: resultPath, info, tools, signal }) : null;
  const { findings } = await analyseAudio({
    inputPath: resultPath,
    info,
    audioPackets: audio,
    motion: seen?.motion ?? null,
    tools,
    signal,
  });
  const left = findings.find(({ kind, confidence }) => kind === 'audio_sync' && confidence >= ACT_CONFIDENCE);
  return {
    name: 'sound and picture in step',
    passed: left === undefined,
    detail: left
      ? `${left.measure.name}: ${left.measure.value} ${left.measure.unit}.`
      : `The detector of sync finds no fault in ${bySight ? 'what is seen and heard' : 'times, rate and holes'}.`,
  };
}

/**
 * How much later the same sound packets are in the result, relative to the pictures, ms: the median of all pairs with
 * equal bytes. For re-encoded sound, how much later it is heard. Start times do not tell, because a shift may begin
 * inside the first packet.
 */
async function measureMove(input: VerifyInput, info: MediaInfo): Promise<number | null> {
  const { tools, signal, analysis } = input;
  const original = { path: input.inputPath, info: analysis.info, tools, signal };
  const result = { path: input.resultPath, info, tools, signal };
  const [fromMs, toMs] = [firstPictureMs(input), info.video[0]?.startMs ?? 0];
  if (input.audio.treatment !== 'copied' && input.soundShiftMs !== null) {
    const heard = { ...original, pictureMs: fromMs };
    return heardMove(heard, { ...result, pictureMs: toMs }, input.soundShiftMs);
  }
  const before = await packetTimes(original, fromMs);
  const after = await packetTimes(result, toMs);
  const lag = commonLag(
    before.map(({ hash }) => hash),
    after.map(({ hash }) => hash),
  );
  if (lag === null) return null;
  const moves = after.flatMap(({ hash, ms }, index) => {
    const original = before[index + lag];
    return original?.hash === hash ? [ms - original.ms] : [];
  });
  return moves.length === 0 ? null : median(moves);
}

/**
 * Distance between equal units of two lists: the one that most pairs agree on, so that silence and loops, whose packets
 * repeat, cannot mislead. Null without a pair.
 */
export function commonLag(before: readonly string[], after: readonly string[]): number | null {
  const places = new Map<string, number[]>();
  before.forEach((hash, index) => {
    const known = places.get(hash);
    if (!known) places.set(hash, [index]);
    else if (known.length < MAX_REPEATS) known.push(index);
  });
  const votes = new Map<number, number>();
  after.forEach((hash, index) => {
    for (const place of places.get(hash) ?? []) {
      votes.set(place - index, (votes.get(place - index) ?? 0) + 1);
    }
  });
  let best: number | null = null;
  for (const [lag, count] of votes) {
    const most = best === null ? 0 : (votes.get(best) ?? 0);
    const nearer = count === most && Math.abs(lag) < Math.abs(best ?? lag);
    if (count > most || nearer) best = lag;
  }
  return best;
}

/** Most places of one repeated packet that are compared; digital silence repeats one throughout a clip. */
const MAX_REPEATS = 64;

/** AVI states when a stream begins, but reordered pictures come out of the decoder later. */
function firstPictureMs({ analysis: { info, pictures } }: VerifyInput): number {
  const first = info.format === 'avi' ? pictures?.ptsTicks[0] : undefined;
  return first === undefined || !pictures
    ? (info.video[0]?.startMs ?? 0)
    : ticksToMs(first, pictures.timeBase);
}

/** Each sound packet with its time relative to the first picture, ms. */
async function packetTimes(file: HashInput, pictureMs: number): Promise<{ hash: string; ms: number }[]> {
  const { num, den } = file.info.audio[0]?.timeBase ?? { num: 1, den: 1 };
  return (await hashPackets(file, 'a')).map(({ hash, ptsTicks }) => {
    return { hash, ms: (ptsTicks * num * 1000) / den - pictureMs };
  });
}
