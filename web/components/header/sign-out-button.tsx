import { appTexts } from '../../texts/app.ts';
import { Button } from '../button.tsx';
import { useSignOut } from './use-sign-out.ts';

const { nav: texts } = appTexts;

/** Sign-out button of the mobile menu. */
export function SignOutButton({ onDone }: { readonly onDone: () => void }) {
  const { pending, signOut } = useSignOut();
  return (
    <Button look="secondary" disabled={pending} onClick={() => void signOut().then(onDone)}>
      {pending ? texts.signingOut : texts.signOut}
    </Button>
  );
}
