import { useState } from 'react';
import styled from 'styled-components';
import type { Plan } from '#common/plans.ts';
import { Button } from '../../components/button.tsx';
import { Field } from '../../components/field.tsx';
import { subscribeTexts } from '../../texts/subscribe.ts';
import { colour, radius, screen, space } from '../../theme.ts';
import { StepHeading } from './step-heading.tsx';
import { Highlight, WizardActions, WizardForm, WizardNote } from './wizard-sheet.ts';

const { payment: texts } = subscribeTexts;

const Methods = styled.fieldset`
  display: grid;
  gap: ${space(1)};
  margin: 0;
  padding: 0;
  border: 0;
  ${screen.tablet} {
    grid-template-columns: 1fr 1fr;
  }
  legend {
    padding: 0 0 ${space(1)};
    font-weight: 600;
  }
  label {
    display: flex;
    align-items: center;
    gap: ${space(1)};
    min-height: 48px;
    padding: 0 ${space(2)};
    border: 1px solid ${colour.lineStrong};
    border-radius: ${radius.s};
    cursor: pointer;
  }
  label:has(:checked) {
    border-color: ${colour.thread};
    background: ${colour.hover};
  }
`;
const Pair = styled.div`
  display: grid;
  grid-template-columns: 1fr 1fr;
  gap: ${space(2)};
`;

interface PaymentStepProps {
  readonly plan: Plan;
  readonly pending: boolean;
  readonly onBack: () => void;
  readonly onSubmit: () => void;
}

const EMPTY_CARD = { number: '', expiry: '', cvc: '' };

/** Step 3. Card fields exist only in this component and are discarded with it: not stored, not sent. */
export function PaymentStep({ plan, pending, onBack, onSubmit }: PaymentStepProps) {
  const [method, setMethod] = useState<'card' | 'paypal'>('card');
  const [card, setCard] = useState(EMPTY_CARD);
  const bind = (key: keyof typeof EMPTY_CARD) => ({
    label: texts[key],
    required: true,

    value: card[key],
    onChange: (event: React.ChangeEvent<HTMLInputElement>) => setCard({ ...card, [key]: event.target.value }),
  });
  return (
    <WizardForm
      onSubmit={(event) => {
        event.preventDefault();
        if (!pending) onSubmit();
      }}
    >
      <StepHeading>{plan.paid ? texts.title : texts.freeTitle}</StepHeading>
      {plan.paid ? (
        <>
          <WizardNote>{texts.demo}</WizardNote>
          <Methods>
            <legend>{texts.method}</legend>
            {(['card', 'paypal'] as const).map((value) => (
              <label key={value}>
                <input
                  type="radio"
                  name="method"
                  checked={method === value}
                  onChange={() => setMethod(value)}
                />
                {value === 'card' ? texts.card : texts.payPal}
              </label>
            ))}
          </Methods>
          {method === 'card' ? (
            <>
              <Field {...bind('number')} autoComplete="cc-number" />
              <Pair>
                <Field {...bind('expiry')} autoComplete="cc-exp" placeholder="MM/YY" />
                <Field {...bind('cvc')} autoComplete="off" />
              </Pair>
            </>
          ) : (
            <p>{texts.payPalText}</p>
          )}
          <Highlight>
            <p>{texts.trial(`${plan.priceText}${plan.period}`)}</p>
          </Highlight>
        </>
      ) : (
        <p>{texts.freeText}</p>
      )}
      <WizardActions>
        <Button look="secondary" onClick={onBack} disabled={pending}>
          {texts.back}
        </Button>
        <Button type="submit" disabled={pending}>
          {pending ? texts.pending : plan.paid ? texts.submit : texts.freeSubmit}
        </Button>
      </WizardActions>
    </WizardForm>
  );
}
