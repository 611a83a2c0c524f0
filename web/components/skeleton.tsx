import styled, { css, keyframes } from 'styled-components';
import { colour, radius } from '../theme.ts';

const breathe = keyframes`
  50% { opacity: 0.55; }
`;

/** The look of a place that waits for what is being read. */
export const waiting = css`
  background: ${colour.hover};
  animation: ${breathe} 1.6s ease-in-out infinite;
`;

/** Holds the place of something that is being read. */
export const Skeleton = styled.span<{ $width?: string; $height?: string }>`
  display: block;
  width: ${({ $width = '100%' }) => $width};
  height: ${({ $height = '1em' }) => $height};
  border-radius: ${radius.s};
  ${waiting}
`;
