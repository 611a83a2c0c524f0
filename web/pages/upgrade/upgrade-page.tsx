import styled from 'styled-components';
import { type Plan, type PlanFeature, PLANS, PLAN_SLUGS, planAllows } from '#common/plans.ts';
import { Badge } from '../../components/badge.tsx';
import { ButtonLink } from '../../components/button.tsx';
import { DataTable, TableScroll } from '../../components/data-table.tsx';
import { Icon } from '../../components/icons.tsx';
import { PageColumn, PageHeading, PageLead } from '../../components/page.tsx';
import { useSession } from '../../data/account/session.ts';
import { upgradeTexts as texts } from '../../texts/subscribe.ts';
import { colour, figures, space, text, visuallyHidden } from '../../theme.ts';

/** Fainter than the badge on it, so that the badge keeps its outline. */
const TINT = `color-mix(in srgb, ${colour.liveSoft} 50%, ${colour.raised})`;

const Table = styled(DataTable)`
  font-size: ${text.m};
  caption {
    ${visuallyHidden}
  }
  th,
  td {
    padding: ${space(1.75, 2)};
  }
  thead th {
    color: inherit;
  }
  tbody th {
    font-weight: 500;
    color: ${colour.inkSoft};
  }
  [data-plan='business'] {
    background: ${TINT};
  }
  /* On a phone each feature is a separate line above its three values, so that no plan is out of sight. */
  @media (max-width: 639.98px) {
    min-width: 0;
    &,
    thead,
    tbody {
      display: block;
    }
    tr {
      display: grid;
      grid-template-columns: repeat(3, minmax(0, 1fr));
    }
    th,
    td {
      padding: ${space(1)};
    }
    tbody tr > * {
      border-bottom: 0;
    }
    tbody tr {
      border-bottom: 1px solid ${colour.line};
    }
    tbody tr:last-child {
      border-bottom: 0;
    }
    /* Continues the column behind the names of the features, which are as wide as all three columns. */
    tbody tr {
      background: linear-gradient(90deg, transparent calc(200% / 3), ${TINT} 0);
    }
    tbody [data-plan='business'] {
      background: none;
    }
    tbody th {
      grid-column: 1 / -1;
      padding-bottom: 0;
      font-size: ${text.s};
    }
    thead td,
    thead th:first-child {
      display: none;
    }
    strong {
      font-size: ${text.m};
    }
    a {
      padding: ${space(0.75, 0.5)};
      width: 100%;
    }
    thead span {
      white-space: normal;
    }
  }
`;
const PlanHead = styled.div`
  display: grid;
  justify-items: start;
  gap: ${space(1)};
  strong {
    font-size: ${text.l};
  }
`;
const Price = styled.div`
  ${figures}
  font-weight: 500;
`;
const Hidden = styled.span`
  ${visuallyHidden}
`;

const FEATURES: readonly { readonly label: string; readonly feature: PlanFeature }[] = [
  { label: texts.rows.priority, feature: 'priority' },
  { label: texts.rows.captions, feature: 'styled_captions' },
  { label: texts.rows.tools, feature: 'ai_tools' },
  { label: texts.rows.api, feature: 'api_access' },
  { label: texts.rows.analytics, feature: 'analytics' },
];
const plans: readonly Plan[] = PLAN_SLUGS.map((slug) => PLANS[slug]);

function Mark({ yes }: { readonly yes: boolean }) {
  return (
    <>
      {yes ? <Icon name="check" /> : <span aria-hidden>–</span>}
      <Hidden>{yes ? texts.yes : texts.no}</Hidden>
    </>
  );
}

/** The three plans side by side, with Creator Pro+ highlighted; target of the upsell cards. */
export function UpgradePage() {
  const { user } = useSession();
  return (
    <PageColumn>
      <div>
        <PageHeading title={texts.title}>{texts.title}</PageHeading>
        <PageLead>{texts.lead}</PageLead>
      </div>
      <TableScroll tabIndex={0} aria-label={texts.compare}>
        <Table $minWidth={640}>
          <caption>{texts.compare}</caption>
          <thead>
            <tr>
              <th scope="col">
                <Hidden>{texts.feature}</Hidden>
              </th>
              {plans.map((plan) => (
                <th key={plan.slug} scope="col" data-plan={plan.slug}>
                  <PlanHead>
                    <strong>{plan.name}</strong>
                    <Price>
                      {plan.priceText}
                      {plan.period}
                    </Price>
                    {plan.slug === 'business' && (
                      <Badge tone="live" icon="spark">
                        {texts.recommended}
                      </Badge>
                    )}
                    {plan.popular && <Badge>{texts.popular}</Badge>}
                    {user?.plan === plan.slug ? (
                      <Badge tone="ok" icon="check">
                        {texts.current}
                      </Badge>
                    ) : (
                      <ButtonLink
                        to={`/subscribe/${plan.slug}`}
                        size="s"
                        look={plan.slug === 'business' ? 'primary' : 'secondary'}
                      >
                        {texts.choose(plan.name)}
                      </ButtonLink>
                    )}
                  </PlanHead>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <tr>
              <th scope="row">{texts.rows.videos}</th>
              {plans.map((plan) => (
                <td key={plan.slug} data-plan={plan.slug}>
                  {plan.videosPerMonth ?? texts.rows.unlimited}
                </td>
              ))}
            </tr>
            <tr>
              <th scope="row">{texts.rows.export}</th>
              {plans.map((plan) => (
                <td key={plan.slug} data-plan={plan.slug}>
                  {planAllows(plan.slug, 'export_4k') ? '4K' : '1080p'}
                </td>
              ))}
            </tr>
            <tr>
              <th scope="row">{texts.rows.drafts}</th>
              {plans.map((plan) => (
                <td key={plan.slug} data-plan={plan.slug}>
                  {texts.rows.days(plan.draftDays)}
                </td>
              ))}
            </tr>
            {FEATURES.map(({ label, feature }) => (
              <tr key={feature}>
                <th scope="row">{label}</th>
                {plans.map((plan) => (
                  <td key={plan.slug} data-plan={plan.slug}>
                    <Mark yes={planAllows(plan.slug, feature)} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </Table>
      </TableScroll>
    </PageColumn>
  );
}
