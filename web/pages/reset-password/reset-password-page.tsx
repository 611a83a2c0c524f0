import { zodResolver } from '@hookform/resolvers/zod';
import { useForm, useWatch } from 'react-hook-form';
import { useSearchParams } from 'react-router-dom';
import styled from 'styled-components';
import { z } from 'zod';
import { password } from '#common/api/auth.ts';
import { Button, ButtonLink } from '../../components/button.tsx';
import { Field } from '../../components/field.tsx';
import { PasswordHint } from '../../components/password-hint.tsx';
import { PageColumn, PageHeading } from '../../components/page.tsx';
import { serverMessageOf } from '../../data/api-client.ts';
import { useResetPassword } from '../../data/account/account.ts';
import { authTexts } from '../../texts/auth.ts';
import { colour, space } from '../../theme.ts';

const { reset: texts } = authTexts;

const Column = styled(PageColumn)`
  max-width: 520px;
`;
const Form = styled.form`
  display: grid;
  gap: ${space(2.5)};
`;
const Problem = styled.p`
  color: ${colour.defect};
`;

/** Sets a new password with the token of a mailed link. */
export function ResetPasswordPage() {
  const [search] = useSearchParams();
  const token = search.get('token') ?? '';
  const reset = useResetPassword();
  const { register, handleSubmit, formState, control } = useForm({
    resolver: zodResolver(z.object({ password })),
    defaultValues: { password: '' },
  });
  const typed = useWatch({ control, name: 'password' });
  if (reset.isSuccess)
    return (
      <Column>
        <PageHeading title={texts.doneTitle} key="done">
          {texts.doneTitle}
        </PageHeading>
        <p role="status">{texts.doneText}</p>
        <ButtonLink to="/auth">{texts.toSignIn}</ButtonLink>
      </Column>
    );
  return (
    <Column>
      <PageHeading title={texts.title} key="form">
        {texts.title}
      </PageHeading>
      {token === '' ? (
        <Problem role="alert">{texts.noToken}</Problem>
      ) : (
        <Form
          noValidate
          onSubmit={(event) =>
            void handleSubmit((values) => reset.mutate({ token, password: values.password }))(event)
          }
        >
          <Field
            label={texts.password}
            hint={<PasswordHint password={typed} />}
            type="password"
            autoComplete="new-password"
            error={formState.errors.password?.message}
            {...register('password')}
          />
          {reset.isError && <Problem role="alert">{serverMessageOf(reset.error) ?? texts.failed}</Problem>}
          <Button type="submit" disabled={reset.isPending}>
            {reset.isPending ? texts.saving : texts.save}
          </Button>
        </Form>
      )}
    </Column>
  );
}
