import { ERRORS, type ErrorCode } from '#common/errors.ts';

/** An expected failure with a code from `common/errors.ts`; the status comes from the code. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  /** Field messages for `invalid_input`: path -> text. */
  readonly fields: Readonly<Record<string, string>> | null;
  /** Seconds for a Retry-After header; null for none. */
  readonly retryAfterSeconds: number | null;

  constructor(
    code: ErrorCode,
    message: string = ERRORS[code].message,
    details: { fields?: Readonly<Record<string, string>>; retryAfterSeconds?: number } = {},
  ) {
    super(message);
    this.name = 'AppError';
    this.code = code;
    this.status = ERRORS[code].status;
    this.fields = details.fields ?? null;
    this.retryAfterSeconds = details.retryAfterSeconds ?? null;
  }
}

/** Message when a row exists but its bytes do not. */
export const FILE_GONE = 'The stored file is no longer available.';
/** Message for work that needs a finished video. */
export const NOT_FINISHED = 'This works once the video has been processed.';

/** Something private of another person gets the same answer as something that does not exist. */
export function notFound(): AppError {
  return new AppError('not_found');
}
