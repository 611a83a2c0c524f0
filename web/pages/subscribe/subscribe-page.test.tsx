import { cleanup, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse } from 'msw';
import { Route, Routes } from 'react-router-dom';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { SessionUser } from '#common/api/auth.ts';
import { subscriptionApi } from '#common/api/subscription.ts';
import { renderAt } from '../../test/render.tsx';
import { on, refusal, server, signedIn, user } from '../../test/server.ts';
import { SubscribePage } from './subscribe-page.tsx';
import { ToPricing } from './to-pricing.tsx';

const person = userEvent.setup({ delay: null });
const alerts: string[] = [];

beforeEach(() => {
  alerts.length = 0;
  vi.spyOn(window, 'alert').mockImplementation((text?: string) => {
    alerts.push(text ?? '');
  });
});

function open(plan: string, billing: 'trial' | 'off' = 'trial', has: Partial<SessionUser> = {}) {
  server.use(signedIn({ ...user, billing, ...has }));
  return renderAt(
    `/subscribe/${plan}`,
    <Routes>
      <Route path="/" element={null} />
      <Route path="/subscribe" element={<ToPricing />} />
      <Route path="/subscribe/:plan" element={<SubscribePage />} />
    </Routes>,
  );
}

const press = (name: string): Promise<void> => person.click(screen.getByRole('button', { name }));

async function fillAccount(confirmPassword = 'first-password'): Promise<void> {
  await person.clear(screen.getByLabelText('Full Name'));
  await person.type(screen.getByLabelText('Full Name'), 'Mara Films');
  await person.clear(screen.getByLabelText('Email Address'));
  await person.type(screen.getByLabelText('Email Address'), 'mara@example.test');
  await person.clear(screen.getByLabelText('Password'));
  await person.type(screen.getByLabelText('Password'), 'first-password');
  await person.clear(screen.getByLabelText('Confirm Password'));
  await person.type(screen.getByLabelText('Confirm Password'), confirmPassword);
}

async function toPayment(plan: string, billing: 'trial' | 'off' = 'trial'): Promise<void> {
  open(plan, billing);
  await press('Continue to Account Setup');
  await fillAccount();
  await press('Continue to Payment');
}

function serveSubscription(): unknown[] {
  const sent: unknown[] = [];
  server.use(
    on(subscriptionApi.subscribe, async (request) => {
      sent.push(await request.json());
      return HttpResponse.json({ user: { ...user, plan: 'creator-pro' } });
    }),
  );
  return sent;
}

describe('the address of the wizard', () => {
  it('says that an unknown plan does not exist and links to the plans', async () => {
    open('platinum');
    expect(screen.getByRole('heading', { name: 'Plan Not Found' })).toBeInTheDocument();
    expect(screen.getByText("The subscription plan you're looking for doesn't exist.")).toBeInTheDocument();
    expect(screen.getByRole('link', { name: 'View All Plans' })).toHaveAttribute('href', '/#pricing');
  });

  it('leads to the plans when no plan is given', async () => {
    renderAt('/subscribe', <ToPricing />);
    await expect.poll(() => screen.getByTestId('place').textContent).toBe('/#pricing');
  });
});

