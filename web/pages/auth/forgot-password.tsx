import { useState } from 'react';
import { Link } from 'react-router-dom';
import { Button } from '../../components/button.tsx';
import { Field } from '../../components/field.tsx';
import { serverMessageOf } from '../../data/api-client.ts';
import { useForgotPassword } from '../../data/account/account.ts';
import { useOutbox } from '../../data/account/outbox.ts';
import { authTexts } from '../../texts/auth.ts';
import { AuthForm, Note, SheetTitle, WayButton } from './auth-form.ts';

/** Link to the mailbox on a server that sends no mail. */
function MailboxLink() {
  const { data: outbox } = useOutbox();
  return outbox ? <Link to="/mailbox">{authTexts.mailbox}</Link> : null;
}

/** Requests a link to choose a new password; the answer is the same whether an account exists or not. */
export function ForgotPassword({ onBack }: { readonly onBack: () => void }) {
  const forgot = useForgotPassword();
  const [email, setEmail] = useState('');
  return (
    <>
      <SheetTitle>{authTexts.forgotTitle}</SheetTitle>
      <Note role={forgot.isSuccess ? 'status' : undefined}>
        {forgot.isSuccess ? authTexts.forgotSent : authTexts.forgotText}
      </Note>
      {forgot.isSuccess && <MailboxLink />}
      {!forgot.isSuccess && (
        <AuthForm
          onSubmit={(event) => {
            event.preventDefault();
            forgot.mutate(email);
          }}
        >
          <Field
            label={authTexts.resendLabel}
            autoComplete="username"
            required
            value={email}
            onChange={(event) => setEmail(event.target.value)}
            error={forgot.isError ? (serverMessageOf(forgot.error) ?? authTexts.tryAgain) : undefined}
          />
          <Button type="submit" disabled={forgot.isPending}>
            {authTexts.forgotSend}
          </Button>
        </AuthForm>
      )}
      <WayButton type="button" onClick={onBack}>
        {authTexts.back}
      </WayButton>
    </>
  );
}
