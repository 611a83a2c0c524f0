import { zodResolver } from '@hookform/resolvers/zod';
import { useForm, useWatch } from 'react-hook-form';
import { z } from 'zod';
import { password } from '#common/api/auth.ts';
import { Button } from '../../components/button.tsx';
import { Field } from '../../components/field.tsx';
import { PasswordHint } from '../../components/password-hint.tsx';
import { ApiError, serverMessageOf } from '../../data/api-client.ts';
import { useChangePassword } from '../../data/account/account-settings.ts';
import { useShowToast } from '../../data/toasts.ts';
import { accountTexts } from '../../texts/account.ts';
import { SettingsCard } from './settings-card.tsx';
import { Problem, SettingsForm } from './settings-form.ts';

const { password: texts } = accountTexts;
const EMPTY = { password: '', newPassword: '', confirm: '' };

const form = z
  .object({
    password: z.string().min(1, texts.currentMissing),
    newPassword: password,
    confirm: z.string().min(1, texts.missing),
  })
  .refine((values) => values.newPassword === values.confirm, { message: texts.mismatch, path: ['confirm'] });

/** Sets a new password after checking the old one; all other sessions end. */
export function PasswordForm() {
  const change = useChangePassword();
  const showToast = useShowToast();
  const { register, handleSubmit, formState, reset, setError, control } = useForm({
    resolver: zodResolver(form),
    defaultValues: EMPTY,
  });
  const { errors } = formState;
  const typed = useWatch({ control, name: 'newPassword' });
  const submit = handleSubmit(async ({ password: present, newPassword }) => {
    try {
      await change.mutateAsync({ password: present, newPassword });
      reset(EMPTY);
      showToast({ title: texts.done, description: texts.doneText });
    } catch (error) {
      if (error instanceof ApiError && error.code === 'invalid_credentials')
        setError('password', { message: texts.wrong }, { shouldFocus: true });
    }
  });
  const refused = change.isError && !errors.password;
  return (
    <SettingsCard icon="lock" title={texts.title}>
      <SettingsForm noValidate onSubmit={(event) => void submit(event)}>
        <Field
          label={texts.current}
          type="password"
          autoComplete="current-password"
          error={errors.password?.message}
          {...register('password')}
        />
        <Field
          label={texts.next}
          hint={<PasswordHint password={typed} />}
          type="password"
          autoComplete="new-password"
          error={errors.newPassword?.message}
          {...register('newPassword')}
        />
        <Field
          label={texts.confirm}
          type="password"
          autoComplete="new-password"
          error={errors.confirm?.message}
          {...register('confirm')}
        />
        {refused && (
          <Problem role="alert">
            {texts.failed}. {serverMessageOf(change.error) ?? accountTexts.tryAgain}
          </Problem>
        )}
        <Button type="submit" disabled={change.isPending}>
          {change.isPending ? texts.saving : texts.save}
        </Button>
      </SettingsForm>
    </SettingsCard>
  );
}
