import styled from 'styled-components';
import { Badge } from '../../components/badge.tsx';
import { ButtonLink } from '../../components/button.tsx';
import { Icon } from '../../components/icons.tsx';
import { analyticsTexts } from '../../texts/analytics.ts';
import { colour, radius, space, text } from '../../theme.ts';

const { upsell: texts } = analyticsTexts;

const Locked = styled.section`
  display: grid;
  justify-items: start;
  gap: ${space(2)};
  max-width: 640px;
  padding: ${space(3)};
  border: 2px dashed ${colour.chalk};
  border-radius: ${radius.m};
  h2 {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: ${space(1)};
    font-size: ${text.xl};
  }
  p {
    color: ${colour.inkSoft};
  }
`;
const Ways = styled.div`
  display: flex;
  flex-wrap: wrap;
  gap: ${space(1)};
`;

/** Describes the analytics page to users of plans without it. */
export function UpsellCard() {
  return (
    <Locked aria-label={texts.label}>
      <h2>
        <Icon name="report" />
        {texts.label}
        <Badge icon="lock">{texts.needs}</Badge>
      </h2>
      <p>{texts.text}</p>
      <Ways>
        <ButtonLink to="/subscribe/business">{texts.subscribe}</ButtonLink>
        <ButtonLink to="/upgrade" look="secondary">
          {texts.compare}
        </ButtonLink>
      </Ways>
    </Locked>
  );
}
