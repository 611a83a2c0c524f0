import type { ButtonHTMLAttributes, ReactNode } from 'react';
import { Link, type LinkProps } from 'react-router-dom';
import styled, { css } from 'styled-components';
import { colour, radius, space, text, visuallyHidden } from '../theme.ts';
import { Icon, type IconName } from './icons.tsx';

type Look = 'primary' | 'secondary' | 'quiet' | 'danger';
type Size = 's' | 'm' | 'l';

interface Styling {
  readonly $look: Look;
  readonly $size: Size;
}

const LOOKS: Record<Look, ReturnType<typeof css>> = {
  primary: css`
    background: ${colour.thread};
    color: ${colour.onThread};
    &:hover:not(:disabled) {
      background: ${colour.threadHover};
    }
  `,
  secondary: css`
    background: transparent;
    color: ${colour.ink};
    border-color: ${colour.lineStrong};
    &:hover:not(:disabled) {
      background: ${colour.hover};
    }
  `,
  quiet: css`
    background: transparent;
    color: ${colour.inkSoft};
    &:hover:not(:disabled) {
      background: ${colour.hover};
      color: ${colour.ink};
    }
  `,
  danger: css`
    background: transparent;
    color: ${colour.defect};
    border-color: currentColor;
    &:hover:not(:disabled) {
      background: ${colour.defectSoft};
    }
  `,
};

const SIZES: Record<Size, ReturnType<typeof css>> = {
  s: css`
    min-height: 36px;
    padding: 0 ${space(1.5)};
    font-size: ${text.s};
  `,
  m: css`
    min-height: 44px;
    padding: 0 ${space(2.5)};
    font-size: ${text.m};
  `,
  l: css`
    min-height: 52px;
    padding: 0 ${space(3.5)};
    font-size: ${text.l};
  `,
};

const face = css<Styling>`
  display: inline-flex;
  align-items: center;
  justify-content: center;
  gap: ${space(1)};
  border: 1px solid transparent;
  border-radius: ${radius.s};
  font-family: inherit;
  font-weight: 600;
  line-height: 1.2;
  text-align: center;
  text-decoration: none;
  transition:
    background-color 0.15s var(--ease),
    color 0.15s var(--ease);
  ${({ $size }) => SIZES[$size]}
  ${({ $look }) => LOOKS[$look]}
  &:disabled,
  &[aria-disabled='true'] {
    opacity: 0.55;
    cursor: not-allowed;
  }
`;

const Face = styled.button<Styling>`
  ${face}
`;
const LinkFace = styled(Link)<Styling>`
  ${face}
`;

interface Common {
  readonly look?: Look;
  readonly size?: Size;
  readonly icon?: IconName;
  readonly children: ReactNode;
}

export function Button({
  look = 'primary',
  size = 'm',
  icon,
  children,
  type = 'button',
  ...rest
}: Common & ButtonHTMLAttributes<HTMLButtonElement> & { readonly ref?: React.Ref<HTMLButtonElement> }) {
  return (
    <Face $look={look} $size={size} type={type} {...rest}>
      {icon && <Icon name={icon} />}
      {children}
    </Face>
  );
}

/** A link that looks like a button; for navigation, not for actions. */
export function ButtonLink({ look = 'primary', size = 'm', icon, children, ...rest }: Common & LinkProps) {
  return (
    <LinkFace $look={look} $size={size} {...rest}>
      {icon && <Icon name={icon} />}
      {children}
    </LinkFace>
  );
}

const Round = styled.button<{ $tone: 'plain' | 'danger' }>`
  display: inline-grid;
  place-items: center;
  width: 40px;
  height: 40px;
  flex: none;
  padding: 0;
  border: 0;
  border-radius: ${radius.s};
  background: transparent;
  color: ${colour.inkSoft};
  @media (pointer: coarse) {
    width: 44px;
    height: 44px;
  }
  &:hover:not(:disabled) {
    background: ${colour.hover};
    color: ${({ $tone }) => ($tone === 'danger' ? colour.defect : colour.ink)};
  }
  &:disabled {
    opacity: 0.4;
  }
  & > span {
    ${visuallyHidden}
  }
`;

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly icon: IconName;
  /** The accessible name, also shown as a tooltip. */
  readonly label: string;
  readonly tone?: 'plain' | 'danger';
  readonly ref?: React.Ref<HTMLButtonElement>;
}

export function IconButton({ icon, label, tone = 'plain', title, ...rest }: IconButtonProps) {
  return (
    <Round type="button" $tone={tone} title={title ?? label} {...rest}>
      <Icon name={icon} />
      <span>{label}</span>
    </Round>
  );
}
