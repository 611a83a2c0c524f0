import styled from 'styled-components';
import { PLAN_SLUGS, PLANS } from '#common/plans.ts';
import { Badge } from '../../components/badge.tsx';
import { ButtonLink } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Icon } from '../../components/icons.tsx';
import { Container } from '../../components/page.tsx';
import { landingTexts } from '../../texts/landing.ts';
import { notReadyText } from '../../texts/plans.ts';
import { colour, font, screen, space, text } from '../../theme.ts';

const { pricing: texts } = landingTexts;

const Section = styled(Container).attrs({ as: 'section' })`
  display: grid;
  gap: ${space(5)};
  padding-block: ${space(8)};
  &:focus {
    outline: none;
  }
  h2 {
    font-size: ${text.xxxl};
  }
`;
const Lead = styled.p`
  margin-top: ${space(1.5)};
  color: ${colour.inkSoft};
  font-size: ${text.l};
`;
const Grid = styled.ul`
  display: grid;
  gap: ${space(3)};
  ${screen.desktop} {
    grid-template-columns: repeat(3, 1fr);
  }
`;
const Plan = styled(Card).attrs({ as: 'li' })<{ $popular: boolean }>`
  display: flex;
  flex-direction: column;
  gap: ${space(2)};
  /* The wider border takes its pixel from the padding, so that the lines of all plans are aligned. */
  ${({ $popular }) =>
    $popular && `border: 2px dashed ${colour.liveThread}; padding: calc(${space(3)} - 1px);`}
  & > a {
    margin-top: auto;
  }
`;
const Top = styled.div`
  display: flex;
  align-items: center;
  justify-content: space-between;
  min-height: 28px;
  h3 {
    font-size: ${text.xl};
  }
`;
const Price = styled.p`
  font-family: ${font.display};
  font-size: ${text.xxxl};
  font-weight: 700;
  letter-spacing: -0.03em;
  span {
    font-family: ${font.text};
    font-size: ${text.m};
    font-weight: 400;
    letter-spacing: 0;
    color: ${colour.inkFaint};
  }
`;
const Description = styled.p`
  color: ${colour.inkSoft};
  ${screen.desktop} {
    min-height: 4.5em;
  }
`;
const FeatureList = styled.ul`
  display: grid;
  gap: ${space(1)};
  li {
    display: flex;
    gap: ${space(1)};
  }
  svg {
    margin-top: 2px;
    color: ${colour.ok};
  }
`;
const Small = styled.p`
  font-size: ${text.s};
  color: ${colour.inkFaint};
`;

export function Pricing() {
  return (
    <Section id="pricing" tabIndex={-1} aria-labelledby="pricing-heading">
      <div>
        <h2 id="pricing-heading">{texts.heading}</h2>
        <Lead>{texts.lead}</Lead>
      </div>
      <Grid>
        {PLAN_SLUGS.map((slug) => {
          const plan = PLANS[slug];
          const notReady = notReadyText(plan);
          return (
            <Plan key={slug} $popular={plan.popular}>
              <Top>
                <h3>{plan.name}</h3>
                {plan.popular && <Badge tone="live">{texts.popular}</Badge>}
              </Top>
              <Price>
                {plan.priceText}
                <span>{plan.period}</span>
              </Price>
              <Description>{plan.description}</Description>
              <FeatureList>
                {plan.features.map((feature) => (
                  <li key={feature}>
                    <Icon name="check" />
                    {feature}
                  </li>
                ))}
              </FeatureList>
              <div>
                {notReady && <Small>{notReady}</Small>}
                <Small>{plan.paid ? texts.guarantee : texts.free}</Small>
              </div>
              <ButtonLink to={`/subscribe/${slug}`} look={plan.popular ? 'primary' : 'secondary'}>
                {texts.choose(plan.name)}
              </ButtonLink>
            </Plan>
          );
        })}
      </Grid>
    </Section>
  );
}
