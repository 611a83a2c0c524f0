import styled, { css, keyframes } from 'styled-components';
import { colour, radius } from '../theme.ts';

const breathe = keyframes`
  50% { opacity: 0.55; }
`;

/** The style of a placeholder for content that is loading. */
export const waiting = css`
  background: ${colour.hover};
  animation: ${breathe} 1.6s ease-in-out infinite;
`;

/** A placeholder for content that is loading. */
export const Skeleton = styled.span<{ $width?: string; $height?: string }>`
  display: block;
  width: ${({ $width = '100%' }) => $width};
  height: ${({ $height = '1em' }) => $height};
  border-radius: ${radius.s};
  ${waiting}
`;
