/**
 * Sentences that the server answers and the pages say by themselves too. Those of errors stand in `errors.ts`, and what
 * only pages say in `web/texts/`.
 */
export const MESSAGES = {
  passwordMissing: 'Password is required',
  passwordUnconfirmed: 'Please confirm your password',
  passwordsDiffer: "Passwords don't match",
  badLink: 'Invalid verification link. Please check your email for the correct link.',
  signedOut: 'You have been signed out of your account.',
  tokenNameMissing: 'Please give the token a name.',
  tokenScopeMissing: 'Choose at least one permission.',
  ideaMissing: 'Your idea description is required.',
  noDemoDownloads:
    'Downloads are not available for demo videos. In production, you would be able to download your processed videos.',
  unknownError: 'Unknown error',
  /** What a request that was cancelled, or failed, left as it was. */
  clipKept: 'Your clip is as it was.',
  captionsKept: 'Your captions are as they were.',
  clipAndCaptionsKept: 'Your clip and its captions are as they were.',
} as const;
