import styled from 'styled-components';
import type { VideoDto } from '#common/api/videos.ts';
import { Badge } from '../../components/badge.tsx';
import { hasNoDefect } from '../../data/arrange-videos.ts';
import { videoTexts } from '../../texts/videos.ts';
import { space } from '../../theme.ts';

const { issues: texts } = videoTexts;

const List = styled.ul`
  display: flex;
  flex-wrap: wrap;
  gap: ${space(0.5)};
`;

/** Names of the five summarised defects that were found (specification section 2). */
export function issueNames(issues: VideoDto['issues']): string[] {
  if (!issues) return [];
  return [
    issues.stutteredCuts > 0 ? texts.stutteredCuts(issues.stutteredCuts) : null,
    issues.audioSyncIssues ? texts.audioSync : null,
    issues.droppedFrames > 0 ? texts.droppedFrames(issues.droppedFrames) : null,
    issues.corruptedSections > 0 ? texts.corruptedSections(issues.corruptedSections) : null,
    issues.windNoise ? texts.windNoise : null,
  ].filter((name) => name !== null);
}

/** What was found, as chips; `None` when nothing was, and hints for what quick fixes could improve (D-67). */
export function IssueSummary({ video }: { readonly video: VideoDto }) {
  const { issues, status } = video;
  if (!issues)
    return (
      <List aria-label={videoTexts.card.issues}>
        <li>
          <Badge>{status === 'processing' ? videoTexts.issuesPending : videoTexts.none}</Badge>
        </li>
      </List>
    );
  const hints = (['shakyFootage', 'poorLighting', 'blurrySection'] as const).filter((flag) => issues[flag]);
  return (
    <List aria-label={videoTexts.card.issues}>
      {hasNoDefect(video) ? (
        <li>
          <Badge tone="ok">{videoTexts.none}</Badge>
        </li>
      ) : (
        issueNames(issues).map((name) => (
          <li key={name}>
            <Badge>{name}</Badge>
          </li>
        ))
      )}
      {hints.map((flag) => (
        <li key={flag}>
          <Badge tone="info" title={videoTexts.recommended[flag]}>
            {videoTexts.recommendedShort[flag]}
          </Badge>
        </li>
      ))}
    </List>
  );
}
