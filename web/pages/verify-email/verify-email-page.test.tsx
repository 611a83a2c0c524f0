import { screen } from '@testing-library/react';
import { HttpResponse } from 'msw';
import { describe, expect, it } from 'vitest';
import { authApi } from '#common/api/auth.ts';
import { renderAt } from '../../test/render.tsx';
import { on, refusal, server } from '../../test/server.ts';
import { VerifyEmailPage } from './verify-email-page.tsx';

describe('VerifyEmailPage', () => {
  it('sends one request and says that the address is verified', async () => {
    const tokens: (string | null)[] = [];
    server.use(
      on(authApi.verifyEmail, (request) => {
        tokens.push(new URL(request.url).searchParams.get('token'));
        return HttpResponse.json({ message: 'ok' });
      }),
    );
    renderAt('/verify-email?token=abc', <VerifyEmailPage />);
    expect(screen.getByText('Verifying your email...')).toBeInTheDocument();
    expect(await screen.findByText('Email verified')).toBeInTheDocument();
    expect(screen.getByRole('link', { name: 'Continue to Login' })).toHaveAttribute('href', '/');
    expect(tokens).toEqual(['abc']);
  });

  it('sends no request without a token', () => {
    renderAt('/verify-email', <VerifyEmailPage />);
    expect(screen.getByText('Verification failed')).toBeInTheDocument();
    expect(
      screen.getByText('Invalid verification link. Please check your email for the correct link.'),
    ).toBeInTheDocument();
    expect(screen.getByRole('link', { name: 'Back to Login' })).toHaveAttribute('href', '/auth');
  });

  it.each([
    ["the server's error text", () => refusal('invalid_token', 'This link was used.'), 'This link was used.'],
    [
      'the text for a silent server',
      () => new HttpResponse(null, { status: 400 }),
      'Failed to verify email. The link may be expired or invalid.',
    ],
    [
      'the text for a failed network',
      () => HttpResponse.error(),
      'Failed to verify email. Please try again later.',
    ],
  ])('shows %s', async (_name, answer, text) => {
    server.use(on(authApi.verifyEmail, answer));
    renderAt('/verify-email?token=abc', <VerifyEmailPage />);
    expect(await screen.findByText(text)).toBeInTheDocument();
  });
});
