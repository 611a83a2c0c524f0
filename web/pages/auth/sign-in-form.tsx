import { zodResolver } from '@hookform/resolvers/zod';
import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { loginBody } from '#common/api/auth.ts';
import { Button } from '../../components/button.tsx';
import { Field } from '../../components/field.tsx';
import { serverMessageOf } from '../../data/api-client.ts';
import { useLogin } from '../../data/account/account.ts';
import { noAnswer } from '../../data/failure-toast.ts';
import { useShowToast } from '../../data/toasts.ts';
import { authTexts } from '../../texts/auth.ts';
import { AuthForm, WayButton } from './auth-form.ts';
import { ResendPanel } from './resend-panel.tsx';

/** Whether the server's message is about an unverified address (the specification matches the text). */
function isUnverified(message: string): boolean {
  return /email not verified|verification/i.test(message);
}

/** Signs in with a user name or an email. */
export function SignInForm({ onForgot }: { readonly onForgot: () => void }) {
  const login = useLogin();
  const showToast = useShowToast();
  const [unverified, setUnverified] = useState<string | null>(null);
  const { register, handleSubmit, formState } = useForm({
    resolver: zodResolver(loginBody),
    defaultValues: { username: '', password: '' },
  });
  const submit = handleSubmit(async (values) => {
    setUnverified(null);
    try {
      const { user } = await login.mutateAsync(values);
      showToast({ title: authTexts.welcome, description: authTexts.welcomeDetail(user.username) });
    } catch (error) {
      // Without an answer nobody has looked at what was typed.
      const message = serverMessageOf(error) ?? noAnswer(error) ?? authTexts.loginFailedDetail;
      if (isUnverified(message)) {
        setUnverified(values.username);
        showToast({
          title: authTexts.notVerified,
          description: authTexts.notVerifiedDetail,
          tone: 'destructive',
        });
      } else showToast({ title: authTexts.loginFailed, description: message, tone: 'destructive' });
    }
  });
  return (
    <>
      <AuthForm noValidate onSubmit={(event) => void submit(event)}>
        <Field
          label={authTexts.identifier}
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          error={formState.errors.username?.message}
          {...register('username')}
        />
        <Field
          label={authTexts.password}
          type="password"
          autoComplete="current-password"
          error={formState.errors.password?.message}
          {...register('password')}
        />
        <Button type="submit" disabled={login.isPending}>
          {login.isPending ? authTexts.signingIn : authTexts.signIn}
        </Button>
        <WayButton type="button" onClick={onForgot}>
          {authTexts.forgot}
        </WayButton>
      </AuthForm>
      {unverified !== null && <ResendPanel identifier={unverified} />}
    </>
  );
}
