import styled from 'styled-components';
import { usePushState } from '../data/push/push-state.ts';
import { appTexts } from '../texts/app.ts';
import { colour, screen, space, text } from '../theme.ts';

const Line = styled.span`
  display: inline-flex;
  align-items: center;
  gap: ${space(1)};
  /* Fits the longest of the three texts, so that a change moves nothing. */
  min-width: 150px;
  ${screen.desktop} {
    justify-content: flex-end;
  }
  font-size: ${text.s};
  color: ${colour.inkFaint};
`;
const DOTS = { live: colour.ok, reconnecting: colour.warn, polling: colour.inkFaint } as const;
const Dot = styled.span<{ $colour: string }>`
  width: 8px;
  height: 8px;
  border-radius: 50%;
  background: ${({ $colour }) => $colour};
`;

/** Says how changes reach this page; never a spinner without words. */
export function ConnectionLine() {
  const push = usePushState();
  return (
    <Line role="status">
      <Dot $colour={DOTS[push]} data-drawn="" />
      <span>{appTexts.push[push]}</span>
    </Line>
  );
}
