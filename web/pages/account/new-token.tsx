import { useEffect, useRef, useState } from 'react';
import styled from 'styled-components';
import { Button } from '../../components/button.tsx';
import { Input } from '../../components/field.tsx';
import { accountTexts } from '../../texts/account.ts';
import { colour, figures, radius, space, text } from '../../theme.ts';
import { Ways, Words } from './settings-card.tsx';

const { tokens: texts } = accountTexts;

const Sheet = styled.div`
  display: grid;
  grid-template-columns: minmax(0, 1fr);
  gap: ${space(1.5)};
  padding: ${space(2)};
  border: 2px dashed ${colour.liveThread};
  border-radius: ${radius.s};
  background: ${colour.liveSoft};
  h3 {
    font-size: ${text.l};
  }
  h3:focus {
    outline: none;
  }
`;
const Secret = styled(Input)`
  ${figures}
  font-size: ${text.s};
`;

/** The secret of a new token, shown only once. */
export function NewToken({ secret, onDismiss }: { readonly secret: string; readonly onDismiss: () => void }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const [copy, setCopy] = useState<'not yet' | 'done' | 'refused'>('not yet');
  useEffect(() => heading.current?.focus(), []);
  const copySecret = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(secret);
      setCopy('done');
    } catch {
      field.current?.select();
      setCopy('refused');
    }
  };
  return (
    <Sheet>
      <h3 ref={heading} tabIndex={-1}>
        {texts.createdTitle}
      </h3>
      <Words>{texts.createdText}</Words>
      <Secret ref={field} readOnly value={secret} aria-label={texts.secret} autoComplete="off" />
      <Ways>
        <Button icon={copy === 'done' ? 'check' : 'report'} onClick={() => void copySecret()}>
          {copy === 'done' ? texts.copied : texts.copy}
        </Button>
        <Button look="secondary" onClick={onDismiss}>
          {texts.dismiss}
        </Button>
      </Ways>
      <div role="status">{copy === 'refused' && <Words>{texts.copyFailed}</Words>}</div>
    </Sheet>
  );
}
