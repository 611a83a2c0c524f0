import { useState } from 'react';
import { apiDocsPath } from '#common/api/api-access.ts';
import { planAllows, type PlanSlug } from '#common/plans.ts';
import { Badge } from '../../components/badge.tsx';
import { Button, ButtonLink } from '../../components/button.tsx';
import { useAccessTokens } from '../../data/account/access-tokens.ts';
import { accountTexts } from '../../texts/account.ts';
import { NewToken } from './new-token.tsx';
import { SettingsCard, Ways, Words } from './settings-card.tsx';
import { TokenForm } from './token-form.tsx';
import { TokenList } from './token-list.tsx';

const { tokens: texts } = accountTexts;

/**
 * Access tokens of the account. Plans without the API see which plan they need; tokens from an earlier plan can still
 * be revoked.
 */
export function AccessTokens({ plan }: { readonly plan: PlanSlug }) {
  const allowed = planAllows(plan, 'api_access');
  const { data, isError, isPending, refetch } = useAccessTokens();
  const [secret, setSecret] = useState<string | null>(null);
  const held = data ?? [];
  return (
    <SettingsCard
      icon="shield"
      title={texts.title}
      mark={allowed ? null : <Badge icon="lock">{texts.needs}</Badge>}
    >
      <Words>
        {texts.text} <a href={apiDocsPath}>{texts.docs}</a>
      </Words>
      {!allowed && (
        <>
          <Words>{held.length > 0 ? `${texts.locked} ${texts.lockedHeld}` : texts.locked}</Words>
          <Ways>
            <ButtonLink to="/upgrade" look="secondary">
              {texts.compare}
            </ButtonLink>
          </Ways>
        </>
      )}
      {secret !== null && <NewToken secret={secret} onDismiss={() => setSecret(null)} />}
      {isPending && allowed && <Words role="status">{texts.loading}</Words>}
      {isError && (
        <Ways role="status">
          <Words>{texts.loadFailed}</Words>
          <Button look="secondary" size="s" icon="retry" onClick={() => void refetch()}>
            {accountTexts.retry}
          </Button>
        </Ways>
      )}
      {allowed && data?.length === 0 && <Words>{texts.none}</Words>}
      {held.length > 0 && <TokenList tokens={held} />}
      {allowed && <TokenForm onMade={setSecret} />}
    </SettingsCard>
  );
}
