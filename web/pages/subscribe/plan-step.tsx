import type { ReactNode } from 'react';
import type { Plan } from '#common/plans.ts';
import { Button } from '../../components/button.tsx';
import { subscribeTexts } from '../../texts/subscribe.ts';
import { PointList } from './plan-summary.tsx';
import { StepHeading } from './step-heading.tsx';
import { Highlight, WizardActions, WizardForm } from './wizard-sheet.ts';

const { plan: texts } = subscribeTexts;

interface PlanStepProps {
  readonly plan: Plan;
  /** What changes for a user of another plan; see `PlanChange`. */
  readonly change: ReactNode;
  readonly onNext: () => void;
}

/** Step 1: what the plan means before anything is filled in. */
export function PlanStep({ plan, change, onNext }: PlanStepProps) {
  return (
    <WizardForm
      onSubmit={(event) => {
        event.preventDefault();
        onNext();
      }}
    >
      <StepHeading>{texts.title}</StepHeading>
      <Highlight>
        <h3>{plan.paid ? texts.trialTitle : texts.freeTitle}</h3>
        {plan.paid ? <p>{texts.trialText}</p> : <PointList points={texts.freePoints} />}
      </Highlight>
      {change}
      <WizardActions>
        <span />
        <Button type="submit">{texts.next}</Button>
      </WizardActions>
    </WizardForm>
  );
}
