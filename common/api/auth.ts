import { z } from 'zod';
import { ERRORS } from '../errors.ts';
import { PASSWORD, USERNAME } from '../limits.ts';
import { MESSAGES } from '../messages.ts';
import { planSlug } from '../plan-slug.ts';
import { defineEndpoint, messageBody } from './endpoint.ts';
import { CURRENT_USER_PATH } from './session-path.ts';

/**
 * The signed-in user as the client sees it; never contains a password or its hash. Every field has a fallback,
 * so a user without a name is accepted too.
 */
export const sessionUser = z.object({
  id: z.string().catch(''),
  username: z.string().catch(''),
  email: z.string().catch(''),
  plan: planSlug.catch('starter'),
  emailVerified: z.boolean().catch(true),
  /** End of a running trial, ISO 8601; null without one. */
  trialEndsAt: z.string().nullable().catch(null),
  /** `off`: only the operator sets plans, and the sign-up wizard makes no call. */
  billing: z.enum(['trial', 'off']).optional(),
});
export type SessionUser = z.infer<typeof sessionUser>;

export const sessionBody = z.object({ user: sessionUser });
export type SessionBody = z.infer<typeof sessionBody>;

// Each message is also used for a missing field or one of another type, so that no generic message appears where a
// product message exists.
export const username = z
  .string('Username must be at least 3 characters')
  .min(USERNAME.min, 'Username must be at least 3 characters')
  .max(USERNAME.max, 'Username must be less than 20 characters')
  .regex(/^[A-Za-z0-9_-]+$/, 'Username can only contain letters, numbers, hyphens, and underscores');

// The empty field and the malformed address have separate texts (specification section 5).
export const email = z
  .string('Email is required')
  .min(1, 'Email is required')
  .max(254, 'Please enter a valid email address')
  .pipe(z.email('Please enter a valid email address'));

export const password = z
  .string('Password must be at least 8 characters')
  .min(PASSWORD.min, 'Password must be at least 8 characters')
  .max(PASSWORD.max, 'Password must be at most 128 characters')
  .regex(
    /^(?=[^]*[a-z])(?=[^]*[A-Z])(?=[^]*\d)/,
    'Password must contain at least one lowercase letter, one uppercase letter, and one number',
  );

export const loginBody = z.object({
  username: z
    .string('Username or email is required')
    .min(1, 'Username or email is required')
    .max(254, ERRORS.invalid_credentials.message),
  password: z
    .string(MESSAGES.passwordMissing)
    .min(1, MESSAGES.passwordMissing)
    .max(1024, ERRORS.invalid_credentials.message),
});

export const registerBody = z.object({ username, email, password });

/** The sign-up form: the registration rules plus the repeated password. */
export const registerForm = registerBody
  .extend({
    confirmPassword: z.string(MESSAGES.passwordUnconfirmed).min(1, MESSAGES.passwordUnconfirmed),
  })
  .refine((form) => form.password === form.confirmPassword, {
    message: MESSAGES.passwordsDiffer,
    path: ['confirmPassword'],
  });

/** Recipient of a mail: an address or a user name. */
const nameOrEmail = z
  .string('Email is required')
  .trim()
  .min(1, 'Email is required')
  .max(254, 'Please enter a valid email address');

/** A token of a mailed link: 32 random bytes in base64url. */
export const mailToken = z.string(MESSAGES.badLink).min(1, MESSAGES.badLink).max(128, MESSAGES.badLink);

export const authApi = {
  currentUser: defineEndpoint({
    method: 'GET',
    path: CURRENT_USER_PATH,
    summary: 'The signed-in user; 401 when nobody is signed in.',
    response: sessionBody,
  }),
  login: defineEndpoint({
    method: 'POST',
    path: '/api/auth/login',
    summary: 'Signs in with a username or email and a password.',
    body: loginBody,
    response: sessionBody,
  }),
  register: defineEndpoint({
    method: 'POST',
    path: '/api/auth/register',
    summary: 'Creates an account and mails a verification link.',
    status: 201,
    body: registerBody,
    /** `emailVerified`: no address has to be confirmed and no mail was sent, so the account can be used at once. */
    response: messageBody.extend({ emailVerified: z.boolean().default(false) }),
  }),
  resendVerification: defineEndpoint({
    method: 'POST',
    path: '/api/auth/resend-verification',
    summary: 'Mails the verification link again; the field takes an email or a username.',
    body: z.object({ email: nameOrEmail }),
    response: messageBody,
  }),
  verifyEmail: defineEndpoint({
    method: 'GET',
    path: '/api/auth/verify-email',
    summary: 'Verifies the address a token was mailed to.',
    query: z.object({ token: mailToken }),
    response: messageBody,
  }),
  forgotPassword: defineEndpoint({
    method: 'POST',
    path: '/api/auth/forgot-password',
    summary: 'Mails a link for a new password; the same answer for every address.',
    body: z.object({ email: nameOrEmail }),
    response: messageBody,
  }),
  resetPassword: defineEndpoint({
    method: 'POST',
    path: '/api/auth/reset-password',
    summary: 'Sets a new password by a mailed token and ends all other sessions.',
    body: z.object({ token: mailToken, password }),
    response: messageBody,
  }),
  changePassword: defineEndpoint({
    method: 'POST',
    path: '/api/auth/change-password',
    summary: 'Sets a new password and ends all other sessions.',
    body: z.object({
      password: z.string().min(1, MESSAGES.passwordMissing).max(1024),
      newPassword: password,
    }),
    response: messageBody,
  }),
  logout: defineEndpoint({
    method: 'POST',
    path: '/api/auth/logout',
    summary: 'Ends the session.',
    response: messageBody,
  }),
} as const;
