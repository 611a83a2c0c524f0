import styled from 'styled-components';
import type { Plan } from '#common/plans.ts';
import { Card } from '../../components/card.tsx';
import { Icon } from '../../components/icons.tsx';
import { Stitch } from '../../components/stitch.tsx';
import { notReadyText } from '../../texts/plans.ts';
import { subscribeTexts } from '../../texts/subscribe.ts';
import { colour, eyebrow, figures, space, text } from '../../theme.ts';

const { summary: texts } = subscribeTexts;

const Sheet = styled(Card)`
  display: grid;
  align-content: start;
  gap: ${space(2)};
  h2 {
    font-size: ${text.xxl};
  }
`;
const Price = styled.p`
  ${figures}
  font-size: ${text.xxl};
  font-weight: 600;
  & > span {
    font-size: ${text.m};
    color: ${colour.inkSoft};
  }
`;
const Eyebrow = styled.h3`
  ${eyebrow}
  font-family: inherit;
`;
const Points = styled.ul`
  display: grid;
  gap: ${space(1)};
  & > li {
    display: flex;
    gap: ${space(1)};
  }
  svg {
    margin-top: 3px;
    color: ${colour.ok};
    flex: none;
  }
`;

/** A list of points with ticks. */
export function PointList({ points }: { readonly points: readonly string[] }) {
  return (
    <Points>
      {points.map((point) => (
        <li key={point}>
          <Icon name="check" size={17} />
          {point}
        </li>
      ))}
    </Points>
  );
}

const Note = styled.p`
  font-size: ${text.s};
  color: ${colour.inkSoft};
`;

/** The chosen plan: name, description, price, features and, for paid plans, the guarantee. */
export function PlanSummary({ plan }: { readonly plan: Plan }) {
  const notReady = notReadyText(plan);
  return (
    <Sheet aria-label={plan.name}>
      <h2>{plan.name}</h2>
      <p>{plan.description}</p>
      <Price>
        {plan.priceText}
        <span>{plan.period}</span>
      </Price>
      <Stitch />
      <Eyebrow>{texts.features}</Eyebrow>
      <PointList points={plan.features} />
      {notReady && <Note>{notReady}</Note>}
      {plan.paid && (
        <>
          <Stitch />
          <p style={{ display: 'flex', gap: space(1) }}>
            <Icon name="shield" />
            {texts.guarantee}
          </p>
        </>
      )}
    </Sheet>
  );
}
