import styled from 'styled-components';
import { Button } from '../../components/button.tsx';
import { Icon } from '../../components/icons.tsx';
import { useResendVerification } from '../../data/account/account.ts';
import { failureToast } from '../../data/failure-toast.ts';
import { useShowToast } from '../../data/toasts.ts';
import { authTexts } from '../../texts/auth.ts';
import { colour, radius, space } from '../../theme.ts';

const Panel = styled.div`
  display: grid;
  justify-items: start;
  gap: ${space(1.5)};
  padding: ${space(2)};
  border: 1px solid ${colour.lineStrong};
  border-radius: ${radius.s};
  background: ${colour.warnSoft};
`;
const Line = styled.p`
  display: flex;
  gap: ${space(1)};
`;

/** Requests the verification link again; the identifier is an email or a user name. */
export function ResendButton({ identifier }: { readonly identifier: string }) {
  const resend = useResendVerification();
  const showToast = useShowToast();
  const send = async (): Promise<void> => {
    try {
      await resend.mutateAsync(identifier);
      showToast({ title: authTexts.resent, description: authTexts.resentDetail });
    } catch (error) {
      showToast(failureToast(error, authTexts.resendFailed, authTexts.tryAgain));
    }
  };
  return (
    <Button look="secondary" size="s" icon="mail" disabled={resend.isPending} onClick={() => void send()}>
      {resend.isPending ? authTexts.resending : authTexts.resend}
    </Button>
  );
}

/** Shown after a login that failed because the address is not verified. */
export function ResendPanel({ identifier }: { readonly identifier: string }) {
  return (
    <Panel role="alert">
      <Line>
        <Icon name="mail" />
        {authTexts.resendPanel}
      </Line>
      <ResendButton identifier={identifier} />
    </Panel>
  );
}
