import { useEffect, useState } from 'react';
import { Navigate } from 'react-router-dom';
import styled from 'styled-components';
import { Icon } from '../../components/icons.tsx';
import { Tab, TabList, TabPanel, Tabs } from '../../components/tabs.tsx';
import { useSession } from '../../data/account/session.ts';
import { authTexts } from '../../texts/auth.ts';
import { colour, radius, space } from '../../theme.ts';
import { AccountReady } from './account-ready.tsx';
import { AuthFrame } from './auth-frame.tsx';
import { CheckEmail } from './check-email.tsx';
import { ForgotPassword } from './forgot-password.tsx';
import { SignInForm } from './sign-in-form.tsx';
import { SignUpForm } from './sign-up-form.tsx';

const Why = styled.p`
  display: flex;
  align-items: center;
  gap: ${space(1)};
  padding: ${space(1.5)};
  border-radius: ${radius.s};
  background: ${colour.infoSoft};
`;

type View =
  | { readonly name: 'forms' | 'forgot' | 'ready' }
  | { readonly name: 'check'; readonly email: string };

/** Sign in and sign up. With `stay` it replaces a protected page, which appears once signed in. */
export function AuthPage({ stay = false }: { readonly stay?: boolean }) {
  const session = useSession();
  const [view, setView] = useState<View>({ name: 'forms' });
  // The page that it replaces may have been scrolled when its session ended.
  useEffect(() => {
    if (stay) window.scrollTo(0, 0);
  }, [stay]);
  if (!stay && session.status === 'signed-in') return <Navigate to="/" replace />;
  if (view.name === 'check')
    return (
      <AuthFrame>
        <CheckEmail email={view.email} />
      </AuthFrame>
    );
  if (view.name === 'ready')
    return (
      <AuthFrame>
        <AccountReady onForgot={() => setView({ name: 'forgot' })} />
      </AuthFrame>
    );
  if (view.name === 'forgot')
    return (
      <AuthFrame>
        <ForgotPassword onBack={() => setView({ name: 'forms' })} />
      </AuthFrame>
    );
  return (
    <AuthFrame>
      {stay && (
        <Why role="status">
          <Icon name="lock" />
          {authTexts.signedOut}
        </Why>
      )}
      <Tabs defaultValue="sign-in">
        <TabList>
          <Tab value="sign-in">{authTexts.signIn}</Tab>
          <Tab value="sign-up">{authTexts.signUp}</Tab>
        </TabList>
        <TabPanel value="sign-in" tabIndex={-1}>
          <SignInForm onForgot={() => setView({ name: 'forgot' })} />
        </TabPanel>
        <TabPanel value="sign-up" tabIndex={-1}>
          <SignUpForm
            onRegistered={(email, isReady) => setView(isReady ? { name: 'ready' } : { name: 'check', email })}
          />
        </TabPanel>
      </Tabs>
    </AuthFrame>
  );
}
