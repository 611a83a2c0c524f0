import styled from 'styled-components';
import { colour, space, text } from '../../theme.ts';

/** Fields of a card, one below the other; the button keeps its own width. */
export const SettingsForm = styled.form`
  display: grid;
  grid-template-columns: minmax(0, 1fr);
  gap: ${space(2)};
  & > button {
    justify-self: start;
  }
`;

/** Why the server refused; stays until the next attempt. */
export const Problem = styled.p`
  color: ${colour.defect};
  font-size: ${text.s};
`;
