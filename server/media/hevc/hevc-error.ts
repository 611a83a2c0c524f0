/** A bit stream that violates HEVC's syntax or uses a part of it that is not supported here. */
export class HevcError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'HevcError';
  }
}

/** A bit stream that uses a part of HEVC that is not supported here, so that nothing can be said about it. */
export class HevcUnsupportedError extends HevcError {
  constructor(message: string) {
    super(message);
    this.name = 'HevcUnsupportedError';
  }
}
