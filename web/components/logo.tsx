import styled from 'styled-components';
import { appTexts } from '../texts/app.ts';
import { colour, font, space } from '../theme.ts';

const Mark = styled.span`
  display: inline-flex;
  align-items: center;
  gap: ${space(1)};
  font-family: ${font.display};
  font-size: 1.3rem;
  font-weight: 700;
  letter-spacing: -0.03em;
  svg {
    fill: none;
    stroke-width: 2.6;
    stroke-linecap: round;
  }
`;

/** The name beside its symbol: a torn thread, mended by a cross stitch. */
export function Logo() {
  return (
    <Mark>
      <svg width="34" height="24" viewBox="0 0 34 24" aria-hidden="true">
        <path d="M1.5 12h3.5M8 12h3M23 12h3M29 12h3.5" stroke={colour.ink} />
        <path d="m12.5 7 9 10m0-10-9 10" stroke={colour.liveThread} />
      </svg>
      {appTexts.product}
    </Mark>
  );
}
