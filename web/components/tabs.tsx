import * as Radix from '@radix-ui/react-tabs';
import styled from 'styled-components';
import { colour, space, text } from '../theme.ts';

export { Root as Tabs, Content as TabPanel } from '@radix-ui/react-tabs';

export const TabList = styled(Radix.List)`
  display: flex;
  border-bottom: 1px solid ${colour.line};
`;

export const Tab = styled(Radix.Trigger)`
  flex: 1;
  min-height: 48px;
  padding: 0 ${space(2)};
  border: 0;
  background: none;
  color: ${colour.inkSoft};
  font-size: ${text.m};
  font-weight: 600;
  &:hover {
    color: ${colour.ink};
  }
  &[data-state='active'] {
    color: ${colour.ink};
    /* The selected tab is underlined by a short running stitch. */
    background: repeating-linear-gradient(90deg, ${colour.liveThread} 0 12px, transparent 12px 18px) bottom /
      100% 3px no-repeat;
  }
`;
