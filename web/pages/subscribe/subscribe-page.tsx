import { useState } from 'react';
import { useNavigate, useParams } from 'react-router-dom';
import styled from 'styled-components';
import { SIMULATED_PAYMENT_MS } from '#common/limits.ts';
import { planSlug } from '#common/plan-slug.ts';
import { type Plan, PLANS } from '#common/plans.ts';
import { BackLink } from '../../components/back-link.tsx';
import { ButtonLink } from '../../components/button.tsx';
import { PageHeading, PageMain } from '../../components/page.tsx';
import { useSession } from '../../data/account/session.ts';
import { useSubscribe } from '../../data/account/subscription.ts';
import { failureToast } from '../../data/failure-toast.ts';
import { useShowToast } from '../../data/toasts.ts';
import { subscribeTexts as texts } from '../../texts/subscribe.ts';
import { screen, space } from '../../theme.ts';
import { AccountStep } from './account-step.tsx';
import { PaymentStep } from './payment-step.tsx';
import { PlanChange } from './plan-change.tsx';
import { PlanStep } from './plan-step.tsx';
import { PlanSummary } from './plan-summary.tsx';
import { StepIndicator, type WizardStep } from './step-indicator.tsx';
import { WizardSheet } from './wizard-sheet.ts';

const Frame = styled(PageMain)`
  display: grid;
  align-content: start;
  gap: ${space(4)};
`;
const Columns = styled.div`
  display: grid;
  gap: ${space(3)};
  ${screen.desktop} {
    grid-template-columns: minmax(300px, 380px) 1fr;
  }
`;

/** The subscription wizard; for an unknown plan it says so and links to the plans. */
export function SubscribePage() {
  const { plan: slug } = useParams();
  const known = planSlug.safeParse(slug);
  if (!known.success)
    return (
      <Frame>
        <PageHeading title={texts.notFound.title}>{texts.notFound.title}</PageHeading>
        <p>{texts.notFound.text}</p>
        <div>
          <ButtonLink to="/#pricing">{texts.notFound.action}</ButtonLink>
        </div>
      </Frame>
    );
  return <Wizard key={known.data} plan={PLANS[known.data]} />;
}

function Wizard({ plan }: { readonly plan: Plan }) {
  const { user } = useSession();
  const [step, setStep] = useState<WizardStep>('plan');
  const [details, setDetails] = useState({
    name: user?.username ?? '',
    email: user?.email ?? '',
    password: '',
    confirmPassword: '',
  });
  const { pending, submit } = useActivation(plan, user?.billing === 'off');
  return (
    <Frame>
      <div>
        <BackLink to="/#pricing">{texts.back}</BackLink>
        <PageHeading title={texts.pageTitle(plan.name)}>{texts.pageTitle(plan.name)}</PageHeading>
      </div>
      {user?.billing === 'off' && <p role="note">{texts.notSold.note}</p>}
      <StepIndicator current={step} />
      <Columns>
        <PlanSummary plan={plan} />
        <WizardSheet>
          {step === 'plan' && (
            <PlanStep
              plan={plan}
              change={user && user.billing !== 'off' ? <PlanChange plan={plan} user={user} /> : null}
              onNext={() => setStep('account')}
            />
          )}
          {step === 'account' && (
            <AccountStep
              details={details}
              onChange={setDetails}
              onBack={() => setStep('plan')}
              onNext={() => setStep('payment')}
            />
          )}
          {step === 'payment' && (
            <PaymentStep
              plan={plan}
              pending={pending}
              onBack={() => setStep('account')}
              onSubmit={() => void submit()}
            />
          )}
        </WizardSheet>
      </Columns>
    </Frame>
  );
}

/**
 * The simulated payment, followed by the one call that makes the alert true. If only the operator sets
 * plans, there is no call, and nobody is welcomed to a plan they do not have.
 */
function useActivation(plan: Plan, byOperatorOnly: boolean) {
  const subscribe = useSubscribe();
  const navigate = useNavigate();
  const showToast = useShowToast();
  const [pending, setPending] = useState(false);
  const submit = async (): Promise<void> => {
    setPending(true);
    try {
      if (plan.paid) await new Promise((resolve) => setTimeout(resolve, SIMULATED_PAYMENT_MS));
      if (byOperatorOnly) {
        showToast({ title: texts.notSold.title, description: texts.notSold.text });
        return;
      }
      await subscribe.mutateAsync(plan.slug);
      window.alert(plan.paid ? texts.done(plan.name) : texts.doneFree);
      void navigate('/');
    } catch (error) {
      showToast(failureToast(error, texts.failed, texts.failedDetail));
    } finally {
      setPending(false);
    }
  };
  return { pending, submit };
}
