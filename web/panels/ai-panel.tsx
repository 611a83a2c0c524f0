import styled from 'styled-components';
import { Card } from '../components/card.tsx';
import { colour, space, text } from '../theme.ts';

/** Frame of the panels that a plan opens: quick fixes and storyline, side by side in the editor. */
export const Panel = styled(Card)`
  display: grid;
  align-content: start;
  gap: ${space(1.5)};
  min-width: 0;
  padding: ${space(2)};
  h3 {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: ${space(1)};
    font-size: ${text.l};
  }
`;
export const Note = styled.p`
  font-size: ${text.s};
  color: ${colour.inkSoft};
`;
export const Failure = styled.p`
  color: ${colour.defect};
`;
