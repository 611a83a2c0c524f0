import { type InputHTMLAttributes, type ReactNode, useId, useState } from 'react';
import styled from 'styled-components';
import { formTexts } from '../texts/forms.ts';
import { colour, radius, space, text } from '../theme.ts';
import { IconButton } from './button.tsx';
import { Icon } from './icons.tsx';

const Wrap = styled.div`
  display: grid;
  gap: ${space(0.75)};
`;
const Label = styled.label`
  font-size: ${text.s};
  font-weight: 600;
`;
const Box = styled.div`
  position: relative;
  & > button {
    position: absolute;
    right: 4px;
    top: 4px;
  }
`;
export const Input = styled.input`
  width: 100%;
  min-height: 48px;
  padding: 0 ${space(1.5)};
  border: 1px solid ${colour.lineStrong};
  border-radius: ${radius.s};
  background: ${colour.cloth};
  color: ${colour.ink};
  &::placeholder {
    color: ${colour.inkFaint};
  }
  &[aria-invalid='true'] {
    border-color: ${colour.defect};
  }
  &[data-with-button] {
    padding-right: 52px;
  }
`;
const Hint = styled.p`
  font-size: ${text.s};
  color: ${colour.inkFaint};
`;
const Problem = styled.p`
  display: flex;
  gap: ${space(0.75)};
  font-size: ${text.s};
  color: ${colour.defect};
  & > svg {
    margin-top: 1px;
  }
`;

interface FieldProps extends InputHTMLAttributes<HTMLInputElement> {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly ref?: React.Ref<HTMLInputElement>;
}

/** A labelled input linked to its hint and error; passwords can be made visible. */
export function Field({ label, hint, error, type = 'text', id, ...rest }: FieldProps) {
  const ownId = useId();
  const fieldId = id ?? ownId;
  const [visible, setVisible] = useState(false);
  const secret = type === 'password';
  const described = [hint ? `${fieldId}-hint` : '', error ? `${fieldId}-error` : ''].join(' ').trim();
  return (
    <Wrap>
      <Label htmlFor={fieldId}>{label}</Label>
      <Box>
        <Input
          id={fieldId}
          type={secret && visible ? 'text' : type}
          aria-invalid={error ? true : undefined}
          aria-describedby={described || undefined}
          data-with-button={secret || undefined}
          {...rest}
        />
        {secret && (
          <IconButton
            icon={visible ? 'lock' : 'eye'}
            label={visible ? formTexts.hidePassword : formTexts.showPassword}
            aria-pressed={visible}
            onClick={() => setVisible(!visible)}
          />
        )}
      </Box>
      {hint && <Hint id={`${fieldId}-hint`}>{hint}</Hint>}
      {error && (
        <Problem id={`${fieldId}-error`} role="alert">
          <Icon name="alert" size={17} />
          {error}
        </Problem>
      )}
    </Wrap>
  );
}