describe('step 1, the plan', () => {
  it('shows three steps, the plan with its guarantee and the trial of a paid plan', () => {
    open('creator-pro');
    const steps = within(screen.getByRole('list', { name: 'Steps' })).getAllByRole('listitem');
    expect(steps.map((step) => step.textContent)).toEqual(['1Choose Plan', '2Account Setup', '3Payment']);
    expect(steps[0]).toHaveAttribute('aria-current', 'step');
    const summary = within(screen.getByLabelText('Creator Pro'));
    expect(summary.getByRole('heading', { name: 'Creator Pro' })).toBeInTheDocument();
    expect(summary.getByText(/every week/)).toBeInTheDocument();
    expect(summary.getByText('$15')).toHaveTextContent('$15/month');
    expect(summary.getAllByRole('listitem').map((item) => item.textContent)).toEqual([
      '50 videos per month',
      'Advanced AI repair',
      '4K export',
      'Smart captions',
      'Draft backup (30 days)',
      'Priority processing',
    ]);
    expect(summary.getByText('30-day money-back guarantee')).toBeInTheDocument();
    expect(screen.getByRole('link', { name: 'Back to Plans' })).toHaveAttribute('href', '/#pricing');
    expect(screen.getByRole('heading', { name: 'Confirm Your Plan' })).toBeInTheDocument();
    expect(screen.getByRole('heading', { name: '7-Day Free Trial' })).toBeInTheDocument();
    expect(screen.getByText('Cancel anytime during the trial with no charges.')).toBeInTheDocument();
  });

  it('lists the benefits of the free plan, which has neither trial nor guarantee', () => {
    open('starter');
    expect(screen.getByRole('heading', { name: 'Free Plan Benefits' })).toBeInTheDocument();
    for (const point of ['Start immediately', 'No payment required', 'Upgrade anytime'])
      expect(screen.getByText(point)).toBeInTheDocument();
    for (const point of [
      '5 videos per month',
      'Basic AI fixes',
      '1080p export',
      'Draft backup (7 days)',
      '$0',
    ])
      expect(screen.getByText(point)).toBeInTheDocument();
    expect(screen.queryByText('7-Day Free Trial')).not.toBeInTheDocument();
    expect(screen.queryByText('30-day money-back guarantee')).not.toBeInTheDocument();
  });

  it('says before a smaller plan is taken what stays and what ends, and nothing for a larger one', async () => {
    open('starter', 'trial', { plan: 'business', trialEndsAt: '2026-12-01T10:00:00.000Z' });
    const change = await screen.findByRole('region', { name: 'What changes when you leave Creator Pro+' });
    const points = within(change).getAllByRole('listitem');
    expect(points[0]).toHaveTextContent('All your videos, their versions, finished files and backups stay.');
    expect(points[1]).toHaveTextContent('New ones are kept for 7 days instead of 30.');
    expect(change).toHaveTextContent('AI Quick Fixes and AI Storyline are locked. What they made stays.');
    expect(change).toHaveTextContent('Downloads come in 1080p at most.');
    expect(change).toHaveTextContent(/Your trial of Creator Pro\+ can be taken up again until .*2026/);
    cleanup();
    open('business', 'trial', { plan: 'creator-pro' });
    expect(await screen.findByRole('heading', { name: '7-Day Free Trial' })).toBeVisible();
    expect(screen.queryByRole('region', { name: /^What changes/ })).toBeNull();
  });

  it('lists everything of Creator Pro+', () => {
    open('business');
    const summary = within(screen.getByLabelText('Creator Pro+'));
    expect(summary.getByText('$30')).toHaveTextContent('$30/month');
    expect(summary.getAllByRole('listitem').map((item) => item.textContent)).toEqual([
      'Everything in Pro',
      'Unlimited videos',
      'Team collaboration',
      'Brand templates',
      'API access',
      'Analytics dashboard',
      'Priority support',
    ]);
  });

  it('says which of these features are not built yet', () => {
    open('business');
    const note = 'Not ready yet: team collaboration and brand templates.';
    expect(within(screen.getByLabelText('Creator Pro+')).getByText(note)).toBeInTheDocument();
  });
});

describe('step 2, the account', () => {
  it('requires four fields that the browser checks, and stays without them', async () => {
    open('business');
    await press('Continue to Account Setup');
    expect(screen.getByRole('heading', { name: 'Create Your Account' })).toHaveFocus();
    for (const label of ['Full Name', 'Email Address', 'Password', 'Confirm Password'])
      expect(screen.getByLabelText(label)).toBeRequired();
    expect(screen.getByLabelText('Email Address')).toHaveAttribute('type', 'email');
    for (const label of ['Password', 'Confirm Password'])
      expect(screen.getByLabelText(label)).toHaveAttribute('minlength', '8');
    await press('Continue to Payment');
    expect(screen.getByRole('heading', { name: 'Create Your Account' })).toBeInTheDocument();
  });

  it('alerts when the passwords differ and stays on the step', async () => {
    open('business');
    await press('Continue to Account Setup');
    await fillAccount('other-password');
    await press('Continue to Payment');
    expect(alerts).toEqual(['Passwords do not match']);
    expect(screen.getByRole('heading', { name: 'Create Your Account' })).toBeInTheDocument();
  });

  it('goes back one step and keeps what was typed', async () => {
    await toPayment('business');
    await press('Back');
    expect(screen.getByLabelText('Full Name')).toHaveValue('Mara Films');
    await press('Back');
    expect(screen.getByRole('heading', { name: 'Confirm Your Plan' })).toBeInTheDocument();
  });
});

