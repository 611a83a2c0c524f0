import styled from 'styled-components';
import { type AnalyticsBody, analyticsCsvPath } from '#common/api/analytics.ts';
import { formatBytes } from '#common/format.ts';
import { planAllows } from '#common/plans.ts';
import { NoteLine } from '../../components/note-line.tsx';
import { StaleNote } from '../../components/stale-note.tsx';
import { BackLink } from '../../components/back-link.tsx';
import { Button, ButtonLink } from '../../components/button.tsx';
import { PageColumn, PageHeading, PageLead } from '../../components/page.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { useAnalytics } from '../../data/analytics.ts';
import { useSession } from '../../data/account/session.ts';
import { analyticsTexts as texts } from '../../texts/analytics.ts';
import { colour, figures, radius, screen, space, text } from '../../theme.ts';
import { Charts } from './charts.tsx';
import { formatMinutes } from './figures.ts';
import { MonthTable } from './month-table.tsx';
import { UpsellCard } from './upsell-card.tsx';

const Head = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: end;
  justify-content: space-between;
  gap: ${space(2)};
`;
const Totals = styled.dl`
  display: grid;
  grid-template-columns: repeat(2, minmax(0, 1fr));
  gap: ${space(1.5)};
  ${screen.desktop} {
    grid-template-columns: repeat(5, minmax(0, 1fr));
  }
  div {
    display: flex;
    flex-direction: column-reverse;
    justify-content: flex-end;
    padding: ${space(2)};
    border: 1px solid ${colour.line};
    border-radius: ${radius.m};
    background: ${colour.raised};
  }
  dt {
    color: ${colour.inkSoft};
    font-size: ${text.s};
  }
  dd {
    ${figures}
    font-size: ${text.xl};
    font-weight: 600;
  }
`;
const Notice = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(1)};
  color: ${colour.warn};
`;
const Quiet = styled.p`
  color: ${colour.inkSoft};
`;

function Figures({ body }: { readonly body: AnalyticsBody }) {
  const { totals, months } = body;
  const cells: readonly (readonly [string, string])[] = [
    [texts.totals.videos, String(totals.videos)],
    [texts.totals.fixed, String(totals.issuesFixed)],
    [texts.totals.minutes, formatMinutes(totals.minutesMended)],
    [texts.totals.saved, formatMinutes(totals.minutesSaved)],
    [texts.totals.stored, formatBytes(totals.storedBytes)],
  ];
  return (
    <>
      <Totals aria-label={texts.totals.label}>
        {cells.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </Totals>
      {totals.videos === 0 && <Quiet>{texts.empty}</Quiet>}
      <Charts body={body} />
      <MonthTable months={months} totals={totals} />
    </>
  );
}

function Dashboard() {
  const { data, isError, isPending, refetch } = useAnalytics();
  return (
    <>
      {isError && !data && (
        <Notice role="status">
          {texts.failed}
          <Button look="secondary" size="s" icon="retry" onClick={() => void refetch()}>
            {texts.retry}
          </Button>
        </Notice>
      )}
      {isPending && (
        <div role="status">
          <p>{texts.loading}</p>
          <Skeleton $height="240px" />
        </div>
      )}
      {data && <Figures body={data} />}
    </>
  );
}

function Stale() {
  const { data, isError, refetch } = useAnalytics();
  return isError && data ? <StaleNote onRetry={() => void refetch()} /> : null;
}

/** Analytics of Creator Pro+: figures, charts, table and CSV; an invitation on the other plans. */
export function AnalyticsPage() {
  const { user } = useSession();
  const allowed = user !== null && planAllows(user.plan, 'analytics');
  return (
    <PageColumn>
      <div>
        <NoteLine>
          <BackLink to="/account">{texts.back}</BackLink>
          {allowed && <Stale />}
        </NoteLine>
        <Head>
          <div>
            <PageHeading title={texts.title}>{texts.title}</PageHeading>
            <PageLead>{texts.lead}</PageLead>
          </div>
          {allowed && (
            <ButtonLink to={analyticsCsvPath} reloadDocument download look="secondary" icon="download">
              {texts.csv}
            </ButtonLink>
          )}
        </Head>
      </div>
      {allowed ? <Dashboard /> : <UpsellCard />}
    </PageColumn>
  );
}
