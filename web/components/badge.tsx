import type { ReactNode } from 'react';
import styled from 'styled-components';
import { colour, radius, space, text } from '../theme.ts';
import { Icon, type IconName } from './icons.tsx';

export type Tone = 'neutral' | 'live' | 'ok' | 'warn' | 'defect' | 'info' | 'violet';

const COLOURS: Record<Tone, { ink: string; ground: string }> = {
  neutral: { ink: colour.inkSoft, ground: colour.hover },
  live: { ink: colour.live, ground: colour.liveSoft },
  ok: { ink: colour.ok, ground: colour.okSoft },
  warn: { ink: colour.warn, ground: colour.warnSoft },
  defect: { ink: colour.defect, ground: colour.defectSoft },
  info: { ink: colour.info, ground: colour.infoSoft },
  violet: { ink: colour.violet, ground: colour.violetSoft },
};

const Face = styled.span<{ $tone: Tone }>`
  display: inline-flex;
  align-items: center;
  gap: ${space(0.5)};
  padding: 2px ${space(1)};
  border-radius: ${radius.s};
  background: ${({ $tone }) => COLOURS[$tone].ground};
  color: ${({ $tone }) => COLOURS[$tone].ink};
  font-size: ${text.s};
  font-weight: 600;
  line-height: 1.45;
  white-space: nowrap;
`;

interface BadgeProps {
  readonly tone?: Tone;
  readonly icon?: IconName | undefined;
  readonly children: ReactNode;
  readonly title?: string;
}

/** A state in one word; the colour only repeats it. */
export function Badge({ tone = 'neutral', icon, children, title }: BadgeProps) {
  return (
    <Face $tone={tone} title={title}>
      {icon && <Icon name={icon} size={15} />}
      {children}
    </Face>
  );
}
