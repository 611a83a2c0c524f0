import { css } from 'styled-components';

/** Class of figures for experts: hidden on screen until requested, always printed. */
export const EXPERT = 'expert';

/** For elements that contain such figures; `data-figures="on"` shows them. */
export const expertFigures = css`
  @media screen {
    &:not([data-figures='on']) .${EXPERT} {
      display: none;
    }
  }
`;
