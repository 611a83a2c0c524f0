/** A bit stream that violates H.264's syntax or uses a part of it that is not supported here. */
export class H264Error extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'H264Error';
  }
}
