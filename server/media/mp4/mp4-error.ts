/** Why an MP4 cannot be read or changed here; the message is one sentence that may be shown to people. */
export class Mp4Error extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Mp4Error';
  }
}
