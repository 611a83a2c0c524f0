import { screen, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { renderAt } from '../../test/render.tsx';
import { server, signedIn, user } from '../../test/server.ts';
import { UpgradePage } from './upgrade-page.tsx';

describe('UpgradePage', () => {
  it('links visitors to the three plans', () => {
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
    ['AI Quick Fixes and AI Storyline', [false, false, true]],
    ['Captions in the picture', [false, true, true]],
    ['API access', [false, false, true]],
  ])('says which plans have %s', (feature, included) => {
    renderAt('/upgrade', <UpgradePage />);
    const row = screen.getByRole('rowheader', { name: feature }).closest('tr');
    const cells = [...(row?.querySelectorAll('td') ?? [])].map((cell) => cell.textContent);
    expect(cells).toEqual(included.map((yes) => (yes ? 'Included' : '–Not included')));
  });

  it('marks the user’s own plan instead of offering it', async () => {
    server.use(signedIn({ ...user, plan: 'business' }));
    renderAt('/upgrade', <UpgradePage />);
    expect(await screen.findByText('Your plan')).toBeInTheDocument();
    expect(screen.queryByRole('link', { name: 'Choose Creator Pro+' })).not.toBeInTheDocument();
  });
});
