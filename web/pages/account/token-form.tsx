import { zodResolver } from '@hookform/resolvers/zod';
import { useId } from 'react';
import { useForm } from 'react-hook-form';
import styled from 'styled-components';
import { z } from 'zod';
import { TOKEN_SCOPES, type TokenScope, tokenScope } from '#common/api/api-access.ts';
import { Button } from '../../components/button.tsx';
import { Field } from '../../components/field.tsx';
import { SelectBox } from '../../components/select-box.tsx';
import { serverMessageOf } from '../../data/api-client.ts';
import { useCreateAccessToken } from '../../data/account/access-tokens.ts';
import { accountTexts } from '../../texts/account.ts';
import { colour, screen, space, text } from '../../theme.ts';
import { Problem, SettingsForm } from './settings-form.ts';

const { tokens: texts } = accountTexts;
/** Lifetimes of a token, days; the empty choice lasts until it is revoked. */
const LIFETIMES = [30, 90, 365] as const;
/** Maximum of characters, as the server counts them. */
const NAME_MAX = 60;
const FIRST_CHOICE: { name: string; scopes: TokenScope[]; lifetime: string } = {
  name: '',
  scopes: ['read'],
  lifetime: '90',
};

const Row = styled.div`
  display: grid;
  grid-template-columns: minmax(0, 1fr);
  gap: ${space(2)};
  ${screen.tablet} {
    grid-template-columns: minmax(0, 1fr) 200px;
  }
`;
const Choice = styled.div`
  display: grid;
  align-content: start;
  gap: ${space(0.75)};
  label {
    font-size: ${text.s};
    font-weight: 600;
  }
  select {
    width: 100%;
  }
`;
const Scopes = styled.fieldset`
  display: grid;
  gap: ${space(0.5)};
  min-width: 0;
  margin: 0;
  padding: 0;
  border: 0;
  legend {
    margin-bottom: ${space(0.75)};
    padding: 0;
    font-size: ${text.s};
    font-weight: 600;
  }
  label {
    display: flex;
    align-items: center;
    gap: ${space(1)};
    min-height: 32px;
    font-size: ${text.s};
  }
  input {
    width: 20px;
    height: 20px;
    accent-color: ${colour.thread};
  }
  small {
    color: ${colour.inkFaint};
    font-size: ${text.s};
  }
`;

const form = z.object({
  name: z.string().trim().min(1, texts.nameMissing).max(NAME_MAX),
  scopes: z.array(tokenScope).min(1, texts.scopeMissing),
  lifetime: z.string(),
});

/** Creates a token; `onMade` gets the secret, which is shown once and never again. */
export function TokenForm({ onMade }: { readonly onMade: (secret: string) => void }) {
  const id = useId();
  const creation = useCreateAccessToken();
  const { register, handleSubmit, formState, reset } = useForm({
    resolver: zodResolver(form),
    defaultValues: FIRST_CHOICE,
  });
  const { errors } = formState;
  const submit = handleSubmit(async ({ name, scopes, lifetime }) => {
    try {
      const made = await creation.mutateAsync({
        name,
        scopes,
        ...(lifetime === '' ? {} : { expiresInDays: Number(lifetime) }),
      });
      reset();
      creation.reset();
      onMade(made.token);
    } catch {
      // The form shows the error from the state of the call.
    }
  });
  return (
    <SettingsForm noValidate onSubmit={(event) => void submit(event)}>
      <Row>
        <Field
          label={texts.name}
          placeholder={texts.namePlaceholder}
          autoComplete="off"
          maxLength={NAME_MAX}
          error={errors.name?.message}
          {...register('name')}
        />
        <Choice>
          <label htmlFor={`${id}-lifetime`}>{texts.expiry}</label>
          <SelectBox $heightPx={48} id={`${id}-lifetime`} {...register('lifetime')}>
            {LIFETIMES.map((days) => (
              <option key={days} value={String(days)}>
                {texts.days(days)}
              </option>
            ))}
            <option value="">{texts.noExpiry}</option>
          </SelectBox>
        </Choice>
      </Row>
      <Scopes aria-describedby={errors.scopes ? `${id}-scopes` : undefined}>
        <legend>{texts.scopes}</legend>
        {TOKEN_SCOPES.map((scope) => (
          <label key={scope}>
            <input type="checkbox" value={scope} {...register('scopes')} />
            <span>
              {texts.scopeNames[scope]} <small>{texts.scopeTexts[scope]}</small>
            </span>
          </label>
        ))}
        {errors.scopes && (
          <Problem id={`${id}-scopes`} role="alert">
            {errors.scopes.message}
          </Problem>
        )}
      </Scopes>
      {creation.isError && (
        <Problem role="alert">
          {texts.createFailed}. {serverMessageOf(creation.error) ?? accountTexts.tryAgain}
        </Problem>
      )}
      <Button type="submit" disabled={creation.isPending}>
        {creation.isPending ? texts.creating : texts.create}
      </Button>
    </SettingsForm>
  );
}
