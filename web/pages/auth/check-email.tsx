import { useEffect, useRef } from 'react';
import { Link } from 'react-router-dom';
import { ButtonLink } from '../../components/button.tsx';
import { Icon } from '../../components/icons.tsx';
import { useOutbox } from '../../data/account/outbox.ts';
import { authTexts } from '../../texts/auth.ts';
import { Note, SheetTitle } from './auth-form.ts';
import { ResendButton } from './resend-panel.tsx';

/** After registering: where to look, how to get the link again, and how to continue. */
export function CheckEmail({ email }: { readonly email: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { data: outbox } = useOutbox();
  useEffect(() => heading.current?.focus(), []);
  return (
    <>
      <Icon name="mail" size={36} />
      <SheetTitle ref={heading} tabIndex={-1}>
        {authTexts.checkTitle}
      </SheetTitle>
      <Note>{authTexts.checkText(email)}</Note>
      {outbox && <Link to="/mailbox">{authTexts.mailbox}</Link>}
      <ButtonLink to="/">{authTexts.toHome}</ButtonLink>
      <Note>{authTexts.checkHint}</Note>
      <ResendButton identifier={email} />
    </>
  );
}
