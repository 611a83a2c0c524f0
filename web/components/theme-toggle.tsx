import styled from 'styled-components';
import { appTexts } from '../texts/app.ts';
import { colour, radius } from '../theme.ts';
import { Icon, type IconName } from './icons.tsx';

const OPTIONS = [
  { value: 'system', icon: 'monitor' },
  { value: 'light', icon: 'sun' },
  { value: 'dark', icon: 'moon' },
] as const satisfies readonly { value: string; icon: IconName }[];

type Choice = (typeof OPTIONS)[number]['value'];

const Group = styled.fieldset`
  display: inline-flex;
  margin: 0;
  padding: 2px;
  border: 1px solid ${colour.line};
  border-radius: ${radius.s};
`;
const Option = styled.label`
  position: relative;
  display: grid;
  place-items: center;
  width: 36px;
  height: 32px;
  border-radius: 4px;
  color: ${colour.inkFaint};
  cursor: pointer;
  input {
    position: absolute;
    inset: 0;
    margin: 0;
    opacity: 0;
    cursor: pointer;
  }
  &:hover {
    color: ${colour.ink};
  }
  &:has(:checked) {
    background: ${colour.hover};
    color: ${colour.ink};
  }
  &:has(:focus-visible) {
    outline: 2px solid ${colour.liveThread};
  }
`;

interface ThemeToggleProps {
  readonly choice: Choice;
  readonly onChoose: (choice: Choice) => void;
  /** Radio groups on one page need different names. */
  readonly name: string;
}

export function ThemeToggle({ choice, onChoose, name }: ThemeToggleProps) {
  return (
    <Group aria-label={appTexts.theme.group}>
      {OPTIONS.map(({ value, icon }) => (
        <Option key={value} title={appTexts.theme[value]}>
          <input
            type="radio"
            name={name}
            aria-label={appTexts.theme[value]}
            checked={choice === value}
            onChange={() => onChoose(value)}
          />
          <Icon name={icon} size={17} />
        </Option>
      ))}
    </Group>
  );
}
