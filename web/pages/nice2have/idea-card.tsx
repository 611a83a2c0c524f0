import { useId, useState } from 'react';
import styled, { css } from 'styled-components';
import type { IdeaDto } from '#common/api/ideas.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Moment } from '../../components/moment.tsx';
import { ReputationBadge } from '../../components/reputation-badge.tsx';
import { useUnvote, useVote } from '../../data/ideas/ideas.ts';
import { ideaTexts } from '../../texts/ideas.ts';
import { colour, figures, radius, space, text } from '../../theme.ts';

const { list: texts } = ideaTexts;

// Colours of the specification (section 4); any other status is grey.
const STATUS_TONES: ReadonlyMap<string, Tone> = new Map([
  ['considering', 'warn'],
  ['planned', 'info'],
  ['in-progress', 'violet'],
  ['completed', 'ok'],
]);

const Row = styled.li`
  display: grid;
  grid-template-columns: minmax(0, 1fr) auto;
  align-items: start;
  gap: ${space(2)};
  padding: ${space(2, 0)};
  border-top: 1px dashed ${colour.chalk};
  &:first-child {
    border-top: 0;
  }
`;
const Meta = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(0.5, 1)};
  font-size: ${text.s};
  color: ${colour.inkFaint};
  strong {
    min-width: 0;
    overflow-wrap: anywhere;
    color: ${colour.ink};
  }
`;
const FOLDED_LINES = 8;
const fold = css`
  display: -webkit-box;
  overflow: hidden;
  -webkit-box-orient: vertical;
  -webkit-line-clamp: ${FOLDED_LINES};
`;
const Words = styled.p<{ $folded: boolean }>`
  margin-top: ${space(0.75)};
  white-space: pre-wrap;
  overflow-wrap: anywhere;
  ${({ $folded }) => $folded && fold}
`;
/** Ideas longer than a phone screen are folded; for shorter ones a button would gain nothing. */
const isLong = (words: string): boolean => words.length > 480 || words.split('\n').length > FOLDED_LINES + 2;
const VoteButton = styled.button<{ $voted: boolean }>`
  display: grid;
  place-items: center;
  align-content: center;
  width: 68px;
  min-height: 64px;
  padding: ${space(0.5)};
  border: 1px solid ${({ $voted }) => ($voted ? colour.thread : colour.lineStrong)};
  border-radius: ${radius.s};
  background: ${({ $voted }) => ($voted ? colour.thread : 'transparent')};
  color: ${({ $voted }) => ($voted ? colour.onThread : colour.ink)};
  font-size: ${text.xs};
  b {
    ${figures}
    font-size: ${text.l};
  }
  &:hover:not(:disabled) {
    border-color: ${colour.thread};
  }
`;

/** One idea with its author, its status and the vote. */
export function IdeaCard({ idea }: { readonly idea: IdeaDto }) {
  const vote = useVote();
  const unvote = useUnvote();
  const pending = vote.isPending || unvote.isPending;
  const votes = idea.votes;
  const [open, setOpen] = useState(false);
  const wordsId = useId();
  const foldable = isLong(idea.text);
  return (
    <Row>
      <div>
        <Meta>
          <strong dir="auto">{idea.userName}</strong>
          <ReputationBadge points={idea.reputation} />
          <Moment iso={idea.createdAt} detail="date" />
          {idea.status && <Badge tone={STATUS_TONES.get(idea.status) ?? 'neutral'}>{idea.status}</Badge>}
        </Meta>
        <Words id={wordsId} dir="auto" $folded={foldable && !open}>
          {idea.text}
        </Words>
        {foldable && (
          <Button
            look="quiet"
            size="s"
            aria-expanded={open}
            aria-controls={wordsId}
            onClick={() => setOpen(!open)}
          >
            {open ? texts.fold : texts.unfold}
          </Button>
        )}
      </div>
      <VoteButton
        type="button"
        $voted={idea.votedByMe}
        aria-pressed={idea.votedByMe}
        aria-label={idea.votedByMe ? texts.voted(votes) : texts.vote(votes)}
        disabled={pending}
        onClick={() => (idea.votedByMe ? unvote : vote).mutate(idea.id)}
      >
        <b>{votes}</b>
        {idea.votedByMe ? texts.votedShort : texts.voteShort}
      </VoteButton>
    </Row>
  );
}
