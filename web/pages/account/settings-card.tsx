import { type ReactNode, useId } from 'react';
import styled from 'styled-components';
import { Card } from '../../components/card.tsx';
import { Icon, type IconName } from '../../components/icons.tsx';
import { colour, space, text } from '../../theme.ts';

const Face = styled(Card)`
  display: grid;
  grid-template-columns: minmax(0, 1fr);
  align-content: start;
  gap: ${space(2)};
`;
const Title = styled.h2`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(1)};
  font-size: ${text.xl};
  & > svg {
    color: ${colour.inkFaint};
  }
`;

/** Quiet explanation below a heading. */
export const Words = styled.p`
  max-width: 64ch;
  color: ${colour.inkSoft};
  font-size: ${text.s};
`;

/** Buttons and links of a card, side by side where there is room. */
export const Ways = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(1, 2)};
`;

/** Names and values in two columns. */
export const Facts = styled.dl`
  display: grid;
  grid-template-columns: minmax(0, auto) minmax(0, 1fr);
  gap: ${space(1, 3)};
  font-size: ${text.s};
  dt {
    color: ${colour.inkFaint};
  }
  dd {
    overflow-wrap: anywhere;
  }
`;

interface SettingsCardProps {
  readonly icon: IconName;
  readonly title: string;
  /** Shown beside the title, e.g. a badge. */
  readonly mark?: ReactNode;
  readonly children: ReactNode;
}

/** One named section of the account page. */
export function SettingsCard({ icon, title, mark, children }: SettingsCardProps) {
  const id = useId();
  return (
    <Face aria-labelledby={id}>
      <Title>
        <Icon name={icon} />
        <span id={id}>{title}</span>
        {mark}
      </Title>
      {children}
    </Face>
  );
}
