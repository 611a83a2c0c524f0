import { useState } from 'react';
import { Link } from 'react-router-dom';
import styled from 'styled-components';
import { useNotifications } from '../../data/notifications.ts';
import { appTexts } from '../../texts/app.ts';
import { colour, figures, radius, space, text } from '../../theme.ts';
import { IconButton } from '../button.tsx';
import { Icon } from '../icons.tsx';
import { Menu, MenuContent, MenuItem, MenuLabel, MenuLine, MenuPortal, MenuTrigger } from '../menu.tsx';
import { Moment } from '../moment.tsx';

const { bell: texts } = appTexts;

const Wrap = styled.div`
  position: relative;
`;
const Count = styled.span`
  ${figures}
  position: absolute;
  top: 2px;
  right: 0;
  min-width: 18px;
  padding: 0 4px;
  border-radius: ${radius.s};
  background: ${colour.liveThread};
  color: #0c0f1f;
  font-size: 11px;
  font-weight: 700;
  line-height: 18px;
  text-align: center;
  pointer-events: none;
`;
const Words = styled.span`
  display: grid;
  padding-block: ${space(1)};
  min-width: 0;
  small {
    color: ${colour.inkFaint};
    font-size: ${text.xs};
  }
`;
const Sign = styled.span<{ $failed: boolean }>`
  color: ${({ $failed }) => ($failed ? colour.defect : colour.ok)};
`;

/** Finished and failed repairs; opening the list marks them as read. */
export function NotificationBell({ userId }: { readonly userId: string }) {
  const { entries, unread, markRead } = useNotifications(userId);
  const [open, setOpen] = useState(false);
  const toggle = (next: boolean): void => {
    setOpen(next);
    if (!next) markRead();
  };
  return (
    <Wrap>
      <Menu open={open} onOpenChange={toggle} modal={false}>
        <MenuTrigger asChild>
          <IconButton icon="bell" label={texts.label(unread)} />
        </MenuTrigger>
        <MenuPortal>
          <MenuContent align="end" sideOffset={8}>
            <MenuLabel>{entries.length === 0 ? texts.empty : texts.title}</MenuLabel>
            {entries.map((entry) => (
              <MenuItem key={entry.key} asChild>
                <Link to="/videos">
                  <Sign $failed={entry.failed}>
                    <Icon name={entry.failed ? 'alert' : 'check'} />
                  </Sign>
                  <Words>
                    {entry.text}
                    <small>
                      <Moment iso={entry.at} />
                    </small>
                  </Words>
                </Link>
              </MenuItem>
            ))}
            {entries.length > 0 && (
              <>
                <MenuLine />
                <MenuItem asChild>
                  <Link to="/videos">{texts.all}</Link>
                </MenuItem>
              </>
            )}
          </MenuContent>
        </MenuPortal>
      </Menu>
      {unread > 0 && <Count aria-hidden="true">{unread > 9 ? '9+' : unread}</Count>}
    </Wrap>
  );
}
