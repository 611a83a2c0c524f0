import styled, { keyframes } from 'styled-components';
import { appTexts } from '../texts/app.ts';
import { colour, space } from '../theme.ts';

const sew = keyframes`
  to { stroke-dashoffset: -40; }
`;
const Thread = styled.svg`
  path {
    fill: none;
    stroke: ${colour.liveThread};
    stroke-width: 3;
    stroke-linecap: round;
    stroke-dasharray: 12 8;
    animation: ${sew} 1s linear infinite;
  }
`;
const Screen = styled.div`
  position: fixed;
  inset: 0;
  display: grid;
  place-content: center;
  justify-items: center;
  gap: ${space(2)};
  background: ${colour.cloth};
  color: ${colour.inkSoft};
  z-index: 5;
`;

/** Indicates work of unknown length; always beside a text that names it. */
export function Spinner({ size = 24 }: { readonly size?: number }) {
  return (
    <Thread width={size * 2} height={size} viewBox="0 0 64 32" aria-hidden="true">
      <path d="M4 16h56" />
    </Thread>
  );
}

/** Shown while it is not known who is signed in, or while a page loads. */
export function FullScreenSpinner({ text = appTexts.loading }: { readonly text?: string }) {
  return (
    <Screen role="status">
      <Spinner size={32} />
      {text}
    </Screen>
  );
}

const Room = styled.div`
  min-height: 100dvh;
`;

/** The spinner in place of a page; it reserves the page's height, so that the footer stays below the fold. */
export function PageSpinner({ text = appTexts.loading }: { readonly text?: string }) {
  return (
    <Room>
      <FullScreenSpinner text={text} />
    </Room>
  );
}
