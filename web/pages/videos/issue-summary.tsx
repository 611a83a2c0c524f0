import styled from 'styled-components';
import type { VideoDto } from '#common/api/videos.ts';
import { MADE_PLAYABLE } from '#common/video.ts';
import { Badge } from '../../components/badge.tsx';
import { hasNoDefect } from '../../data/videos/arrange-videos.ts';
import { videoTexts } from '../../texts/videos.ts';
import { space } from '../../theme.ts';

const { issues: texts } = videoTexts;

const List = styled.ul`
  display: flex;
  flex-wrap: wrap;
  gap: ${space(0.5)};
`;

interface Issue {
  readonly name: string;
  readonly found: number;
  readonly mended: number;
  /** Number of sections made playable, with visible traces of the damage. */
  readonly playable: number;
}

/**
 * The five summarised kinds of defects that were found, and how many of each were repaired (specification section 2).
 */
function issuesOf({ issues, fixesApplied }: VideoDto): Issue[] {
  if (!issues) return [];
  const counts = [
    ['stutteredCuts', texts.stutteredCuts(issues.stutteredCuts)],
    ['audioSyncIssues', texts.audioSync],
    ['droppedFrames', texts.droppedFrames(issues.droppedFrames)],
    ['corruptedSections', texts.corruptedSections(issues.corruptedSections)],
    ['windNoise', texts.windNoise],
  ] as const;
  return counts
    .map(([kind, name]) => {
      const playable = kind === 'corruptedSections' ? Number(fixesApplied[MADE_PLAYABLE] ?? 0) : 0;
      return {
        name,
        found: Number(issues[kind]),
        mended: Number(fixesApplied[kind] ?? 0) - playable,
        playable,
      };
    })
    .filter(({ found }) => found > 0);
}

function IssueChip({ issue: { name, found, mended, playable } }: { readonly issue: Issue }) {
  if (playable > 0) {
    const parts =
      playable >= found
        ? [texts.playable]
        : [...(mended > 0 ? [texts.mendedOf(mended)] : []), texts.playableOf(playable)];
    return <Badge tone="warn">{[name, ...parts].join(', ')}</Badge>;
  }
  if (mended === 0) return <Badge>{name}</Badge>;
  const all = mended >= found;
  return (
    <Badge tone={all ? 'ok' : 'neutral'} icon={all ? 'check' : undefined}>
      {`${name}, ${all ? texts.mended : texts.mendedOf(mended)}`}
    </Badge>
  );
}

/** The found defects as chips; `None` when there are none, and hints for what quick fixes could improve. */
export function IssueSummary({ video }: { readonly video: VideoDto }) {
  const { issues, status } = video;
  if (!issues)
    return (
      <List aria-label={videoTexts.card.issues}>
        <li>
          <Badge>{status === 'processing' ? videoTexts.issuesPending : videoTexts.issuesUnknown}</Badge>
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
        issuesOf(video).map((issue) => (
          <li key={issue.name}>
            <IssueChip issue={issue} />
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
