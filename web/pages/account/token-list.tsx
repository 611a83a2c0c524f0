import { useState } from 'react';
import styled from 'styled-components';
import type { ApiTokenDto } from '#common/api/api-access.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Moment } from '../../components/moment.tsx';
import { useRevokeAccessToken } from '../../data/account/access-tokens.ts';
import { failureToast } from '../../data/failure-toast.ts';
import { useShowToast } from '../../data/toasts.ts';
import { accountTexts } from '../../texts/account.ts';
import { colour, figures, space, text } from '../../theme.ts';

const { tokens: texts } = accountTexts;

const Row = styled.li`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  justify-content: space-between;
  gap: ${space(1, 2)};
  padding: ${space(1.5, 0)};
  border-top: 1px dashed ${colour.chalk};
  &:first-child {
    border-top: 0;
  }
`;
const Head = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(0.5, 1)};
  strong {
    overflow-wrap: anywhere;
  }
  code {
    ${figures}
    color: ${colour.inkFaint};
    font-size: ${text.s};
  }
`;
const Dates = styled.p`
  display: flex;
  flex-wrap: wrap;
  gap: ${space(0, 2)};
  color: ${colour.inkFaint};
  font-size: ${text.s};
`;

function TokenRow({ token }: { readonly token: ApiTokenDto }) {
  const [openedAt] = useState(() => Date.now());
  const revocation = useRevokeAccessToken();
  const showToast = useShowToast();
  const revoke = async (): Promise<void> => {
    if (!window.confirm(texts.revokeConfirm(token.name))) return;
    try {
      await revocation.mutateAsync(token.id);
      showToast({ title: texts.revoked, description: token.name });
    } catch (error) {
      showToast(failureToast(error, texts.revokeFailed, accountTexts.tryAgain));
    }
  };
  const expired = token.expiresAt !== null && Date.parse(token.expiresAt) <= openedAt;
  return (
    <Row>
      <div>
        <Head>
          <strong>{token.name}</strong>
          <code>{token.hint}…</code>
          {token.scopes.map((scope) => (
            <Badge key={scope}>{texts.scopeNames[scope]}</Badge>
          ))}
          {expired && <Badge tone="defect">{texts.expired}</Badge>}
        </Head>
        <Dates>
          <span>
            {texts.made} <Moment iso={token.createdAt} detail="date" />
          </span>
          <span>
            {texts.lastUsed} {token.lastUsedAt === null ? texts.never : <Moment iso={token.lastUsedAt} />}
          </span>
          <span>
            {token.expiresAt === null ? (
              texts.noExpiry
            ) : (
              <>
                {texts.expires} <Moment iso={token.expiresAt} detail="date" />
              </>
            )}
          </span>
        </Dates>
      </div>
      <Button
        look="danger"
        size="s"
        aria-label={texts.revokeName(token.name)}
        disabled={revocation.isPending}
        onClick={() => void revoke()}
      >
        {texts.revoke}
      </Button>
    </Row>
  );
}

/** The existing tokens, each with a button to revoke it. */
export function TokenList({ tokens }: { readonly tokens: readonly ApiTokenDto[] }) {
  return (
    <ul>
      {tokens.map((token) => (
        <TokenRow key={token.id} token={token} />
      ))}
    </ul>
  );
}
