import styled from 'styled-components';
import { eyebrow, space } from '../../theme.ts';

/** One of the two things that can be noticed, picture or sound. */
export const Part = styled.fieldset`
  display: grid;
  align-content: start;
  gap: ${space(1)};
  min-width: 0;
  margin: 0;
  padding: 0;
  border: 0;
  legend {
    ${eyebrow}
    margin-bottom: ${space(1)};
    padding: 0;
  }
`;
