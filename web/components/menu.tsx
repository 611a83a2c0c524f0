import * as Dropdown from '@radix-ui/react-dropdown-menu';
import styled from 'styled-components';
import { colour, radius, space, text } from '../theme.ts';

export { Root as Menu, Trigger as MenuTrigger, Portal as MenuPortal } from '@radix-ui/react-dropdown-menu';

export const MenuContent = styled(Dropdown.Content)`
  z-index: 60;
  min-width: 220px;
  max-width: min(360px, calc(100vw - 32px));
  padding: ${space(0.75)};
  border: 1px solid ${colour.line};
  border-radius: ${radius.m};
  background: ${colour.raised};
  box-shadow: 0 12px 32px rgb(0 0 0 / 0.28);
`;

export const MenuItem = styled(Dropdown.Item)`
  display: flex;
  align-items: center;
  gap: ${space(1.25)};
  min-height: 42px;
  padding: 0 ${space(1.25)};
  border-radius: ${radius.s};
  font-size: ${text.s};
  font-weight: 500;
  text-decoration: none;
  cursor: pointer;
  &[data-highlighted] {
    background: ${colour.hover};
    outline: none;
  }
  &[data-disabled] {
    color: ${colour.inkFaint};
    cursor: not-allowed;
  }
`;

export const MenuLabel = styled(Dropdown.Label)`
  padding: ${space(1, 1.25)};
  font-size: ${text.s};
  color: ${colour.inkSoft};
`;

export const MenuLine = styled(Dropdown.Separator)`
  height: 1px;
  margin: ${space(0.75)} 0;
  background: ${colour.line};
`;
