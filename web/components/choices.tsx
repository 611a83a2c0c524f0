import { type KeyboardEvent, useId } from 'react';
import styled from 'styled-components';
import { colour, radius, space, text, visuallyHidden } from '../theme.ts';

const Group = styled.fieldset`
  display: inline-flex;
  min-width: 0;
  margin: 0;
  padding: 3px;
  border: 1px solid ${colour.line};
  border-radius: ${radius.s};
  background: ${colour.sunken};
  legend {
    ${visuallyHidden}
  }
`;
const Option = styled.label`
  display: inline-flex;
  align-items: center;
  min-height: 32px;
  padding: 0 ${space(1.5)};
  border-radius: 4px;
  color: ${colour.inkSoft};
  font-size: ${text.s};
  font-weight: 600;
  white-space: nowrap;
  cursor: pointer;
  @media (pointer: coarse) {
    min-height: 38px;
  }
  input {
    ${visuallyHidden}
  }
  &:hover {
    color: ${colour.ink};
  }
  &:has(input:checked) {
    background: ${colour.raised};
    color: ${colour.ink};
    box-shadow: inset 0 -2px 0 ${colour.liveThread};
  }
  &:has(input:focus-visible) {
    outline: 2px solid ${colour.liveThread};
    outline-offset: 1px;
  }
`;

interface ChoicesProps<Value extends string> {
  /** The accessible name of the choice. */
  readonly label: string;
  readonly options: readonly { readonly value: Value; readonly label: string }[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

/** A choice among a few options side by side: radio buttons that look like a switch. */
export function Choices<Value extends string>({ label, options, value, onChange }: ChoicesProps<Value>) {
  const name = useId();
  const keepKeys = (event: KeyboardEvent): void => {
    // These keys operate the radio buttons, whatever shortcut they have outside.
    if (event.key === ' ' || event.key.startsWith('Arrow')) event.stopPropagation();
  };
  return (
    <Group onKeyDown={keepKeys}>
      <legend>{label}</legend>
      {options.map((option) => (
        <Option key={option.value}>
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          {option.label}
        </Option>
      ))}
    </Group>
  );
}
