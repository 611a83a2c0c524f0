import { type FormEvent, useState } from 'react';
import styled from 'styled-components';
import { FILE_NAME_MAX } from '#common/limits.ts';
import { IconButton } from '../../components/button.tsx';
import { Input } from '../../components/field.tsx';
import { videoTexts } from '../../texts/videos.ts';
import { space } from '../../theme.ts';

const { card: texts } = videoTexts;

const Form = styled.form`
  display: flex;
  align-items: center;
  gap: ${space(0.5)};
  input {
    min-height: 40px;
  }
`;

interface RenameFormProps {
  readonly name: string;
  readonly onSave: (name: string) => void;
  readonly onCancel: () => void;
}

/** Inline renaming: Enter saves, Escape cancels; a name that is empty after trimming is not sent. */
export function RenameForm({ name, onSave, onCancel }: RenameFormProps) {
  const [value, setValue] = useState(name);
  const save = (event: FormEvent): void => {
    event.preventDefault();
    const trimmed = value.trim();
    if (trimmed === '') return;
    if (trimmed === name) onCancel();
    else onSave(trimmed);
  };
  return (
    <Form onSubmit={save}>
      <Input
        // The user has just asked to type here.
        // oxlint-disable-next-line jsx-a11y/no-autofocus
        autoFocus
        value={value}
        maxLength={FILE_NAME_MAX}
        aria-label={texts.renameLabel}
        onChange={(event) => setValue(event.target.value)}
        onFocus={(event) => event.target.select()}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onCancel();
        }}
      />
      <IconButton type="submit" icon="check" label={texts.save} />
      <IconButton icon="close" label={texts.cancel} onClick={onCancel} />
    </Form>
  );
}
