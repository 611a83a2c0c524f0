/** A bit stream that breaks HEVC's syntax, or uses a part of it that is not supported here. */
export class HevcError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'HevcError';
  }
}
