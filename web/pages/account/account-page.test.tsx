import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import axe from 'axe-core';
import { HttpResponse } from 'msw';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { accountApi, type StorageUse } from '#common/api/account.ts';
import { apiAccessApi, type ApiTokenDto } from '#common/api/api-access.ts';
import { authApi, type SessionUser } from '#common/api/auth.ts';
import { videosApi } from '#common/api/videos.ts';
import { useSession } from '../../data/account/session.ts';
import { renderAt } from '../../test/render.tsx';
import { on, refusal, server, signedIn, user } from '../../test/server.ts';
import { AccountPage } from './account-page.tsx';

const MIB = 1024 ** 2;
const use: StorageUse = {
  originalsBytes: 6 * MIB,
  versionsBytes: 3 * MIB,
  exportsBytes: MIB,
  extrasBytes: 0,
  uploadsBytes: 0,
  totalBytes: 10 * MIB,
};
const held: ApiTokenDto = {
  id: 'token-1',
  name: 'Upload script',
  scopes: ['read', 'write'],
  hint: 'pat_abcdef',
  createdAt: '2026-05-01T10:00:00.000Z',
  lastUsedAt: null,
  expiresAt: '2026-05-02T10:00:00.000Z',
};
const pro: SessionUser = { ...user, plan: 'business', trialEndsAt: '2026-06-08T10:00:00.000Z' };
const person = userEvent.setup({ delay: null });

function Gate() {
  const { status } = useSession();
  return status === 'signed-in' ? <AccountPage /> : <p>{status}</p>;
}

/** Opens the page as a user; `tokens` are the tokens of the account. */
async function open(who: SessionUser = user, tokens: ApiTokenDto[] = []) {
  server.use(
    signedIn(who),
    on(accountApi.storage, () => HttpResponse.json(use)),
    on(apiAccessApi.list, () => HttpResponse.json(tokens)),
    on(videosApi.stats, () =>
      HttpResponse.json({
        videosProcessed: 3,
        draftsSaved: 3,
        issuesFixed: 9,
        timeSaved: '1h',
        quota: { used: 3, limit: 5, resetsAt: '2026-07-01T00:00:00.000Z' },
      }),
    ),
  );
  const page = renderAt('/account', <Gate />);
  await screen.findByRole('heading', { name: 'Account' });
  return page;
}
const part = (name: string) => within(screen.getByRole('region', { name }));

beforeEach(() => {
  vi.restoreAllMocks();
});

