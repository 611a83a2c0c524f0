import styled from 'styled-components';
import { colour, radius, space } from '../theme.ts';

/** A raised card with a hairline border. */
export const Card = styled.section`
  border: 1px solid ${colour.line};
  border-radius: ${radius.m};
  background: ${colour.raised};
  padding: ${space(3)};
  @media print {
    break-inside: avoid;
  }
`;
