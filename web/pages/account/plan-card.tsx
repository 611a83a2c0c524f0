import type { SessionUser } from '#common/api/auth.ts';
import { planAllows, PLANS } from '#common/plans.ts';
import { Badge } from '../../components/badge.tsx';
import { ButtonLink } from '../../components/button.tsx';
import { Moment } from '../../components/moment.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { useStats } from '../../data/videos/stats.ts';
import { accountTexts } from '../../texts/account.ts';
import { Facts, SettingsCard, Ways, Words } from './settings-card.tsx';

const { plan: texts } = accountTexts;

/** Placeholder for one line of text. */
function Line() {
  return <Skeleton $width="12ch" $height="1.5em" />;
}

/** The plan, its trial and what is left of the month. */
export function PlanCard({ user }: { readonly user: SessionUser }) {
  const { data } = useStats();
  const plan = PLANS[user.plan];
  return (
    <SettingsCard icon="spark" title={texts.title} mark={<Badge tone="live">{plan.name}</Badge>}>
      <Words>{plan.description}</Words>
      <Words>{user.trialEndsAt === null ? texts.noTrial : texts.trialEnd}</Words>
      <Facts>
        {user.trialEndsAt !== null && (
          <>
            <dt>{texts.trialUntil}</dt>
            <dd>
              <Moment iso={user.trialEndsAt} />
            </dd>
          </>
        )}
        {/* The rows are present before their figures, so that nothing below moves. */}
        <dt>{texts.videos}</dt>
        <dd>{data?.quota ? texts.used(data.quota.used, data.quota.limit) : <Line />}</dd>
        <dt>{texts.resets}</dt>
        <dd>{data?.quota ? <Moment iso={data.quota.resetsAt} /> : <Line />}</dd>
      </Facts>
      <Ways>
        <ButtonLink to="/upgrade" look="secondary">
          {texts.change}
        </ButtonLink>
        <ButtonLink
          to="/analytics"
          look="quiet"
          icon={planAllows(user.plan, 'analytics') ? 'report' : 'lock'}
        >
          {texts.analytics}
        </ButtonLink>
      </Ways>
    </SettingsCard>
  );
}
