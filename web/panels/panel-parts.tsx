import styled, { css } from 'styled-components';
import { Button } from '../components/button.tsx';
import { Card } from '../components/card.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { colour, space, text } from '../theme.ts';

/** Frame of the panels beside a finished video: captions, quick fixes and storyline. */
export const Panel = styled(Card)`
  display: grid;
  align-content: start;
  gap: ${space(1.5)};
  min-width: 0;
  padding: ${space(2)};
  h3 {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: ${space(1)};
    font-size: ${text.l};
  }
`;
export const Note = styled.p`
  font-size: ${text.s};
  color: ${colour.inkSoft};
`;
export const Failure = styled.p`
  color: ${colour.defect};
`;
/** Links to files that stand in a row of text. */
export const fileLinks = css`
  a {
    display: inline-flex;
    align-items: center;
    gap: ${space(0.5)};
    min-height: 44px;
    padding: ${space(0, 0.5)};
    font-size: ${text.s};
    font-weight: 600;
  }
`;

interface UnreadProps {
  readonly children: string;
  readonly retry: string;
  readonly onRetry: () => void;
}

/** Said where what the panel shows could not be read. */
export function Unread({ children, retry, onRetry }: UnreadProps) {
  return (
    <div role="alert">
      <Failure>{children}</Failure>
      <Button look="secondary" size="s" icon="retry" onClick={onRetry}>
        {retry}
      </Button>
    </div>
  );
}

interface ReadingProps {
  readonly children: string;
  /** Room that is kept for what comes, so that nothing jumps. */
  readonly height: string;
}

/** Said while it is read. */
export function Reading({ children, height }: ReadingProps) {
  return (
    <div role="status">
      <p>{children}</p>
      <Skeleton $height={height} />
    </div>
  );
}
