import styled from 'styled-components';
import { screen } from '../theme.ts';

const Wide = styled.span`
  ${screen.belowTablet} {
    display: none;
  }
`;
const Narrow = styled.span`
  ${screen.tablet} {
    display: none;
  }
`;

/** One of two texts by screen width: on a phone, nobody drops or clicks. */
export function ByWidth({ wide, phone }: { readonly wide: string; readonly phone: string }) {
  return (
    <>
      <Wide>{wide}</Wide>
      <Narrow>{phone}</Narrow>
    </>
  );
}
