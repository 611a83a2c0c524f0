import { PASSWORD } from '#common/limits.ts';
import { Button } from '../../components/button.tsx';
import { Field } from '../../components/field.tsx';
import { subscribeTexts } from '../../texts/subscribe.ts';
import { StepHeading } from './step-heading.tsx';
import { WizardActions, WizardForm, WizardNote } from './wizard-sheet.ts';

const { account: texts } = subscribeTexts;

export interface AccountDetails {
  readonly name: string;
  readonly email: string;
  readonly password: string;
  readonly confirmPassword: string;
}

interface AccountStepProps {
  readonly details: AccountDetails;
  readonly onChange: (details: AccountDetails) => void;
  readonly onBack: () => void;
  readonly onNext: () => void;
}

/** Step 2: the account fields, checked by the browser; none of them leaves the page. */
export function AccountStep({ details, onChange, onBack, onNext }: AccountStepProps) {
  const bind = (key: keyof AccountDetails) => ({
    label: texts[key],
    required: true,
    value: details[key],
    onChange: (event: React.ChangeEvent<HTMLInputElement>) =>
      onChange({ ...details, [key]: event.target.value }),
  });
  return (
    <WizardForm
      onSubmit={(event) => {
        event.preventDefault();
        if (details.password === details.confirmPassword) onNext();
        else window.alert(texts.mismatch);
      }}
    >
      <StepHeading>{texts.title}</StepHeading>
      <WizardNote>{texts.note}</WizardNote>
      <Field {...bind('name')} autoComplete="name" />
      <Field {...bind('email')} type="email" autoComplete="email" />
      <Field {...bind('password')} type="password" minLength={PASSWORD.min} autoComplete="new-password" />
      <Field
        {...bind('confirmPassword')}
        type="password"
        minLength={PASSWORD.min}
        autoComplete="new-password"
      />
      <WizardActions>
        <Button look="secondary" onClick={onBack}>
          {texts.back}
        </Button>
        <Button type="submit">{texts.next}</Button>
      </WizardActions>
    </WizardForm>
  );
}
