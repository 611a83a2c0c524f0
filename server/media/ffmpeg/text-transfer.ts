import { Transform } from 'node:stream';

/** What a transfer that takes a file for text can do to its bytes. */
export type TextTransfer = 'line_ends' | 'utf8' | 'seven_bits' | 'replaced' | 'no_line_feeds';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** Fewer bytes of a kind prove nothing; coded media have each value about once in 256 bytes. */
const MIN_EVIDENCE = 40;
/** Length without any line feed that coded media never have: the chance is e^-128. */
const MIN_WITHOUT = 32_768;
/** U+FFFD in UTF-8, which replaces each byte that was not text. */
const REPLACEMENT = Buffer.from([0xef, 0xbf, 0xbd]);
/**
 * Least share of the high bytes that belong to a U+FFFD in such a file; in media it occurs once in 16 million bytes.
 */
const MIN_REPLACED = 0.3;

/**
 * Tells from the first bytes of a file whether it went through a transfer for text. That may have put a carriage return
 * before every line feed (FTP in text mode), written Latin-1 as UTF-8, cleared the highest bit of all bytes, replaced
 * bytes by U+FFFD (text decoders), or removed every line feed. Coded media show none of these by chance.
 * @param head 64 KiB or more where the file has them; a stretch of zeros shows nothing
 */
export function detectTextTransfer(head: Buffer): TextTransfer | null {
  const counts = countBytes(head);
  if (counts.lineFeeds >= MIN_EVIDENCE && counts.bareLineFeeds === 0) return 'line_ends';
  if (counts.high === 0) return counts.control >= MIN_EVIDENCE ? 'seven_bits' : null;
  if (counts.high >= MIN_EVIDENCE && isLatin1AsUtf8(head)) return 'utf8';
  if (counts.high >= MIN_EVIDENCE && countReplaced(head) * REPLACEMENT.length >= MIN_REPLACED * counts.high)
    return 'replaced';
  return counts.lineFeeds === 0 && counts.filled >= MIN_WITHOUT ? 'no_line_feeds' : null;
}

function countBytes(head: Buffer) {
  let [lineFeeds, bareLineFeeds, high, control, filled] = [0, 0, 0, 0, 0];
  let before = 0;
  for (const byte of head) {
    if (byte === LINE_FEED) {
      lineFeeds++;
      if (before !== CARRIAGE_RETURN) bareLineFeeds++;
    }
    if (byte >= 0x80) high++;
    if (byte > 0) filled++;
    // Control characters that do not occur in text.
    if (byte > 0 && byte < 0x09) control++;
    before = byte;
  }
  return { lineFeeds, bareLineFeeds, high, control, filled };
}

/** Whether every byte from 0x80 on belongs to a pair that encodes a character below U+0100. */
function isLatin1AsUtf8(head: Buffer): boolean {
  // The last byte may be the first of a pair that was cut.
  const end = head.length - 1;
  for (let at = 0; at < end; at++) {
    const byte = head[at] ?? 0;
    if (byte < 0x80) continue;
    if ((byte !== 0xc2 && byte !== 0xc3) || ((head[at + 1] ?? 0) & 0xc0) !== 0x80) return false;
    at++;
  }
  return true;
}

function countReplaced(head: Buffer): number {
  let count = 0;
  for (let at = head.indexOf(REPLACEMENT); at >= 0; at = head.indexOf(REPLACEMENT, at + 3)) count++;
  return count;
}

/** A stream that undoes the transfer exactly; these two kinds lose nothing. */
export function undoTextTransfer(kind: 'line_ends' | 'utf8'): Transform {
  const undo = kind === 'line_ends' ? withoutReturns : fromUtf8;
  let rest: Buffer = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
      // The last byte of a chunk may belong with the first of the next.
      const end = bytes.length - 1;
      const isOpen = kind === 'line_ends' ? bytes[end] === CARRIAGE_RETURN : (bytes[end] ?? 0) >= 0xc0;
      rest = isOpen ? Buffer.from(bytes.subarray(end)) : Buffer.alloc(0);
      done(null, undo(isOpen ? bytes.subarray(0, end) : bytes));
    },
    flush(done) {
      done(null, rest);
    },
  });
}

function withoutReturns(bytes: Buffer): Buffer {
  const out = Buffer.allocUnsafe(bytes.length);
  let size = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === CARRIAGE_RETURN && bytes[at + 1] === LINE_FEED) continue;
    out[size++] = byte;
  }
  return out.subarray(0, size);
}

function fromUtf8(bytes: Buffer): Buffer {
  const out = Buffer.allocUnsafe(bytes.length);
  let size = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    const isPair = (byte === 0xc2 || byte === 0xc3) && at + 1 < bytes.length;
    out[size++] = isPair ? ((byte & 3) << 6) | ((bytes[++at] ?? 0) & 0x3f) : byte;
  }
  return out.subarray(0, size);
}