describe('AccountPage', () => {
  it('shows plan, trial, the month and a link to the plans', async () => {
    await open(pro);
    const plan = part('Plan');
    expect(plan.getByText('Creator Pro+')).toBeInTheDocument();
    expect(plan.getByText('Trial until')).toBeInTheDocument();
    expect(await plan.findByText('3 of 5')).toBeInTheDocument();
    expect(plan.getByRole('link', { name: 'Compare plans' })).toHaveAttribute('href', '/upgrade');
    expect(plan.getByRole('link', { name: 'Open the analytics' })).toHaveAttribute('href', '/analytics');
  });

  it('splits the storage into originals, versions and exports', async () => {
    await open();
    const storage = part('Storage');
    expect(await storage.findByText('10 MB in use')).toBeInTheDocument();
    expect(
      storage.getByRole('img', {
        name: 'How the storage is divided: Originals 6 MB, Versions 3 MB, Exports 1 MB',
      }),
    ).toBeInTheDocument();
    expect(storage.queryByText('Unfinished uploads')).not.toBeInTheDocument();
  });

  it('says when the storage cannot be read and reads it again', async () => {
    await open();
    await part('Storage').findByText('10 MB in use');
    server.use(on(accountApi.storage, () => refusal('internal')));
    renderAt('/account', <Gate />);
    expect(await screen.findByText('Your storage use could not be loaded.')).toBeInTheDocument();
    server.use(on(accountApi.storage, () => HttpResponse.json({ ...use, totalBytes: 11 * MIB })));
    await person.click(screen.getByRole('button', { name: 'Retry' }));
    expect(await screen.findByText('11 MB in use')).toBeInTheDocument();
  });

  it('offers all data by a plain link', async () => {
    await open();
    const link = screen.getByRole('link', { name: 'Download all my data' });
    expect(link).toHaveAttribute('href', '/api/account/export');
    expect(link).toHaveAttribute('download');
  });

  it('has no accessibility problem that a tool can find', async () => {
    const { container } = await open(pro, [held]);
    await screen.findByText('Upload script');
    const { violations } = await axe.run(container, { rules: { 'color-contrast': { enabled: false } } });
    expect(violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
  });
});

describe('changing the password', () => {
  async function fill(present: string, next: string, again: string): Promise<void> {
    const form = part('Change password');
    await person.type(form.getByLabelText('Current password'), present);
    await person.type(form.getByLabelText('New password'), next);
    await person.type(form.getByLabelText('Repeat the new password'), again);
    await person.click(form.getByRole('button', { name: 'Change password' }));
  }

  it('sends old and new, then empties the form', async () => {
    const bodies: unknown[] = [];
    await open();
    server.use(
      on(authApi.changePassword, async (request) => {
        bodies.push(await request.json());
        return HttpResponse.json({ message: 'ok' });
      }),
    );
    await fill('Old-pass-1', 'New-pass-2', 'New-pass-2');
    expect(await screen.findByText('Password changed')).toBeInTheDocument();
    expect(bodies).toEqual([{ password: 'Old-pass-1', newPassword: 'New-pass-2' }]);
    expect(part('Change password').getByLabelText('Current password')).toHaveValue('');
  });

  it('refuses a different repetition before anything is sent', async () => {
    let sent = 0;
    await open();
    server.use(
      on(authApi.changePassword, () => {
        sent += 1;
        return HttpResponse.json({ message: 'ok' });
      }),
    );
    await fill('Old-pass-1', 'New-pass-2', 'New-pass-3');
    expect(await screen.findByText("Passwords don't match")).toBeInTheDocument();
    expect(sent).toBe(0);
  });

  it('names the field when the current password is wrong', async () => {
    await open();
    server.use(on(authApi.changePassword, () => refusal('invalid_credentials')));
    await fill('Wrong-pass-1', 'New-pass-2', 'New-pass-2');
    expect(await screen.findByText('The current password is wrong.')).toBeInTheDocument();
    expect(part('Change password').getByLabelText('Current password')).toHaveAttribute(
      'aria-invalid',
      'true',
    );
    expect(screen.getByRole('heading', { name: 'Account' })).toBeInTheDocument();
  });
});

describe('deleting the account', () => {
  async function fill(name: string): Promise<void> {
    const form = part('Delete account');
    await person.type(form.getByLabelText('Type mara-films to confirm'), name);
    await person.type(form.getByLabelText('Password'), 'Old-pass-1');
    await person.click(form.getByRole('button', { name: 'Delete my account' }));
  }

  it('asks once more, deletes, drops all cached data and goes to the landing page', async () => {
    const confirm = vi.spyOn(window, 'confirm').mockReturnValue(true);
    const bodies: unknown[] = [];
    const { client } = await open();
    client.setQueryData(['', 'api', 'secret'], 'of this account');
    server.use(
      on(accountApi.remove, async (request) => {
        bodies.push(await request.json());
        server.use(on(authApi.currentUser, () => refusal('signed_out')));
        return HttpResponse.json({ message: 'gone' });
      }),
    );
    await fill('mara-films');
    expect(await screen.findByText('Account deleted')).toBeInTheDocument();
    expect(confirm).toHaveBeenCalledWith(
      'Delete the account mara-films with all its videos and backups? This cannot be undone.',
    );
    expect(bodies).toEqual([{ password: 'Old-pass-1' }]);
    expect(client.getQueryData(['', 'api', 'secret'])).toBeUndefined();
    await waitFor(() => expect(screen.getByTestId('place')).toHaveTextContent(/^\/$/));
    expect(screen.getByText('signed-out')).toBeInTheDocument();
  });

  it('sends nothing when the question is answered with no', async () => {
    const confirm = vi.spyOn(window, 'confirm').mockReturnValue(false);
    let sent = 0;
    await open();
    server.use(
      on(accountApi.remove, () => {
        sent += 1;
        return HttpResponse.json({ message: 'gone' });
      }),
    );
    await fill('mara-films');
    await waitFor(() => expect(confirm).toHaveBeenCalledOnce());
    expect(screen.getByRole('button', { name: 'Delete my account' })).toBeEnabled();
    expect(screen.queryByText(/Account not deleted/)).not.toBeInTheDocument();
    expect(sent).toBe(0);
  });

  it('does not even ask when the name is typed wrong', async () => {
    const confirm = vi.spyOn(window, 'confirm').mockReturnValue(true);
    await open();
    await fill('mara');
    expect(await screen.findByText('Please type mara-films')).toBeInTheDocument();
    expect(confirm).not.toHaveBeenCalled();
  });

  it('shows why the server refused', async () => {
    vi.spyOn(window, 'confirm').mockReturnValue(true);
    await open();
    server.use(on(accountApi.remove, () => refusal('invalid_input', 'The password is wrong.')));
    await fill('mara-films');
    expect(await screen.findByText(/Account not deleted\. The password is wrong\./)).toBeInTheDocument();
  });
});

describe('access tokens', () => {
  it('are locked on plans without the API', async () => {
    await open();
    const tokens = part('Access tokens');
    expect(tokens.getByText('API access is part of Creator Pro+.')).toBeInTheDocument();
    expect(tokens.getByRole('link', { name: 'Compare plans' })).toHaveAttribute('href', '/upgrade');
    expect(tokens.queryByRole('button', { name: 'Create token' })).not.toBeInTheDocument();
  });

  it('can still be revoked after a change of plan', async () => {
    await open(user, [held]);
    expect(await screen.findByText(/You can still revoke them/)).toBeInTheDocument();
    expect(screen.getByRole('button', { name: 'Revoke Upload script' })).toBeEnabled();
  });

  it('are shown once, copied, and then gone from the page', async () => {
    const bodies: unknown[] = [];
    await open(pro);
    expect(await screen.findByText('No tokens yet.')).toBeInTheDocument();
    const secret = `pat_${'x'.repeat(43)}`;
    server.use(
      on(apiAccessApi.list, () => HttpResponse.json([held])),
      on(apiAccessApi.create, async (request) => {
        bodies.push(await request.json());
        return HttpResponse.json({ token: secret, details: held });
      }),
    );
    await person.type(screen.getByLabelText('Name'), 'Upload script');
    await person.click(screen.getByRole('checkbox', { name: /Write/ }));
    await person.selectOptions(screen.getByLabelText('Valid for'), '30 days');
    await person.click(screen.getByRole('button', { name: 'Create token' }));
    expect(await screen.findByLabelText('Token')).toHaveValue(secret);
    expect(bodies).toEqual([{ name: 'Upload script', scopes: ['read', 'write'], expiresInDays: 30 }]);
    await person.click(screen.getByRole('button', { name: 'Copy' }));
    expect(await navigator.clipboard.readText()).toBe(secret);
    expect(await screen.findByRole('button', { name: 'Copied' })).toBeInTheDocument();
    await person.click(screen.getByRole('button', { name: 'I have saved it' }));
    expect(screen.queryByDisplayValue(secret)).not.toBeInTheDocument();
    expect(await screen.findByText('Upload script')).toBeInTheDocument();
  });

  it('are valid until revoked when no end is chosen', async () => {
    const bodies: unknown[] = [];
    await open(pro);
    server.use(
      on(apiAccessApi.create, async (request) => {
        bodies.push(await request.json());
        return HttpResponse.json({ token: 'pat_1', details: held });
      }),
    );
    await person.type(screen.getByLabelText('Name'), 'Reader');
    await person.selectOptions(screen.getByLabelText('Valid for'), 'Until revoked');
    await person.click(screen.getByRole('button', { name: 'Create token' }));
    await waitFor(() => expect(bodies).toEqual([{ name: 'Reader', scopes: ['read'] }]));
  });

  it('need a name and a permission', async () => {
    await open(pro);
    await person.click(screen.getByRole('checkbox', { name: /Read/ }));
    await person.click(screen.getByRole('button', { name: 'Create token' }));
    expect(await screen.findByText('Please give the token a name.')).toBeInTheDocument();
    expect(screen.getByText('Choose at least one permission.')).toBeInTheDocument();
  });

  it('are revoked after a question, and an expired one says so', async () => {
    vi.spyOn(window, 'confirm').mockReturnValue(true);
    await open(pro, [held]);
    const revoke = await screen.findByRole('button', { name: 'Revoke Upload script' });
    expect(screen.getByText('Expired')).toBeInTheDocument();
    const revoked: string[] = [];
    server.use(
      on(apiAccessApi.list, () => HttpResponse.json([])),
      on(apiAccessApi.revoke, (request) => {
        revoked.push(new URL(request.url).pathname);
        return HttpResponse.json({ message: 'ok' });
      }),
    );
    await person.click(revoke);
    expect(await screen.findByText('No tokens yet.')).toBeInTheDocument();
    expect(revoked).toEqual(['/api/tokens/token-1']);
  });
});
