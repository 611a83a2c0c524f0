import styled, { css } from 'styled-components';
import { Button } from '../components/button.tsx';
import { Card } from '../components/card.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { colour, space, text } from '../theme.ts';

/** The frame of the panels beside a finished video: captions, quick fixes and storyline. */
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
/** Links to files in a line of text. */
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

/** Shown when the content of a panel could not be loaded. */
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
  /** Reserved height of the content, so that nothing jumps. */
  readonly height: string;
}

/** Shown while the content loads. */
export function Reading({ children, height }: ReadingProps) {
  return (
    <div role="status">
      <p>{children}</p>
      <Skeleton $height={height} />
    </div>
  );
}
