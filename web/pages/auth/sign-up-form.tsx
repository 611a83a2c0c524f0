import { zodResolver } from '@hookform/resolvers/zod';
import { useForm, useWatch } from 'react-hook-form';
import { registerForm } from '#common/api/auth.ts';
import { Button } from '../../components/button.tsx';
import { Field } from '../../components/field.tsx';
import { PasswordHint } from '../../components/password-hint.tsx';
import { useRegister } from '../../data/account/account.ts';
import { failureToast } from '../../data/failure-toast.ts';
import { useShowToast } from '../../data/toasts.ts';
import { authTexts } from '../../texts/auth.ts';
import { AuthForm } from './auth-form.ts';

interface SignUpFormProps {
  /** Gets the address that the link was mailed to, or that needs none (`isReady`). */
  readonly onRegistered: (email: string, isReady: boolean) => void;
}

/** Creates an account. */
export function SignUpForm({ onRegistered }: SignUpFormProps) {
  const registration = useRegister();
  const showToast = useShowToast();
  const { register, handleSubmit, formState, control } = useForm({
    resolver: zodResolver(registerForm),
    defaultValues: { username: '', email: '', password: '', confirmPassword: '' },
  });
  const { errors } = formState;
  const typed = useWatch({ control });
  const submit = handleSubmit(async ({ username, email, password }) => {
    try {
      const { emailVerified } = await registration.mutateAsync({ username, email, password });
      onRegistered(email, emailVerified);
    } catch (error) {
      showToast(failureToast(error, authTexts.registrationFailed, authTexts.registrationFailedDetail));
    }
  });
  return (
    <AuthForm noValidate onSubmit={(event) => void submit(event)}>
      <Field
        label={authTexts.username}
        hint={authTexts.usernameHint}
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        error={errors.username?.message}
        {...register('username')}
      />
      <Field
        label={authTexts.email}
        type="email"
        autoComplete="email"
        error={errors.email?.message}
        {...register('email')}
      />
      <Field
        label={authTexts.password}
        hint={
          <PasswordHint password={typed.password ?? ''} names={[typed.username ?? '', typed.email ?? '']} />
        }
        type="password"
        autoComplete="new-password"
        error={errors.password?.message}
        {...register('password')}
      />
      <Field
        label={authTexts.confirmPassword}
        type="password"
        autoComplete="new-password"
        error={errors.confirmPassword?.message}
        {...register('confirmPassword')}
      />
      <Button type="submit" disabled={registration.isPending}>
        {registration.isPending ? authTexts.signingUp : authTexts.signUp}
      </Button>
    </AuthForm>
  );
}
