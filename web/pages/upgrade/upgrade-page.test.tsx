import { screen, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { renderAt } from '../../test/render.tsx';
import { server, signedIn, user } from '../../test/server.ts';
import { UpgradePage } from './upgrade-page.tsx';

describe('UpgradePage', () => {
  it('leads visitors to the three plans', () => {
    renderAt('/upgrade', <UpgradePage />);
    expect(screen.getByRole('heading', { level: 1 })).toBeInTheDocument();
    const plans = within(screen.getByRole('table')).getAllByRole('link');
    expect(plans.map((link) => link.getAttribute('href'))).toEqual([
      '/subscribe/starter',
      '/subscribe/creator-pro',
      '/subscribe/business',
    ]);
    expect(screen.getByText('Most Popular').closest('th')).toHaveTextContent('Creator Pro$15/month');
  });

  it.each([
    ['AI Storyline', 'Included'],
    // Nobody pays for what is not there without being told.
    ['AI Quick Fixes', 'Being built'],
  ])('gives %s to Creator Pro+ alone: %s', (tool, state) => {
    renderAt('/upgrade', <UpgradePage />);
    const row = screen.getByRole('rowheader', { name: tool }).closest('tr');
    const cells = [...(row?.querySelectorAll('td') ?? [])].map((cell) => cell.textContent);
    expect(cells).toEqual(['–Not included', '–Not included', state]);
  });

  it('marks the own plan instead of offering it', async () => {
    server.use(signedIn({ ...user, plan: 'business' }));
    renderAt('/upgrade', <UpgradePage />);
    expect(await screen.findByText('Your plan')).toBeInTheDocument();
    expect(screen.queryByRole('link', { name: 'Choose Creator Pro+' })).not.toBeInTheDocument();
  });
});
