/** Why an MP4 cannot be read or changed here; the message is one sentence that may be shown to people. */
export class Mp4Error extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Mp4Error';
  }
}

/** The result of reading; null where the boxes are damaged. */
export async function readable<T>(read: () => T | Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Mp4Error) return null;
    throw error;
  }
}
