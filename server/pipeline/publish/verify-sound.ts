import type { ResultCheck } from '#common/report.ts';
import type { MediaInfo } from '#server/media/probe.ts';
import { analyseAudio } from '../analyse/analyse-audio.ts';
import { ACT_CONFIDENCE } from '../analyse/analysis.ts';
import { readPackets } from '../analyse/read-packets.ts';
import type { VerifyInput } from './verify-result.ts';

/** Largest error of the place where sound begins, ms: one packet of AAC is 21 ms, the goal is 5. */
const START_TOLERANCE_MS = 5;

/**
 * Checks the sound of a result whose sound was moved or mended: it begins where planned against the
 * pictures, keeps rate and channels, and the detector of sync no longer finds a fault.
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
    const movedMs = lagMs(info) - lagMs(input.analysis.info);
    const errorMs = Math.abs(movedMs - input.soundShiftMs);
    checks.push({
      name: 'sound moved as planned',
      passed: errorMs <= START_TOLERANCE_MS,
      detail: `Moved ${movedMs.toFixed(1)} ms, planned ${input.soundShiftMs.toFixed(1)} ms.`,
    });
  }
  if (repaired.some(({ finding }) => finding.kind === 'audio_sync'))
    checks.push(await syncCheck(input, info));
  return checks;
}

async function syncCheck(input: VerifyInput, info: MediaInfo): Promise<ResultCheck> {
  const { tools, signal, resultPath } = input;
  const { audio } = await readPackets({ inputPath: resultPath, info, tools, signal });
  const { findings } = await analyseAudio({
    inputPath: resultPath,
    info,
    audioPackets: audio,
    motion: null,
    tools,
    signal,
  });
  const left = findings.find(({ kind, confidence }) => kind === 'audio_sync' && confidence >= ACT_CONFIDENCE);
  return {
    name: 'sound and picture in step',
    passed: left === undefined,
    detail: left
      ? `${left.measure.name}: ${left.measure.value} ${left.measure.unit}.`
      : 'The detector of sync finds no fault in times, rate and holes.',
  };
}

/** Start of the sound minus start of the pictures, ms. */
function lagMs(info: MediaInfo): number {
  return (info.audio[0]?.startMs ?? 0) - (info.video[0]?.startMs ?? 0);
}
