import styled from 'styled-components';
import { appTexts } from '../texts/app.ts';
import { colour, radius } from '../theme.ts';
import { Icon, type IconName } from './icons.tsx';

const { social } = appTexts.nav;

const SITES: readonly { href: string; icon: IconName; label: string }[] = [
  { href: 'https://www.tiktok.com/', icon: 'tiktok', label: social.tiktok },
  { href: 'https://www.youtube.com/', icon: 'youtube', label: social.youtube },
  { href: 'https://x.com/', icon: 'x', label: social.x },
  { href: 'https://www.instagram.com/', icon: 'instagram', label: social.instagram },
];

const List = styled.ul`
  display: flex;
  a {
    display: grid;
    place-items: center;
    width: 40px;
    height: 40px;
    border-radius: ${radius.s};
    color: ${colour.inkSoft};
  }
  a:hover {
    background: ${colour.hover};
    color: ${colour.ink};
  }
`;

export function SocialLinks() {
  return (
    <List>
      {SITES.map(({ href, icon, label }) => (
        <li key={href}>
          <a href={href} target="_blank" rel="noopener noreferrer" aria-label={label} title={label}>
            <Icon name={icon} />
          </a>
        </li>
      ))}
    </List>
  );
}
