import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { authApi } from '#common/api/auth.ts';
import { renderAt } from '../../test/render.tsx';
import { on, refusal, server, signedIn, user } from '../../test/server.ts';
import { AuthPage } from './auth-page.tsx';

const person = userEvent.setup({ delay: null });

beforeEach(() => {
  // The specification requires these failures on the console as well.
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
});

async function openSignUp(): Promise<HTMLElement> {
  renderAt('/auth', <AuthPage />);
  await person.click(screen.getByRole('tab', { name: 'Sign Up' }));
  return screen.getByRole('tabpanel');
}

async function fill(panel: HTMLElement, fields: Readonly<Record<string, string>>): Promise<void> {
  for (const [label, value] of Object.entries(fields)) {
    const input = within(panel).getByLabelText(label);
    await person.clear(input);
    if (value !== '') await person.type(input, value);
  }
}

const GOOD = {
  Username: 'mara-films',
  Email: 'mara@example.test',
  Password: 'Mended-42x',
  'Confirm Password': 'Mended-42x',
};

describe('the sign-in form', () => {
  it('shows the tagline, the terms and Sign In as the first tab', () => {
    renderAt('/auth', <AuthPage />);
    expect(screen.getByText('Never lose another video draft')).toBeInTheDocument();
    expect(screen.getByText(/agree to our Terms of Service and Privacy Policy/)).toBeInTheDocument();
    expect(screen.getByRole('tab', { name: 'Sign In' })).toHaveAttribute('aria-selected', 'true');
  });

  it('says why it is shown instead of a page, and starts at the top', () => {
    const scrolled = vi.spyOn(window, 'scrollTo').mockImplementation(() => undefined);
    renderAt('/videos', <AuthPage stay />);
    expect(screen.getByText('You are signed out. Sign in and this page opens.')).toBeInTheDocument();
    expect(scrolled).toHaveBeenCalledWith(0, 0);
  });

  it('names what is missing and sends nothing', async () => {
    renderAt('/auth', <AuthPage />);
    await person.click(screen.getByRole('button', { name: 'Sign In' }));
    expect(await screen.findByText('Username or email is required')).toBeInTheDocument();
    expect(screen.getByText('Password is required')).toBeInTheDocument();
    expect(screen.getByLabelText('Username or email')).toHaveFocus();
  });

  it('goes to the landing page after signing in', async () => {
    let open = false;
    server.use(
      on(authApi.login, () => {
        open = true;
        return HttpResponse.json({ user });
      }),
      on(authApi.currentUser, () => (open ? HttpResponse.json({ user }) : refusal('signed_out'))),
    );
    renderAt('/auth', <AuthPage />);
    await person.type(screen.getByLabelText('Username or email'), 'mara@example.test');
    await person.type(screen.getByLabelText('Password'), 'Mended-42x');
    await person.click(screen.getByRole('button', { name: 'Sign In' }));
    expect(await screen.findByText('Welcome back!')).toBeInTheDocument();
    await expect.poll(() => screen.getByTestId('place').textContent).toBe('/');
  });

  it('sends a signed-in user straight to the landing page', async () => {
    server.use(signedIn());
    renderAt('/auth', <AuthPage />);
    await expect.poll(() => screen.getByTestId('place').textContent).toBe('/');
  });

  async function failWith(answer: () => Response): Promise<void> {
    server.use(on(authApi.login, answer));
    renderAt('/auth', <AuthPage />);
    await person.type(screen.getByLabelText('Username or email'), 'mara');
    await person.type(screen.getByLabelText('Password'), 'nope');
    await person.click(screen.getByRole('button', { name: 'Sign In' }));
  }

  it("shows Login failed with the server's message", async () => {
    await failWith(() => refusal('rate_limited'));
    expect(await screen.findByText('Login failed')).toBeInTheDocument();
    expect(screen.getByText('Too many attempts. Please wait a moment and try again.')).toBeInTheDocument();
    expect(console.error).toHaveBeenCalledOnce();
  });

  it('does not call the password wrong when there was no connection', async () => {
    await failWith(() => HttpResponse.error());
    expect(
      await screen.findByText('Reelmend cannot be reached right now: no connection.'),
    ).toBeInTheDocument();
    expect(screen.queryByText('Invalid credentials')).not.toBeInTheDocument();
  });

  it('says Invalid credentials when the server gives no message', async () => {
    await failWith(() => new HttpResponse(null, { status: 401 }));
    expect(await screen.findByText('Invalid credentials')).toBeInTheDocument();
  });

  it.each(['Email not verified', 'Account needs verification first'])(
    'offers to send the link again when the message is "%s"',
    async (message) => {
      await failWith(() => refusal('email_not_verified', message));
      expect(
        await screen.findByText('Your email address needs to be verified before you can log in.'),
      ).toBeInTheDocument();
      expect(screen.getByText('Please verify your email before logging in.')).toBeInTheDocument();
      const asked: unknown[] = [];
      server.use(
        on(authApi.resendVerification, async (request) => {
          asked.push(await request.json());
          return refusal('rate_limited');
        }),
      );
      await person.click(screen.getByRole('button', { name: 'Resend verification email' }));
      expect(await screen.findByText('Failed to resend email')).toBeInTheDocument();
      expect(asked).toEqual([{ email: 'mara' }]);
    },
  );
});

