import { ERRORS } from '#common/errors.ts';
import { MESSAGES } from '#common/messages.ts';

/** Texts of signing in and up, of mailed links and new passwords. */
export const authTexts = {
  pageTitle: 'Sign in',
  tagline: 'Never lose another video draft',
  lead: 'Sign in to bring in a clip, watch it being mended and keep every draft backed up.',
  signedOut: 'You are signed out. Sign in and this page opens.',
  terms: 'By signing in, you agree to our Terms of Service and Privacy Policy.',

  signIn: 'Sign In',
  signUp: 'Sign Up',
  identifier: 'Username or email',
  username: 'Username',
  usernameHint: '3 to 20 letters, numbers, hyphens or underscores',
  email: 'Email',
  password: 'Password',
  passwordHint: 'At least 8 characters with a lowercase letter, an uppercase letter and a number',
  passwordEasy: 'This password is easy to guess. Several words together are safer.',
  confirmPassword: 'Confirm Password',
  signingIn: 'Signing in...',
  signingUp: 'Creating account...',
  forgot: 'Forgot password?',

  welcome: 'Welcome back!',
  welcomeDetail: (name: string) => `Signed in as ${name}.`,
  loginFailed: 'Login failed',
  loginFailedDetail: ERRORS.invalid_credentials.message,
  notVerified: ERRORS.email_not_verified.message,
  notVerifiedDetail: 'Please verify your email before logging in.',
  registrationFailed: 'Registration failed',
  registrationFailedDetail: 'Your account could not be created. Please try again.',

  resendPanel: 'Your email address needs to be verified before you can log in.',
  resendLabel: 'Email or username',
  resend: 'Resend verification email',
  resending: 'Sending...',
  resent: 'Verification email sent',
  resentDetail: 'Use the newest link in your inbox.',
  resendFailed: 'Failed to resend email',
  tryAgain: 'Please try again.',

  checkTitle: 'Check your email',
  checkText: (email: string) =>
    `A link to confirm ${email} is on its way. Open it to activate your account, then sign in.`,
  checkHint: 'Nothing there? Check the spam folder, or have the link sent again.',
  readyTitle: 'Your account is ready',
  readyText: 'Nothing has to be confirmed here: sign in with what you have just chosen.',
  toHome: 'Continue',
  mailbox: 'Open the mailbox of this server',

  forgotTitle: 'Forgot your password?',
  forgotText: 'Enter your email or username, and we send you a link for a new password.',
  forgotSend: 'Send the link',
  forgotSent: 'If there is such an account, the link is on its way. It works once, within one hour.',
  back: 'Back to Sign In',

  reset: {
    title: 'Choose a new password',
    password: 'New password',
    save: 'Save the new password',
    saving: 'Saving...',
    doneTitle: 'Password changed',
    doneText: 'You were signed out everywhere. Sign in with the new password.',
    toSignIn: 'Continue to Login',
    noToken: 'This link is incomplete. Open the newest one in your inbox.',
    failed:
      'The password could not be changed. The link may have expired or been used already: ask for a new one on the sign-in page.',
  },

  mailboxPage: {
    title: 'Mailbox',
    lead: 'This server sends no email. What it would send is kept here, for this machine only.',
    unavailable: 'There is no mailbox here: this server really sends its email.',
    empty: 'No email yet.',
    refresh: 'Refresh',
  },

  verify: {
    title: 'Email verification',
    loading: 'Verifying your email...',
    success: 'Email verified',
    successText: 'Your address is confirmed. Welcome to Reelmend.',
    toLogin: 'Continue to Login',
    failed: 'Verification failed',
    backToLogin: 'Back to Login',
    noToken: MESSAGES.badLink,
    expired: ERRORS.invalid_token.message,
    network: 'Failed to verify email. Please try again later.',
  },
} as const;
