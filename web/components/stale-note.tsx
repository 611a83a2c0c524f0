import type { ReactNode } from 'react';
import styled from 'styled-components';
import { colour, screen, space, text } from '../theme.ts';
import { appTexts } from '../texts/app.ts';
import { Button } from './button.tsx';
import { ByWidth } from './by-width.tsx';

const Note = styled.p`
  display: flex;
  align-items: center;
  gap: ${space(0.5)};
  font-size: ${text.s};
  /* Two lines are not taller than the button. */
  line-height: 1.2;
  text-align: end;
  color: ${colour.warn};
  ${screen.belowTablet} {
    button {
      padding: 0 ${space(0.5)};
    }
  }
`;

/** Says that a list may be out of date, with a button to reload it. */
export function StaleNote({
  children,
  onRetry,
}: {
  readonly children?: ReactNode;
  readonly onRetry: () => void;
}) {
  const { short, long, retry } = appTexts.stale;
  return (
    <Note role="status">
      {children ?? <ByWidth wide={long} phone={short} />}
      <Button size="s" look="quiet" icon="retry" onClick={onRetry}>
        {retry}
      </Button>
    </Note>
  );
}