describe('the sign-up form', () => {
  it.each([
    ['Username', 'ab', 'Username must be at least 3 characters'],
    ['Username', 'a'.repeat(21), 'Username must be less than 20 characters'],
    ['Username', 'a b c', 'Username can only contain letters, numbers, hyphens, and underscores'],
    ['Email', '', 'Email is required'],
    ['Email', 'mara@', 'Please enter a valid email address'],
    ['Password', 'Mend-42', 'Password must be at least 8 characters'],
    [
      'Password',
      'mended-42x',
      'Password must contain at least one lowercase letter, one uppercase letter, and one number',
    ],
    ['Confirm Password', '', 'Please confirm your password'],
    ['Confirm Password', 'Other-42x', "Passwords don't match"],
  ])('refuses %s "%s" with its exact text', async (label, value, message) => {
    const panel = await openSignUp();
    await fill(panel, { ...GOOD, [label]: value });
    await person.click(within(panel).getByRole('button', { name: 'Sign Up' }));
    expect(await within(panel).findByText(message)).toBeInTheDocument();
    expect(within(panel).getByLabelText(label)).toHaveAccessibleDescription(expect.stringContaining(message));
  });

  it('links to the mailbox after a request for a new password, when the server sends no mail', async () => {
    server.use(
      on(authApi.forgotPassword, () => HttpResponse.json({ message: 'ok' })),
      http.get('*/api/dev/outbox', () => HttpResponse.json([])),
    );
    renderAt('/auth', <AuthPage />);
    await userEvent.click(await screen.findByRole('button', { name: 'Forgot password?' }));
    await userEvent.type(screen.getByLabelText(/Email or username/), 'mara{Enter}');
    expect(await screen.findByRole('link', { name: /mailbox/ })).toHaveAttribute('href', '/mailbox');
  });

  it('asks users to check their mailbox after registering', async () => {
    const sent: unknown[] = [];
    server.use(
      on(authApi.register, async (request) => {
        sent.push(await request.json());
        return HttpResponse.json({ message: 'ok' });
      }),
    );
    const panel = await openSignUp();
    await fill(panel, GOOD);
    await person.click(within(panel).getByRole('button', { name: 'Sign Up' }));
    expect(await screen.findByRole('heading', { name: 'Check your email' })).toHaveFocus();
    expect(sent).toEqual([{ username: GOOD.Username, email: GOOD.Email, password: GOOD.Password }]);
    expect(screen.getByRole('link', { name: 'Continue' })).toHaveAttribute('href', '/');
    expect(screen.queryByRole('link', { name: /mailbox/ })).not.toBeInTheDocument();
  });

  it('lets users sign in at once where no mail was sent', async () => {
    server.use(on(authApi.register, () => HttpResponse.json({ message: 'Ready.', emailVerified: true })));
    const panel = await openSignUp();
    await fill(panel, GOOD);
    await person.click(within(panel).getByRole('button', { name: 'Sign Up' }));
    expect(await screen.findByRole('heading', { name: 'Your account is ready' })).toHaveFocus();
    expect(screen.queryByText(/is on its way/)).not.toBeInTheDocument();
    expect(screen.getByLabelText('Username or email')).toBeVisible();
  });

  it('says why an account was not created and keeps what was typed', async () => {
    server.use(on(authApi.register, () => refusal('username_taken')));
    const panel = await openSignUp();
    await fill(panel, GOOD);
    await person.click(within(panel).getByRole('button', { name: 'Sign Up' }));
    expect(await screen.findByText('Registration failed')).toBeInTheDocument();
    expect(screen.getByText('Username is already taken')).toBeInTheDocument();
    expect(within(panel).getByLabelText('Username')).toHaveValue(GOOD.Username);
  });
});
