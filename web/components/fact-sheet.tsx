import styled from 'styled-components';
import { colour, figures, space, text } from '../theme.ts';
import { Card } from './card.tsx';

/** A card of named facts (`dl`): small names, tabular figures, long values wrapped instead of cut. */
export const FactSheet = styled(Card)`
  display: grid;
  align-content: start;
  gap: ${space(1.5)};
  min-width: 0;
  /* Overrides heading sizes of pages, whose other sections have larger ones. */
  && h2 {
    font-size: ${text.l};
  }
  dl {
    display: grid;
    gap: ${space(1)};
  }
  dt {
    color: ${colour.inkFaint};
    font-size: ${text.xs};
  }
  dd {
    font-size: ${text.s};
    overflow-wrap: anywhere;
  }
  code {
    ${figures}
  }
`;
