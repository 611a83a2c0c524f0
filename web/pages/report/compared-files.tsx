import { ORIGINAL_VERSION } from '#common/api/quick-fixes.ts';
import { buildPath } from '#common/api/endpoint.ts';
import { mediaPaths, type VideoDto } from '#common/api/videos.ts';
import type { RepairReport } from '#common/report.ts';
import { Icon } from '../../components/icons.tsx';
import { useQuickFixes } from '../../data/videos/quick-fixes.ts';
import { reportTexts } from '../../texts/report.ts';
import { Save, Tools } from './report-parts.ts';

const { marked: texts } = reportTexts;

interface ComparedFilesProps {
  readonly video: VideoDto;
  readonly report: RepairReport;
}

/**
 * Both files that a report compares, to be saved and checked against it. Nothing where the plan gives smaller copies,
 * which are other files.
 */
export function ComparedFiles({ video, report }: ComparedFilesProps) {
  const { data } = useQuickFixes(video.id);
  if (video.limitedExport) return null;
  const hrefOf = (file: RepairReport['result']): string | null => {
    const version = data?.versions.find(({ sha256 }) => sha256 === file.sha256);
    if (!version) return null;
    const { id } = video;
    return version.id === ORIGINAL_VERSION
      ? buildPath(mediaPaths.original, { id })
      : buildPath(mediaPaths.version, { id, versionId: version.id });
  };
  const files = [
    { name: texts.files.before, href: hrefOf(report.original) },
    { name: texts.files.after, href: hrefOf(report.result) },
  ];
  return (
    <Tools>
      {files.map(
        ({ name, href }) =>
          href !== null && (
            <Save key={name} href={href} download>
              <Icon name="download" />
              {name}
            </Save>
          ),
      )}
    </Tools>
  );
}