describe('step 3, the payment', () => {
  it('requires the card fields for a card, without checking their format, and none for PayPal', async () => {
    const sent = serveSubscription();
    await toPayment('business');
    expect(screen.getByRole('heading', { name: 'Payment Information' })).toBeInTheDocument();
    expect(screen.getByRole('radio', { name: 'Credit Card' })).toBeChecked();
    expect(screen.getByPlaceholderText('MM/YY')).toBeInTheDocument();
    expect(screen.getByText(/After the trial, \$30\/month will be billed/)).toBeInTheDocument();
    for (const label of ['Card Number', 'Expiry (MM/YY)', 'CVC']) {
      const input = screen.getByLabelText(label);
      expect(input).toBeRequired();
      await person.type(input, 'any text');
      expect(input).toBeValid();
    }
    await person.click(screen.getByRole('radio', { name: 'PayPal' }));
    expect(screen.queryByLabelText('Card Number')).not.toBeInTheDocument();
    expect(
      screen.getByText('You will be redirected to PayPal to complete your payment.'),
    ).toBeInTheDocument();
    await press('Start Free Trial');
    await expect.poll(() => sent).toEqual([{ plan: 'business' }]);
    await expect.poll(() => alerts).toHaveLength(1);
    await expect.poll(() => screen.getByTestId('place').textContent).toBe('/');
  });

  it('waits two seconds, makes one call with the plan alone, and welcomes with the plan name', async () => {
    const sent = serveSubscription();
    await toPayment('creator-pro');
    await person.type(screen.getByLabelText('Card Number'), '4242424242424242');
    await person.type(screen.getByLabelText('Expiry (MM/YY)'), '12/30');
    await person.type(screen.getByLabelText('CVC'), '123');
    const startedAtMs = performance.now();
    await press('Start Free Trial');
    expect(screen.getByRole('button', { name: 'Processing...' })).toBeDisabled();
    await expect.poll(() => alerts.length).toBe(1);
    expect(performance.now() - startedAtMs).toBeGreaterThan(1900);
    expect(alerts).toEqual(['Successfully subscribed to Creator Pro plan! Welcome to the product.']);
    expect(sent).toEqual([{ plan: 'creator-pro' }]);
    expect(JSON.stringify({ ...localStorage, ...sessionStorage })).not.toContain('4242');
    await expect.poll(() => screen.getByTestId('place').textContent).toBe('/');
  });

  it('activates the free plan at once', async () => {
    serveSubscription();
    await toPayment('starter');
    expect(screen.getByRole('heading', { name: 'Complete Setup' })).toBeInTheDocument();
    expect(screen.getByRole('button', { name: 'Back' })).toBeInTheDocument();
    await press('Activate Free Account');
    await expect.poll(() => alerts).toEqual(['Free account activated! Welcome to the product.']);
  });

  it('welcomes nobody when the plan could not be changed', async () => {
    server.use(on(subscriptionApi.subscribe, () => refusal('conflict', 'The trial of this plan was used.')));
    await toPayment('starter');
    await press('Activate Free Account');
    expect(await screen.findByText('Subscription failed')).toBeInTheDocument();
    expect(screen.getByText('The trial of this plan was used.')).toBeInTheDocument();
    expect(alerts).toEqual([]);
    expect(screen.getByRole('heading', { name: 'Complete Setup' })).toBeInTheDocument();
  });

  it.each([
    ['starter', 'Activate Free Account'],
    ['creator-pro', 'Start Free Trial'],
  ])(
    'makes no call and welcomes nobody to %s where plans are given by the operator',
    async (plan, action) => {
      const sent = serveSubscription();
      await toPayment(plan, 'off');
      expect(screen.getByRole('note')).toHaveTextContent('On this server, plans are set by its operator.');
      if (plan !== 'starter') await person.click(screen.getByLabelText('PayPal'));
      await press(action);
      expect(await screen.findByText('Your plan was not changed')).toBeInTheDocument();
      expect(sent).toEqual([]);
      expect(alerts).toEqual([]);
    },
    15_000,
  );
});
