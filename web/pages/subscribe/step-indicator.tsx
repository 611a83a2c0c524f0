import styled from 'styled-components';
import { Icon } from '../../components/icons.tsx';
import { subscribeTexts } from '../../texts/subscribe.ts';
import { colour, figures, screen, space, stitchLine, text, visuallyHidden } from '../../theme.ts';

const WIZARD_STEPS = ['plan', 'account', 'payment'] as const;
export type WizardStep = (typeof WIZARD_STEPS)[number];

const { steps: texts, stepDone } = subscribeTexts;

const List = styled.ol`
  display: grid;
  grid-template-columns: repeat(3, 1fr);
  gap: ${space(1)};
`;
const Item = styled.li<{ $state: 'done' | 'current' | 'ahead' }>`
  display: grid;
  gap: ${space(1)};
  color: ${({ $state }) => ($state === 'ahead' ? colour.inkFaint : colour.ink)};
  font-size: ${text.s};
  font-weight: 600;
  &::before {
    content: '';
    color: ${({ $state }) =>
      $state === 'current' ? colour.liveThread : $state === 'done' ? colour.thread : colour.chalk};
    ${stitchLine}
    height: 3px;
  }
  & > span {
    display: flex;
    align-items: baseline;
    gap: ${space(0.75)};
  }
  & b {
    ${figures}
    font-weight: 600;
  }
  ${screen.tablet} {
    font-size: ${text.m};
  }
`;
const Hidden = styled.i`
  ${visuallyHidden}
`;

/** The current step of the wizard: a thread of three lengths. */
export function StepIndicator({ current }: { readonly current: WizardStep }) {
  const position = WIZARD_STEPS.indexOf(current);
  return (
    <List aria-label={texts.label}>
      {WIZARD_STEPS.map((step, index) => {
        const state = index < position ? 'done' : index === position ? 'current' : 'ahead';
        return (
          <Item key={step} $state={state} aria-current={state === 'current' ? 'step' : undefined}>
            <span>
              {state === 'done' ? <Icon name="check" size={16} /> : <b aria-hidden>{index + 1}</b>}
              <span>{texts[step]}</span>
              {state === 'done' && <Hidden>{stepDone}</Hidden>}
            </span>
          </Item>
        );
      })}
    </List>
  );
}
