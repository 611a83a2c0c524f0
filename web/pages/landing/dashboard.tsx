import { Link } from 'react-router-dom';
import styled from 'styled-components';
import type { StatsDto } from '#common/api/videos.ts';
import { Card } from '../../components/card.tsx';
import { Icon, type IconName } from '../../components/icons.tsx';
import { Container } from '../../components/page.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { useSession } from '../../data/session.ts';
import { useStats } from '../../data/stats.ts';
import { ConnectionLine } from '../../panels/connection-line.tsx';
import { landingTexts } from '../../texts/landing.ts';
import { colour, figures, screen, space, text } from '../../theme.ts';
import { MultiUpload } from './multi-upload.tsx';
import { OpenUploads } from './open-uploads.tsx';
import { RecentDrafts } from './recent-drafts.tsx';
import { RecentVideos } from './recent-videos.tsx';

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
  p {
    min-height: 1.5em;
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
  return quota.limit === null ? texts.quotaUnlimited(quota.used) : texts.quota(quota.used, quota.limit);
}

/** The four figures; to visitors an empty frame that says why. */
function StatTiles({ signedIn }: { readonly signedIn: boolean }) {
  const { data } = useStats();
  const waiting = signedIn && !data;
  const tiles = [
    { title: texts.tiles.videos, value: data?.videosProcessed ?? 0, note: data ? quotaText(data) : '' },
    { title: texts.tiles.drafts, value: data?.draftsSaved ?? 0, note: '' },
    { title: texts.tiles.fixed, value: data?.issuesFixed ?? 0, note: '' },
    { title: texts.tiles.saved, value: data?.timeSaved ?? '0h', note: '', hint: texts.savedHint },
  ];
  return (
    <Tiles>
      {tiles.map(({ title, value, note, hint }) => (
        <Tile key={title} title={hint}>
          <dt>{title}</dt>
          <dd>{waiting ? <Skeleton $width="2.5ch" $height="1em" /> : value}</dd>
          <p>{note}</p>
        </Tile>
      ))}
    </Tiles>
  );
}

export function Dashboard() {
  const signedIn = useSession().status === 'signed-in';
  return (
    <Section id="dashboard" tabIndex={-1} aria-labelledby="dashboard-heading">
      <Head>
        <h2 id="dashboard-heading">{texts.heading}</h2>
        {signedIn && <ConnectionLine />}
      </Head>
      <StatTiles signedIn={signedIn} />
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
      {signedIn && <OpenUploads />}
      <Lists>
        <RecentVideos signedIn={signedIn} />
        <RecentDrafts signedIn={signedIn} />
        <MultiUpload signedIn={signedIn} />
      </Lists>
    </Section>
  );
}
