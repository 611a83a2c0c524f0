import styled from 'styled-components';
import { Card } from '../../components/card.tsx';
import { colour, radius, space, text } from '../../theme.ts';

/** The right-hand card of a step; its fixed height avoids jumps between steps. */
export const WizardSheet = styled(Card)`
  min-height: 430px;
`;

export const WizardForm = styled.form`
  display: grid;
  gap: ${space(2.5)};
  h2 {
    font-size: ${text.xl};
  }
  h2:focus {
    outline: none;
  }
`;

export const WizardNote = styled.p`
  font-size: ${text.s};
  color: ${colour.inkSoft};
`;

export const Highlight = styled.div`
  display: grid;
  gap: ${space(1)};
  padding: ${space(2)};
  border: 1px dashed ${colour.chalk};
  border-radius: ${radius.s};
  h3 {
    font-size: ${text.l};
  }
`;

export const WizardActions = styled.div`
  display: flex;
  flex-wrap: wrap;
  justify-content: space-between;
  gap: ${space(1.5)};
`;
