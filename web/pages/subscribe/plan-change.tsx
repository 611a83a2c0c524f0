import styled from 'styled-components';
import type { SessionUser } from '#common/api/auth.ts';
import { type Plan, planAllows, PLANS } from '#common/plans.ts';
import { Moment } from '../../components/moment.tsx';
import { useStats } from '../../data/videos/stats.ts';
import { subscribeTexts } from '../../texts/subscribe.ts';
import { colour, radius, space, text } from '../../theme.ts';

const { change: texts } = subscribeTexts;

const Box = styled.section`
  display: grid;
  gap: ${space(1)};
  padding: ${space(2)};
  border-radius: ${radius.s};
  background: ${colour.warnSoft};
  h3 {
    font-size: ${text.m};
  }
  ul {
    display: grid;
    gap: ${space(0.5)};
    padding-left: 1.2em;
    list-style: disc;
    font-size: ${text.s};
  }
`;

/** What stays and what ends when a user takes a smaller plan; nothing if the current plan has no more. */
export function PlanChange({ plan, user }: { readonly plan: Plan; readonly user: SessionUser }) {
  const from = PLANS[user.plan];
  const { data } = useStats();
  const lost = from.allows.filter((feature) => !planAllows(plan.slug, feature));
  if (from.slug === plan.slug || lost.length === 0) return null;
  const used = data?.quota?.used;
  return (
    <Box aria-label={texts.title(from.name)}>
      <h3>{texts.title(from.name)}</h3>
      <ul>
        <li>{texts.stays}</li>
        {plan.draftDays < from.draftDays && <li>{texts.drafts(plan.draftDays, from.draftDays)}</li>}
        {plan.videosPerMonth !== null && used !== undefined && (
          <li>{texts.videos(plan.videosPerMonth, used)}</li>
        )}
        {lost.map((feature) => (
          <li key={feature}>{texts.lost[feature]}</li>
        ))}
        {user.trialEndsAt !== null && (
          <li>
            {texts.trial(from.name)} <Moment iso={user.trialEndsAt} />.
          </li>
        )}
      </ul>
    </Box>
  );
}
