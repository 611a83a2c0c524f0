import styled from 'styled-components';
import { LEADERBOARD_LENGTH } from '#common/limits.ts';
import { Card } from '../../components/card.tsx';
import { ReputationBadge } from '../../components/reputation-badge.tsx';
import { StaleNote } from '../../components/stale-note.tsx';
import { Stitch } from '../../components/stitch.tsx';
import { useLeaderboard } from '../../data/ideas/ideas.ts';
import { ideaTexts } from '../../texts/ideas.ts';
import { colour, figures, space, text } from '../../theme.ts';

const { leaders: texts, list: listTexts } = ideaTexts;

// Gold, silver and bronze of the podium (specification section 9); dark text is readable on all three.
const PODIUM = ['#e3b341', '#b9c1cc', '#cf8b54'] as const;

const Sheet = styled(Card)`
  display: grid;
  align-content: start;
  gap: ${space(2)};
  h2 {
    font-size: ${text.xl};
  }
  h3 {
    font-size: ${text.m};
  }
`;
const Ranks = styled.ol`
  display: grid;
  gap: ${space(1.5)};
`;
const Row = styled.li`
  display: grid;
  grid-template-columns: auto minmax(0, 1fr) auto;
  align-items: center;
  gap: ${space(0.5, 1.5)};
`;
const Rank = styled.span<{ $colour: string | undefined }>`
  ${figures}
  display: grid;
  place-items: center;
  width: 32px;
  height: 32px;
  border-radius: 50%;
  background: ${({ $colour }) => $colour ?? colour.hover};
  color: ${({ $colour }) => ($colour ? '#171c2b' : colour.ink)};
  font-weight: 700;
`;
/* On a separate line: beside the badge only four letters would fit. */
const Name = styled.strong`
  grid-column: 2 / -1;
  overflow: hidden;
  text-overflow: ellipsis;
  white-space: nowrap;
`;
const Points = styled.span`
  ${figures}
  grid-column: 2;
  white-space: nowrap;
  font-size: ${text.s};
  color: ${colour.inkSoft};
`;
const Hint = styled.div`
  display: grid;
  gap: ${space(1)};
  font-size: ${text.s};
  color: ${colour.inkSoft};
  li {
    padding-left: ${space(1.5)};
    border-left: 2px dashed ${colour.chalk};
  }
  ul {
    display: grid;
    gap: ${space(0.75)};
  }
`;

/** Right column: the five users with the most reputation, and how to earn it. */
export function Leaders() {
  const { data, isError, refetch } = useLeaderboard();
  const leaders = (data ?? []).slice(0, LEADERBOARD_LENGTH);
  return (
    <Sheet>
      <h2>{texts.title}</h2>
      {data?.length === 0 && <p>{texts.empty}</p>}
      <Ranks>
        {leaders.map((leader, index) => (
          <Row key={leader.id}>
            <Rank $colour={PODIUM[index]}>{index + 1}</Rank>
            <Name title={leader.username}>{leader.username}</Name>
            <Points>{texts.points(leader.reputation)}</Points>
            <ReputationBadge points={leader.reputation} size="md" />
          </Row>
        ))}
      </Ranks>
      <Stitch />
      <Hint>
        <h3>{texts.hintTitle}</h3>
        <ul>
          {texts.hints.map((hint) => (
            <li key={hint}>{hint}</li>
          ))}
        </ul>
      </Hint>
      {/* Last, so that it moves nothing. */}
      {isError && <StaleNote onRetry={() => void refetch()}>{listTexts.refreshFailed}</StaleNote>}
    </Sheet>
  );
}
