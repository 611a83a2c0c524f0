import { zodResolver } from '@hookform/resolvers/zod';
import { useForm } from 'react-hook-form';
import { useNavigate } from 'react-router-dom';
import { z } from 'zod';
import type { SessionUser } from '#common/api/auth.ts';
import { Button } from '../../components/button.tsx';
import { Field } from '../../components/field.tsx';
import { serverMessageOf } from '../../data/api-client.ts';
import { useDeleteAccount } from '../../data/account/account-settings.ts';
import { useShowToast } from '../../data/toasts.ts';
import { accountTexts } from '../../texts/account.ts';
import { SettingsCard, Words } from './settings-card.tsx';
import { Problem, SettingsForm } from './settings-form.ts';

const { remove: texts } = accountTexts;

/** Deletes the account after the user name is typed, the password given, and a last question answered. */
export function DeleteForm({ user }: { readonly user: SessionUser }) {
  const name = user.username || user.email;
  const removal = useDeleteAccount();
  const showToast = useShowToast();
  const navigate = useNavigate();
  const { register, handleSubmit, formState } = useForm({
    resolver: zodResolver(
      z.object({
        typed: z.string().refine((typed) => typed.trim() === name, texts.typeMissing(name)),
        password: z.string().min(1, texts.passwordMissing),
      }),
    ),
    defaultValues: { typed: '', password: '' },
  });
  const { errors } = formState;
  const submit = handleSubmit(async ({ password }) => {
    if (!window.confirm(texts.confirm(name))) return;
    try {
      await removal.mutateAsync(password);
    } catch {
      // The form shows the error from the state of the call.
      return;
    }
    showToast({ title: texts.done, description: texts.doneText });
    await navigate('/');
  });
  return (
    <SettingsCard icon="trash" title={texts.title}>
      <Words>{texts.text}</Words>
      <SettingsForm noValidate onSubmit={(event) => void submit(event)}>
        <Field
          label={texts.type(name)}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          error={errors.typed?.message}
          {...register('typed')}
        />
        <Field
          label={texts.password}
          type="password"
          autoComplete="current-password"
          error={errors.password?.message}
          {...register('password')}
        />
        {removal.isError && (
          <Problem role="alert">
            {texts.failed}. {serverMessageOf(removal.error) ?? accountTexts.tryAgain}
          </Problem>
        )}
        <Button type="submit" look="danger" icon="trash" disabled={removal.isPending}>
          {removal.isPending ? texts.pending : texts.submit}
        </Button>
      </SettingsForm>
    </SettingsCard>
  );
}
