import { stat } from 'node:fs/promises';
import type { RepairReport } from '#common/report.ts';
import { versionOf } from '#server/media/ffmpeg/ffmpeg-names.ts';
import { buildReport, summarise } from './publish/build-report.ts';
import { withMovedSound } from './publish/marked-report.ts';
import { hashPackets, inCommon } from './publish/packet-hashes.ts';
import { EQUAL_STREAMS } from './publish/verify-packets.ts';
import { countShown } from './repair/quick-fixes/apply-fixes.ts';
import type { Clip } from './repair/quick-fixes/change-sound.ts';
import type { FixJob } from './repair/quick-fixes/fix-job.ts';
import type { MovedSound } from './repair/quick-fixes/move-sound.ts';

export interface NoticedVersion {
  readonly source: Clip;
  readonly final: Clip;
  readonly made: { readonly sha256: string; readonly sizeBytes: number };
  /** What was mended in its pictures; null for nothing. */
  readonly report: RepairReport | null;
  readonly sound: MovedSound | null;
}

/**
 * The report of a new version, from the file that was marked to the one that was made of it.
 * @throws MediaToolError when one of them cannot be read, or the run is cancelled
 */
export async function reportNoticed(
  job: FixJob,
  { source, final, made, report, sound }: NoticedVersion,
): Promise<RepairReport> {
  const base = report ?? (await untouchedReport(job, source));
  if (sound === null) return base;
  const { sha256, sizeBytes } = made;
  const durationMs = final.info.durationMs ?? base.result.media.durationMs;
  const packets = await keptSound(job, source, final);
  return withMovedSound(base, sound, { sha256, sizeBytes, durationMs, packets });
}

/** Says of a clip that its pictures were kept, which `writeSound` has made sure of. */
async function untouchedReport(job: FixJob, { path: file, info }: Clip): Promise<RepairReport> {
  const { tools, reelmendVersion, inputSha256: sha256 } = job.task;
  const pictures = await countShown(job, { path: file, info });
  const original = {
    sha256,
    sizeBytes: (await stat(file)).size,
    media: { ...summarise(info, null), frameCount: pictures },
  };
  return buildReport({
    createdAt: new Date(),
    outcome: 'unchanged',
    original,
    result: original,
    tools: { reelmend: reelmendVersion, ffmpeg: await versionOf(tools, job.signal) },
    video: { treatment: 'copied', reason: null, unitsKept: pictures, unitsTotal: pictures },
    audio: { treatment: 'copied', reason: null, unitsKept: null, unitsTotal: null },
    soundMove: null,
    steps: [],
    verdicts: [],
    checks: [
      {
        name: EQUAL_STREAMS.v[0],
        passed: true,
        detail: `${pictures} of ${pictures} coded pictures have the same SHA-256.`,
      },
    ],
    captions: [],
    notes: [],
  });
}

async function keptSound({ task: { tools }, signal }: FixJob, from: Clip, to: Clip) {
  const list = ({ path: file, info }: Clip) => hashPackets({ path: file, info, tools, signal }, 'a', 'file');
  const before = await list(from);
  return { before: before.length, kept: inCommon(before, await list(to)) };
}
