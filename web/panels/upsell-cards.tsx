import { Link } from 'react-router-dom';
import styled from 'styled-components';
import { Badge } from '../components/badge.tsx';
import { Icon, type IconName } from '../components/icons.tsx';
import { videoTexts } from '../texts/videos.ts';
import { colour, radius, space, text } from '../theme.ts';

const { upsell: texts } = videoTexts;

const Locked = styled.section`
  display: grid;
  gap: ${space(1)};
  padding: ${space(2)};
  border: 1px dashed ${colour.lineStrong};
  border-radius: ${radius.m};
  p {
    color: ${colour.inkSoft};
    font-size: ${text.s};
  }
`;
const Title = styled.h3`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(1)};
  font-size: ${text.l};
`;
const Ways = styled.div`
  display: flex;
  flex-wrap: wrap;
  gap: 0 ${space(2.5)};
  a {
    padding: ${space(1, 0)};
    font-size: ${text.s};
    font-weight: 600;
  }
`;

const CARDS: readonly { icon: IconName; title: string; text: string }[] = [
  { icon: 'spark', title: texts.fixesTitle, text: texts.fixesText },
  { icon: 'film', title: texts.storylineTitle, text: texts.storylineText },
];

/** What Creator Pro+ adds, shown locked to the other plans. */
export function UpsellCards() {
  return (
    <>
      {CARDS.map(({ icon, title, text: words }) => (
        <Locked key={title} aria-label={title}>
          <Title>
            <Icon name={icon} />
            {title}
            <Badge icon="lock">{texts.needs}</Badge>
          </Title>
          <p>{words}</p>
          <Ways>
            <Link to="/upgrade">{texts.compare}</Link>
            <Link to="/subscribe/business">{texts.subscribe}</Link>
          </Ways>
        </Locked>
      ))}
    </>
  );
}
