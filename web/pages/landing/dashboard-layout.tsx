import type { ReactNode } from 'react';
import { Link } from 'react-router-dom';
import styled from 'styled-components';
import type { StatsDto } from '#common/api/videos.ts';
import { Card } from '../../components/card.tsx';
import { Icon, type IconName } from '../../components/icons.tsx';
import { Container } from '../../components/page.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { landingTexts } from '../../texts/landing.ts';
import { colour, figures, font, screen, space, text } from '../../theme.ts';

const { dashboard: texts } = landingTexts;

const Section = styled(Container).attrs({ as: 'section' })`
  display: grid;
  gap: ${space(3)};
  padding-block: ${space(6)};
  &:focus {
    outline: none;
  }
`;
const Head = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: baseline;
  justify-content: space-between;
  gap: ${space(1, 3)};
  h2 {
    font-size: ${text.xxl};
  }
  /* Beside the heading it is aligned with the right edge of the cards below. */
  @media (min-width: 360px) {
    & > [role='status'] {
      justify-content: flex-end;
    }
  }
`;
const Tiles = styled.dl`
  display: grid;
  grid-template-columns: repeat(2, 1fr);
  border: 1px solid ${colour.line};
  border-radius: 14px;
  background: ${colour.raised};
  ${screen.tablet} {
    grid-template-columns: repeat(4, 1fr);
  }
`;
const Tile = styled.div`
  padding: ${space(2.5, 3)};
  dt {
    font-size: ${text.s};
    color: ${colour.inkSoft};
  }
  dd {
    ${figures}
    min-height: 1.35em;
    font-size: ${text.xxl};
    font-weight: 600;
    letter-spacing: -0.04em;
  }
  /* Reserves the line of the only note before it is known; in two columns the note may extend below its neighbour,
     which has none. */
  &:first-child small {
    min-height: 1.5em;
  }
  small {
    display: block;
    white-space: nowrap;
    font-family: ${font.text};
    font-weight: 400;
    letter-spacing: 0;
    font-size: ${text.xs};
    color: ${colour.inkFaint};
  }
`;
const Cards = styled.ul`
  display: grid;
  gap: ${space(2)};
  ${screen.tablet} {
    grid-template-columns: repeat(3, minmax(0, 1fr));
  }
`;
const Place = styled(Card).attrs({ as: Link })`
  display: flex;
  align-items: center;
  gap: ${space(2)};
  height: 100%;
  padding: ${space(2.5)};
  text-decoration: none;
  transition: border-color 0.15s;
  &:hover {
    border-color: ${colour.lineStrong};
    background: ${colour.hover};
  }
  h3 {
    font-size: ${text.l};
  }
  p {
    font-size: ${text.s};
    color: ${colour.inkSoft};
  }
  & > svg:last-child {
    margin-left: auto;
    color: ${colour.inkFaint};
  }
`;
const Lists = styled.div`
  display: grid;
  gap: ${space(2)};
  ${screen.desktop} {
    grid-template-columns: repeat(3, minmax(0, 1fr));
  }
`;

const PLACES: readonly { to: string; icon: IconName; title: string; text: string }[] = [
  { to: '/videos', icon: 'film', ...texts.cards.videos },
  { to: '/drafts', icon: 'cloud', ...texts.cards.drafts },
  { to: '/editor', icon: 'editor', ...texts.cards.editor },
];

function quotaText({ quota }: StatsDto): string {
  if (!quota) return '';
  return quota.limit === null ? texts.quotaUnlimited(quota.used) : texts.quota(quota.used, quota.limit);
}

/** The four figures; zeros for visitors, placeholders while they load. */
function StatTiles({ stats, waiting }: { readonly stats: StatsDto | undefined; readonly waiting: boolean }) {
  const tiles = [
    { title: texts.tiles.videos, value: stats?.videosProcessed ?? 0, note: stats ? quotaText(stats) : '' },
    { title: texts.tiles.drafts, value: stats?.draftsSaved ?? 0, note: '' },
    { title: texts.tiles.fixed, value: stats?.issuesFixed ?? 0, note: '' },
    { title: texts.tiles.saved, value: stats?.timeSaved ?? '0h', note: '', hint: texts.savedHint },
  ];
  return (
    <Tiles>
      {tiles.map(({ title, value, note, hint }) => (
        <Tile key={title} title={hint}>
          <dt>{title}</dt>
          <dd>
            {waiting ? <Skeleton $width="2.5ch" $height="1.35em" /> : value}
            <small>{note}</small>
          </dd>
        </Tile>
      ))}
    </Tiles>
  );
}

interface DashboardLayoutProps {
  readonly stats?: StatsDto | undefined;
  readonly waiting?: boolean;
  readonly connection?: ReactNode;
  readonly openUploads?: ReactNode;
  /** Recent videos, recent drafts, and the card for several files. */
  readonly children: ReactNode;
}

/** The layout of the dashboard, the same for visitors and creators. */
export function DashboardLayout({
  stats,
  waiting = false,
  connection,
  openUploads,
  children,
}: DashboardLayoutProps) {
  return (
    <Section id="dashboard" tabIndex={-1} aria-labelledby="dashboard-heading">
      <Head>
        <h2 id="dashboard-heading">{texts.heading}</h2>
        {connection}
      </Head>
      {openUploads}
      <StatTiles stats={stats} waiting={waiting} />
      <Cards>
        {PLACES.map(({ to, icon, title, text: words }) => (
          <li key={to}>
            <Place to={to}>
              <Icon name={icon} size={28} />
              <div>
                <h3>{title}</h3>
                <p>{words}</p>
              </div>
              <Icon name="arrowRight" />
            </Place>
          </li>
        ))}
      </Cards>
      <Lists>{children}</Lists>
    </Section>
  );
}
