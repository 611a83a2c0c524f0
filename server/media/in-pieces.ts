/** Cuts a stream of chunks into pieces of one size; the rest at the end is dropped. */
export function inPieces(size: number, take: (piece: Buffer) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    const whole = bytes.length - (bytes.length % size);
    for (let at = 0; at < whole; at += size) take(bytes.subarray(at, at + size));
    rest = Buffer.from(bytes.subarray(whole));
  };
}
