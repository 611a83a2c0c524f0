import { useState } from 'react';
import { Link } from 'react-router-dom';
import styled from 'styled-components';
import type { NotificationDto } from '#common/api/notifications.ts';
import { useMarkNotificationsRead, useNotifications } from '../../data/account/notifications.ts';
import { appTexts } from '../../texts/app.ts';
import { colour, figures, radius, space, text, visuallyHidden } from '../../theme.ts';
import { IconButton } from '../button.tsx';
import { Icon, type IconName } from '../icons.tsx';
import { Menu, MenuContent, MenuItem, MenuLabel, MenuPortal, MenuTrigger } from '../menu.tsx';
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
const Sheet = styled(MenuContent)`
  width: 340px;
  max-height: min(70vh, 520px);
  overflow: auto;
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
const Fresh = styled.span`
  align-self: start;
  margin: ${space(1.75)} 0 0 auto;
  flex: none;
  width: 8px;
  height: 8px;
  border-radius: 50%;
  background: ${colour.liveThread};
  span {
    ${visuallyHidden}
  }
`;
const Sign = styled.span<{ $colour: string }>`
  flex: none;
  align-self: start;
  margin-top: ${space(1)};
  color: ${({ $colour }) => $colour};
`;

const SIGNS: Record<NotificationDto['kind'], { icon: IconName; colour: string }> = {
  video_ready: { icon: 'check', colour: colour.ok },
  video_failed: { icon: 'alert', colour: colour.defect },
  idea_status: { icon: 'spark', colour: colour.info },
  draft_expiry: { icon: 'clock', colour: colour.warn },
  draft_damaged: { icon: 'alert', colour: colour.defect },
  trial: { icon: 'clock', colour: colour.warn },
};

function Notice({ notice }: { readonly notice: NotificationDto }) {
  const { icon, colour: tint } = SIGNS[notice.kind];
  return (
    <>
      <Sign $colour={tint}>
        <Icon name={icon} />
      </Sign>
      <Words>
        <strong>{notice.title}</strong>
        {notice.body}
        <small>
          <Moment iso={notice.createdAt} />
        </small>
      </Words>
      {!notice.read && (
        <Fresh>
          <span>{texts.unread}</span>
        </Fresh>
      )}
    </>
  );
}

/** Lists what happened meanwhile; closing the list marks everything as read. */
export function NotificationBell({ onOpen }: { readonly onOpen: () => void }) {
  const { data } = useNotifications();
  const markRead = useMarkNotificationsRead();
  const [open, setOpen] = useState(false);
  const notices = data?.notifications ?? [];
  const unread = data?.unread ?? 0;
  const toggle = (next: boolean): void => {
    setOpen(next);
    if (next) onOpen();
    if (!next && unread > 0) markRead.mutate();
  };
  return (
    <Wrap>
      <Menu open={open} onOpenChange={toggle} modal={false}>
        <MenuTrigger asChild>
          <IconButton icon="bell" label={texts.label(unread)} />
        </MenuTrigger>
        <MenuPortal>
          <Sheet align="end" sideOffset={8}>
            <MenuLabel>{notices.length === 0 ? texts.empty : texts.title}</MenuLabel>
            {notices.map((notice) => (
              <MenuItem key={notice.id} asChild={notice.link !== null}>
                {notice.link === null ? (
                  <Notice notice={notice} />
                ) : (
                  <Link to={notice.link}>
                    <Notice notice={notice} />
                  </Link>
                )}
              </MenuItem>
            ))}
          </Sheet>
        </MenuPortal>
      </Menu>
      {unread > 0 && <Count aria-hidden="true">{unread > 9 ? '9+' : unread}</Count>}
    </Wrap>
  );
}
