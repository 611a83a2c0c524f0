import { css } from 'styled-components';

/** Class of figures that only experts ask for: on the screen they stand aside until somebody wants them, on paper they are there. */
export const EXPERT = 'expert';

/** For what holds such figures; `data-figures="on"` brings them up. */
export const expertFigures = css`
  @media screen {
    &:not([data-figures='on']) .${EXPERT} {
      display: none;
    }
  }
`;
