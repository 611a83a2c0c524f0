import {
  ORIGINAL_VERSION,
  type ClipVersionDto,
  type FixOutcome,
  type FixRunDto,
  type PlatformExportDto,
  type QuickFixesDto,
} from '#common/api/quick-fixes.ts';
import type { FixRun } from '#db/models/fix-run.ts';
import type { VideoVersion } from '#db/models/video-version.ts';
import type { Video } from '#db/models/video.ts';

export function toRunDto(run: FixRun): FixRunDto {
  const { remainingS, jobId, state, progress, fixes, sourceVersionId, resultVersionId, message, revision } =
    run;
  return {
    jobId,
    state,
    progress,
    remainingSeconds: remainingS,
    fixes,
    sourceVersionId,
    resultVersionId,
    message,
    revision,
  };
}

/**
 * Rows -> the quick fixes panel.
 * @param versions all rows of the video, newest first
 * @param reported ids of versions with a report of what somebody marked
 */
export function toQuickFixesDto(
  video: Video,
  run: FixRun | null,
  versions: readonly VideoVersion[],
  reported: ReadonlySet<string>,
): QuickFixesDto {
  const current = versions.find(({ id }) => id === video.currentVersionId) ?? null;
  const exports = versions.filter(({ kind }) => kind === 'platform');
  return {
    run: run && toRunDto(run),
    done: doneFixes(current, run, exports),
    versions: listVersions(video, current, versions, reported),
    exports: exports.map((version) => toExportDto(version, current)),
  };
}

/** Outcomes for the current version: the fixes in it, answers of the last request about it, files made from it. */
function doneFixes(
  current: VideoVersion | null,
  run: FixRun | null,
  exports: readonly VideoVersion[],
): FixOutcome[] {
  if (!current) return [];
  const about = run?.state === 'done' && (run.resultVersionId ?? run.sourceVersionId) === current.id;
  const answers = about ? run.fixes.filter(({ state }) => state === 'unchanged') : [];
  const files = exports
    .filter(({ sourceSha256 }) => sourceSha256 === current.sha256)
    .flatMap(({ fixes }) => fixes ?? []);
  const done = new Map([...answers, ...files, ...(current.fixes ?? [])].map((fix) => [fix.id, fix]));
  return [...done.values()];
}

function listVersions(
  video: Video,
  current: VideoVersion | null,
  versions: readonly VideoVersion[],
  reported: ReadonlySet<string>,
): ClipVersionDto[] {
  const original: ClipVersionDto = {
    id: ORIGINAL_VERSION,
    kind: 'original',
    current: current?.sha256 === video.originalSha256,
    createdAt: new Date(video.createdAt).toISOString(),
    sizeBytes: video.fileSize,
    sha256: video.originalSha256 ?? '',
    media: null,
    hasReport: false,
    fixes: [],
  };
  // A clip with nothing wrong is its own result and gets one entry, not two.
  const made = versions.flatMap((version) => {
    const { kind, sha256 } = version;
    if ((kind !== 'repair' && kind !== 'fixes') || sha256 === video.originalSha256) return [];
    const hasReport = kind === 'repair' ? version.reportSha256 !== null : reported.has(version.id);
    return [toVersionDto(version, { kind, current: version.id === current?.id, hasReport })];
  });
  return [original, ...made];
}

function toVersionDto(
  version: VideoVersion,
  told: Pick<ClipVersionDto, 'kind' | 'current' | 'hasReport'>,
): ClipVersionDto {
  const { id, sizeBytes, sha256, media, fixes } = version;
  return {
    id,
    ...told,
    createdAt: new Date(version.createdAt).toISOString(),
    sizeBytes,
    sha256,
    media: media ?? null,
    fixes: fixes ?? [],
  };
}

function toExportDto(version: VideoVersion, current: VideoVersion | null): PlatformExportDto {
  const { id, sizeBytes, createdAt, sourceSha256 } = version;
  const made = version.fixes?.[0];
  return {
    id,
    fix: version.platformFix ?? 'tiktok-optimize',
    createdAt: new Date(createdAt).toISOString(),
    sizeBytes,
    ofCurrent: sourceSha256 === current?.sha256,
    detail: made?.detail ?? '',
    figures: made?.figures ?? [],
  };
}
