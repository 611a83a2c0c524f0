import { useState } from 'react';
import type { VideoDto } from '#common/api/videos.ts';
import type { RepairReport } from '#common/report.ts';
import { useQuickFixes } from '../../data/videos/quick-fixes.ts';
import { type JudgedFile, PlatformList } from './platform-list.tsx';

interface CurrentPlatformListProps {
  readonly video: VideoDto;
  readonly report: RepairReport | undefined;
}

/**
 * The check for platforms of what plays and downloads now: of a repair by its report, of a version with quick fixes by
 * what was kept of it. Between two versions the last check stays; nothing before the first is known.
 */
export function CurrentPlatformList({ video, report }: CurrentPlatformListProps) {
  const versions = useQuickFixes(video.id).data?.versions ?? [];
  const known: readonly (JudgedFile & { readonly sha256: string })[] = [
    ...(report ? [report.result, report.original] : []),
    ...versions,
  ];
  const file = known.find(({ sha256 }) => sha256 !== '' && sha256 === video.resultSha256);
  // A server may not name the hash of the current version; then its report is about that version.
  const current = file ?? (video.resultSha256 === null ? report?.result : undefined);
  const [shown, setShown] = useState(current);
  if (current && current !== shown) setShown(current);
  return shown ? <PlatformList file={shown} /> : null;
}
