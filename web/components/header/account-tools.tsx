import { Link } from 'react-router-dom';
import styled from 'styled-components';
import type { SessionUser } from '#common/api/auth.ts';
import { PLANS } from '#common/plans.ts';
import { appTexts } from '../../texts/app.ts';
import { colour, font, screen, space, text } from '../../theme.ts';
import { Icon } from '../icons.tsx';
import { Menu, MenuContent, MenuItem, MenuLabel, MenuLine, MenuPortal, MenuTrigger } from '../menu.tsx';
import { initialsOf } from './initials.ts';
import { NotificationBell } from './notification-bell.tsx';
import { useSignOut } from './use-sign-out.ts';

const { nav: texts } = appTexts;

const Row = styled.div`
  display: flex;
  align-items: center;
  gap: ${space(0.5)};
`;
const Avatar = styled.button`
  display: grid;
  place-items: center;
  width: 40px;
  height: 40px;
  padding: 0;
  border: 2px dashed ${colour.chalk};
  border-radius: 50%;
  background: ${colour.hover};
  color: ${colour.ink};
  font-family: ${font.mono};
  font-size: ${text.s};
  font-weight: 600;
  ${screen.belowDesktop} {
    display: none;
  }
  &:hover {
    border-color: ${colour.inkSoft};
  }
`;
const Name = styled.span`
  display: block;
  font-weight: 650;
  color: ${colour.ink};
  font-size: ${text.m};
`;
const Clip = styled.span`
  display: block;
  overflow: hidden;
  text-overflow: ellipsis;
`;

interface AccountToolsProps {
  readonly user: SessionUser;
  /** Called when the notices are opened, so that the phone menu can close. */
  readonly onOpen: () => void;
}

/** The bell at every width, and the account menu, whose entries move to the phone menu on small screens. */
export function AccountTools({ user, onOpen }: AccountToolsProps) {
  const { pending, signOut } = useSignOut();
  return (
    <Row>
      <NotificationBell onOpen={onOpen} />
      <Menu modal={false}>
        <MenuTrigger asChild>
          <Avatar aria-label={texts.userMenu(user.username || user.email)}>{initialsOf(user)}</Avatar>
        </MenuTrigger>
        <MenuPortal>
          <MenuContent align="end" sideOffset={8}>
            <MenuLabel>
              <Name>{user.username}</Name>
              <Clip title={user.email}>{user.email}</Clip>
              {PLANS[user.plan].name}
            </MenuLabel>
            <MenuLine />
            <MenuItem asChild>
              <Link to="/account">
                <Icon name="user" />
                {texts.account}
              </Link>
            </MenuItem>
            <MenuItem disabled title={texts.settingsSoon}>
              <Icon name="editor" />
              {texts.settings}
            </MenuItem>
            <MenuItem
              disabled={pending}
              onSelect={(event) => {
                // The menu stays open, so that "Signing out..." can be read.
                event.preventDefault();
                void signOut();
              }}
            >
              <Icon name="arrowRight" />
              {pending ? texts.signingOut : texts.signOut}
            </MenuItem>
          </MenuContent>
        </MenuPortal>
      </Menu>
    </Row>
  );
}
