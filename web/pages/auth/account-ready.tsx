import { useEffect, useRef } from 'react';
import { authTexts } from '../../texts/auth.ts';
import { Note, SheetTitle } from './auth-form.ts';
import { SignInForm } from './sign-in-form.tsx';

/** After registering where no address has to be confirmed, so no mail is on its way: the account can be used at once. */
export function AccountReady({ onForgot }: { readonly onForgot: () => void }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <>
      <SheetTitle ref={heading} tabIndex={-1}>
        {authTexts.readyTitle}
      </SheetTitle>
      <Note>{authTexts.readyText}</Note>
      <SignInForm onForgot={onForgot} />
    </>
  );
}
