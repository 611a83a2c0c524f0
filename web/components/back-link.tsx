import type { ReactNode } from 'react';
import { Link } from 'react-router-dom';
import styled from 'styled-components';
import { colour, space } from '../theme.ts';
import { Icon } from './icons.tsx';

const Face = styled(Link)`
  display: inline-flex;
  align-items: center;
  gap: ${space(0.75)};
  min-height: 44px;
  color: ${colour.inkSoft};
  @media print {
    display: none;
  }
`;

/** The link to the parent page, above a page's heading. */
export function BackLink({ to, children }: { readonly to: string; readonly children: ReactNode }) {
  return (
    <Face to={to}>
      <Icon name="arrowLeft" size={18} />
      {children}
    </Face>
  );
}
