import { z } from 'zod';

/**
 * Every error of the API: code -> HTTP status, and the message used when the thrower gives none. Clients depend on the
 * code, never on the text (except on the login page, where the specification matches the text).
 */
export const ERRORS = {
  bad_request: { status: 400, message: 'The request could not be understood.' },
  invalid_input: { status: 400, message: 'Some of the values are not valid.' },
  invalid_credentials: { status: 401, message: 'Invalid credentials' },
  signed_out: { status: 401, message: 'Please sign in to continue.' },
  email_not_verified: { status: 403, message: 'Email not verified' },
  invalid_token: {
    status: 400,
    message: 'Failed to verify email. The link may be expired or invalid.',
  },
  forbidden_origin: { status: 403, message: 'This request came from another site and was refused.' },
  forbidden_scope: { status: 403, message: 'This access token may not do that.' },
  plan_required: { status: 403, message: 'Your plan does not include this feature.' },
  quota_reached: { status: 403, message: 'You have used all videos of your plan for this month.' },
  not_found: { status: 404, message: 'Not found.' },
  method_not_allowed: { status: 405, message: 'This address does not answer that method.' },
  username_taken: { status: 409, message: 'Username is already taken' },
  email_taken: { status: 409, message: 'Email is already registered' },
  conflict: { status: 409, message: 'This was changed meanwhile. Reload and try again.' },
  upload_incomplete: { status: 409, message: 'The upload is not complete yet.' },
  not_ready: { status: 409, message: 'Video file not available. Please try processing the video again.' },
  export_pending: { status: 409, message: 'The file of this size is being made. Please try again soon.' },
  too_slow: { status: 408, message: 'The request took too long to arrive. Please try again.' },
  gone: { status: 410, message: 'This upload has expired. Please start again.' },
  checksum_mismatch: {
    status: 460,
    message: 'A part of the file was changed on its way and must be sent again.',
  },
  tus_version: { status: 412, message: 'This server speaks version 1.0.0 of the tus protocol.' },
  too_large: { status: 413, message: 'The file is larger than the limit of 2 GB.' },
  unsupported_type: { status: 415, message: 'This type of file or request is not supported.' },
  size_mismatch: {
    status: 422,
    message: 'The size of the stored file differs from the size you gave. Please upload it again.',
  },
  rate_limited: { status: 429, message: 'Too many attempts. Please wait a moment and try again.' },
  internal: { status: 500, message: 'Something went wrong on our side. Please try again.' },
  method_unknown: { status: 501, message: 'This method is not known here.' },
  not_available: { status: 501, message: 'This is not available on this server yet.' },
  unavailable: { status: 503, message: 'The service is not available right now. Please try again.' },
  storage_full: {
    status: 507,
    message: 'The server has no room left for this file. Please try again later.',
  },
} as const satisfies Record<string, { status: number; message: string }>;

export type ErrorCode = keyof typeof ERRORS;

function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && value in ERRORS;
}

export const errorCode = z.custom<ErrorCode>(isErrorCode);

/** Body of every error answer: `error` repeats `message` because the verification page reads it. */
export const errorBody = z.object({
  code: errorCode,
  message: z.string(),
  error: z.string(),
  /** Field messages of an `invalid_input` answer: path -> text. */
  fields: z.record(z.string(), z.string()).optional(),
  requestId: z.string().optional(),
});
export type ErrorBody = z.infer<typeof errorBody>;
