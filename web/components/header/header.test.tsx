import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse } from 'msw';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { authApi } from '#common/api/auth.ts';
import { notificationsApi } from '#common/api/notifications.ts';
import { renderAt } from '../../test/render.tsx';
import { on, refusal, server, signedIn, user } from '../../test/server.ts';
import { initialsOf } from './initials.ts';
import { Header } from './header.tsx';

const person = userEvent.setup({ delay: null });
const main = (): HTMLElement => screen.getAllByRole('navigation', { name: 'Main' })[0] ?? document.body;

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
});

describe('Header', () => {
  it('links visitors to the public places and to sign in', async () => {
    renderAt('/', <Header />);
    expect(await screen.findByRole('link', { name: 'Sign In' })).toHaveAttribute('href', '/auth');
    const places = within(main())
      .getAllByRole('link')
      .map((link) => [link.textContent, link.getAttribute('href')]);
    expect(places).toEqual([
      ['Home', '/'],
      ['Upload', '/#upload'],
      ['Pricing', '/#pricing'],
    ]);
    // Being signed out is an answer, not a failure.
    expect(screen.getByRole('alert')).toBeEmptyDOMElement();
  });

  it('adds library and board for a signed-in user', async () => {
    server.use(signedIn());
    renderAt('/', <Header />);
    expect(await screen.findByRole('link', { name: 'My Videos' })).toHaveAttribute('href', '/videos');
    expect(screen.getByRole('link', { name: 'Nice2Have' })).toHaveAttribute('href', '/nice2have');
    expect(screen.queryByRole('link', { name: 'Sign In' })).not.toBeInTheDocument();
  });

  it('links to four social sites', () => {
    renderAt('/', <Header />);
    const hosts = screen
      .getAllByRole('link')
      .map((link) => link.getAttribute('href') ?? '')
      .filter((href) => href.startsWith('https://'));
    expect(hosts.map((href) => new URL(href).hostname)).toEqual([
      'www.tiktok.com',
      'www.youtube.com',
      'x.com',
      'www.instagram.com',
    ]);
  });

  it('opens and closes the mobile menu with the same links', async () => {
    renderAt('/', <Header />);
    const button = screen.getByRole('button', { name: 'Open menu' });
    expect(button).toHaveAttribute('aria-expanded', 'false');
    await person.click(button);
    expect(button).toHaveAttribute('aria-expanded', 'true');
    expect(screen.getAllByRole('link', { name: 'Pricing' })).toHaveLength(2);
    await person.click(screen.getByRole('button', { name: 'Close menu' }));
    expect(screen.getAllByRole('link', { name: 'Pricing' })).toHaveLength(1);
  });

  it('links to the account in the mobile menu', async () => {
    server.use(signedIn());
    renderAt('/', <Header />);
    await screen.findByRole('link', { name: 'My Videos' });
    await person.click(screen.getByRole('button', { name: 'Open menu' }));
    await person.click(screen.getByRole('link', { name: 'Account' }));
    expect(screen.getByTestId('place')).toHaveTextContent('/account');
    expect(screen.getByRole('button', { name: 'Open menu' })).toBeInTheDocument();
  });

  it('lists events in the bell and marks the unread ones, at every width', async () => {
    const read = vi.fn();
    const notices = [
      { title: 'Ready: pier.mp4', read: false, link: '/videos' },
      { title: 'Failed: dunes.mp4', read: true, link: null },
    ].map((notice, index) => ({
      id: `notice-${index}`,
      kind: index === 0 ? 'video_ready' : 'video_failed',
      body: 'Details of it.',
      createdAt: '2026-05-04T09:00:00.000Z',
      ...notice,
    }));
    server.use(
      signedIn(),
      on(notificationsApi.list, () => HttpResponse.json({ notifications: notices, unread: 12 })),
      on(notificationsApi.markRead, () => {
        read();
        return HttpResponse.json({ message: 'ok' });
      }),
    );
    renderAt('/', <Header />);
    const bell = await screen.findByRole('button', { name: 'Notifications, 12 unread' });
    expect(screen.getByText('9+')).toBeInTheDocument();
    await person.click(screen.getByRole('button', { name: 'Open menu' }));
    await person.click(bell);
    // Two open sheets would cover each other on a phone.
    expect(screen.getByRole('button', { name: 'Open menu' })).toBeInTheDocument();
    const rows = screen.getAllByRole('menuitem');
    expect(rows.map((row) => row.getAttribute('href'))).toEqual(['/videos', null]);
    expect(rows.map((row) => within(row).queryByText('Unread') !== null)).toEqual([true, false]);
    expect(read).not.toHaveBeenCalled();
    await person.keyboard('{Escape}');
    await expect.poll(() => read.mock.calls.length).toBe(1);
  });

  it('shows name and email, disabled Settings and Sign out in the user menu', async () => {
    server.use(signedIn());
    renderAt('/', <Header />);
    const avatar = await screen.findByRole('button', { name: 'Account of mara-films' });
    expect(avatar).toHaveTextContent('MA');
    await person.click(avatar);
    expect(screen.getByText('mara-films')).toBeInTheDocument();
    expect(screen.getByText('mara@example.test')).toBeInTheDocument();
    expect(screen.getByRole('menuitem', { name: 'Account' })).toHaveAttribute('href', '/account');
    expect(screen.getByRole('menuitem', { name: 'Settings' })).toHaveAttribute('aria-disabled', 'true');
    expect(screen.getByRole('menuitem', { name: 'Sign out' })).toBeInTheDocument();
  });

  it('reads Signing out... while pending, then drops the user and all cached data', async () => {
    let open = true;
    const waiting: (() => void)[] = [];
    server.use(
      on(authApi.currentUser, () => (open ? HttpResponse.json({ user }) : refusal('signed_out'))),
      on(authApi.logout, async () => {
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
        });
        open = false;
        return HttpResponse.json({ message: 'bye' });
      }),
    );
    const { client } = renderAt('/videos', <Header />);
    client.setQueryData(['', 'api', 'secret'], 'of the first account');
    await person.click(await screen.findByRole('button', { name: 'Account of mara-films' }));
    await person.click(screen.getByRole('menuitem', { name: 'Sign out' }));
    expect(await screen.findByText('Signing out...')).toBeInTheDocument();
    await expect.poll(() => waiting.length).toBe(1);
    waiting[0]?.();
    expect(await screen.findByText('Logged out successfully')).toBeInTheDocument();
    expect(screen.getByText('You have been signed out of your account.')).toBeInTheDocument();
    expect(client.getQueryData(['', 'api', 'secret'])).toBeUndefined();
    expect(screen.getByRole('link', { name: 'Sign In' })).toBeInTheDocument();
  });

  it('says when signing out failed', async () => {
    server.use(
      signedIn(),
      on(authApi.logout, () => refusal('internal')),
    );
    renderAt('/', <Header />);
    await person.click(await screen.findByRole('button', { name: 'Account of mara-films' }));
    await person.click(screen.getByRole('menuitem', { name: 'Sign out' }));
    expect(await screen.findByText('Logout failed')).toBeInTheDocument();
    expect(screen.getByText('There was an error signing you out. Please try again.')).toBeInTheDocument();
  });
});

describe('initialsOf', () => {
  it('takes the user name, else the email, else U', () => {
    expect(initialsOf({ username: 'mara', email: 'x@y.z' })).toBe('MA');
    expect(initialsOf({ username: '', email: 'x@y.z' })).toBe('X@');
    expect(initialsOf({ username: '', email: '' })).toBe('U');
    expect(initialsOf({})).toBe('U');
  });
});
