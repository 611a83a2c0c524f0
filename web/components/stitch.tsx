import styled from 'styled-components';
import { colour, stitchLine } from '../theme.ts';

/** A running stitch across the page, between sections. */
export const Stitch = styled.hr`
  width: 100%;
  margin: 0;
  border: 0;
  color: ${colour.chalk};
  ${stitchLine}
`;
