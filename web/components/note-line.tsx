import styled from 'styled-components';
import { space } from '../theme.ts';

/**
 * A line that is always present, with room for content that comes and goes at its end, so that nothing below it moves.
 */
export const NoteLine = styled.div<{ $minHeight?: '36px' | '44px'; $fixedStart?: boolean }>`
  display: flex;
  align-items: center;
  justify-content: space-between;
  gap: ${space(1)};
  min-height: ${({ $minHeight = '44px' }) => $minHeight};
  & > :first-child {
    ${({ $fixedStart = true }) => $fixedStart && 'flex: none;'}
  }
`;
