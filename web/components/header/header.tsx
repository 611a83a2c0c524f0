import { lazy, Suspense, useState } from 'react';
import { Link, NavLink } from 'react-router-dom';
import styled from 'styled-components';
import { useSession } from '../../data/account/session.ts';
import { useThemeChoice } from '../../data/theme-choice.ts';
import { appTexts } from '../../texts/app.ts';
import { colour, radius, screen, space, text } from '../../theme.ts';
import { ButtonLink, IconButton } from '../button.tsx';
import { Logo } from '../logo.tsx';
import { Container } from '../page.tsx';
import { SocialLinks } from '../social-links.tsx';
import { ThemeToggle } from '../theme-toggle.tsx';

const { nav: texts } = appTexts;

// Visitors never need the account menu and its dropdown code.
const AccountTools = lazy(() =>
  import('./account-tools.tsx').then((module) => ({ default: module.AccountTools })),
);

const SignOutButton = lazy(() =>
  import('./sign-out-button.tsx').then((module) => ({ default: module.SignOutButton })),
);

const Face = styled.header`
  position: sticky;
  top: 0;
  z-index: 40;
  background: color-mix(in srgb, ${colour.cloth} 96%, transparent);
  backdrop-filter: blur(12px);
  border-bottom: 1px solid ${colour.line};
  @media print {
    display: none;
  }
`;
const Row = styled(Container)`
  display: flex;
  align-items: center;
  gap: ${space(2)};
  height: var(--header-height);
  & > a:first-child {
    text-decoration: none;
  }
`;
const Skip = styled.a`
  position: absolute;
  left: 16px;
  top: -60px;
  z-index: 50;
  padding: ${space(1, 2)};
  border-radius: ${radius.s};
  background: ${colour.thread};
  color: ${colour.onThread};
  &:focus {
    top: 10px;
  }
`;
const Places = styled.nav`
  flex: 1;
  ${screen.belowDesktop} {
    display: none;
  }
  ul {
    display: flex;
    gap: ${space(0.5)};
  }
`;
const placeFace = `
  display: block;
  padding: 9px 12px;
  border-radius: 6px;
  font-weight: 500;
  text-decoration: none;
`;
const Place = styled(NavLink)`
  ${placeFace}
  font-size: ${text.s};
  color: ${colour.inkSoft};
  &:hover {
    color: ${colour.ink};
    background: ${colour.hover};
  }
  &.active {
    color: ${colour.ink};
  }
`;
const Anchor = styled(Link)`
  ${placeFace}
  font-size: ${text.s};
  color: ${colour.inkSoft};
  &:hover {
    color: ${colour.ink};
    background: ${colour.hover};
  }
`;
const Desktop = styled.div`
  display: flex;
  align-items: center;
  gap: ${space(1)};
  ${screen.belowDesktop} {
    display: none;
  }
`;
const Wide = styled.div`
  ${screen.belowWide} {
    display: none;
  }
`;
const Phone = styled.div`
  display: flex;
  ${screen.desktop} {
    display: none;
  }
`;
const Tools = styled.div`
  display: flex;
  align-items: center;
  gap: ${space(1)};
  margin-left: auto;
  ${screen.belowDesktop} {
    gap: 0;
  }
`;
const Sheet = styled(Container)`
  display: grid;
  gap: ${space(2)};
  padding-block: ${space(1, 3)};
  max-height: calc(100dvh - var(--header-height));
  overflow: auto;
  ${screen.desktop} {
    display: none;
  }
  & > ul:first-child a {
    font-size: ${text.l};
    padding: 12px 0;
    border-bottom: 1px solid ${colour.line};
    border-radius: 0;
  }
`;
const Tail = styled.div`
  display: flex;
  flex-wrap: wrap;
  justify-content: space-between;
  align-items: center;
  gap: ${space(1)};
`;
/** Reserves the space of the account tools while their code loads. */
const ToolsRoom = styled.div`
  display: flex;
  justify-content: flex-end;
  align-items: center;
  min-width: 96px;
  min-height: 44px;
  ${screen.belowDesktop} {
    min-width: 44px;
  }
`;

function PlaceList({ signedIn, onGo }: { readonly signedIn: boolean; readonly onGo?: () => void }) {
  return (
    <ul>
      <li>
        <Place to="/" end onClick={onGo}>
          {texts.home}
        </Place>
      </li>
      <li>
        <Anchor to="/#upload" onClick={onGo}>
          {texts.upload}
        </Anchor>
      </li>
      <li>
        <Anchor to="/#pricing" onClick={onGo}>
          {texts.pricing}
        </Anchor>
      </li>
      {signedIn && (
        <>
          <li>
            <Place to="/videos" onClick={onGo}>
              {texts.videos}
            </Place>
          </li>
          <li>
            <Place to="/nice2have" onClick={onGo}>
              {texts.ideas}
            </Place>
          </li>
        </>
      )}
    </ul>
  );
}

/** The header of every page: navigation, account, and a collapsible menu on small screens. */
export function Header() {
  const session = useSession();
  const [theme, setTheme] = useThemeChoice();
  const [open, setOpen] = useState(false);
  const signedIn = session.status === 'signed-in';
  const close = (): void => setOpen(false);
  return (
    <Face>
      <Skip href="#main">{appTexts.skip}</Skip>
      <Row>
        <Link to="/" aria-label={appTexts.product} onClick={close}>
          <Logo />
        </Link>
        <Places aria-label={texts.main}>
          <PlaceList signedIn={signedIn} />
        </Places>
        <Tools>
          <Desktop>
            <Wide>
              <SocialLinks />
            </Wide>
            <ThemeToggle choice={theme} onChoose={setTheme} name="theme" />
          </Desktop>
          {session.user ? (
            <ToolsRoom>
              <Suspense fallback={null}>
                <AccountTools user={session.user} onOpen={close} />
              </Suspense>
            </ToolsRoom>
          ) : (
            <Desktop>
              <ToolsRoom>
                <ButtonLink to="/auth" size="s">
                  {texts.signIn}
                </ButtonLink>
              </ToolsRoom>
            </Desktop>
          )}
          <Phone>
            <IconButton
              icon={open ? 'close' : 'menu'}
              label={open ? texts.closeMenu : texts.openMenu}
              aria-expanded={open}
              aria-controls="phone-menu"
              onClick={() => setOpen(!open)}
            />
          </Phone>
        </Tools>
      </Row>
      {open && (
        <Sheet id="phone-menu" as="nav" aria-label={texts.main}>
          <PlaceList signedIn={signedIn} onGo={close} />
          {signedIn ? (
            <>
              <ButtonLink to="/account" look="secondary" icon="user" onClick={close}>
                {texts.account}
              </ButtonLink>
              <Suspense fallback={null}>
                <SignOutButton onDone={close} />
              </Suspense>
            </>
          ) : (
            <ButtonLink to="/auth" onClick={close}>
              {texts.signIn}
            </ButtonLink>
          )}
          <Tail>
            <ThemeToggle choice={theme} onChoose={setTheme} name="phone-theme" />
            <SocialLinks />
          </Tail>
        </Sheet>
      )}
    </Face>
  );
}
