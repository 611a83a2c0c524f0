import type { FileHandle } from 'node:fs/promises';
import { isSlice, NAL, nalType, opensPicture } from '#server/media/h264/nal.ts';
import { readUpTo } from '#server/media/mp4/file-bytes.ts';

/** What x264 says about itself in a message in its first picture. */
export interface EncoderNote {
  /** Its version: `core 164` since 2022, `core 133` in 2013. */
  readonly core: number;
  /** Requested settings by name. */
  readonly options: ReadonlyMap<string, string>;
}

/** The first key picture of a clip with an encoder's note. */
export interface NotedPicture {
  readonly note: EncoderNote;
  /** The unit with the note; decoders use it to correct errors of single encoder versions. */
  readonly message: Buffer;
  /** Slices of the picture, decode order. */
  readonly slices: readonly Buffer[];
}

const NAME = 'x264 - core ';
const OPTIONS = ' options: ';

/**
 * Reads the text of a note.
 * @returns null for other texts, and for notes of builds that leave their settings out
 */
export function readNote(text: string): EncoderNote | null {
  const core = /^x264 - core (\d{1,4})\b/.exec(text)?.[1];
  const at = text.indexOf(OPTIONS);
  if (core === undefined || at < 0) return null;
  const options = text
    .slice(at + OPTIONS.length)
    .split(' ')
    .flatMap((word): [string, string][] => {
      const equals = word.indexOf('=');
      return equals > 0 ? [[word.slice(0, equals), word.slice(equals + 1)]] : [];
    });
  return { core: Number(core), options: new Map(options) };
}

/** The note stands in the first picture; no more of the media than this is searched for it. */
const MOST_SEARCHED = 64 << 20;
const PIECE_BYTES = 4 << 20;
/** Longer than any note (about 700 characters) with the name and the message's head. */
const NOTE_BYTES = 4096;
/** A key picture and what stands before it. */
const PICTURE_BYTES = 8 << 20;
/** x264 uses unit lengths of four bytes, whoever writes the file. */
export const LENGTH_BYTES = 4;

/** Finds the first picture with an encoder's note from `start` on; null if there is none. */
export async function findNotedPicture(
  file: FileHandle,
  start: number,
  end: number,
  signal?: AbortSignal,
): Promise<NotedPicture | null> {
  const last = Math.min(end, start + MOST_SEARCHED);
  for (let from = start; from < last; from += PIECE_BYTES - NOTE_BYTES) {
    signal?.throwIfAborted();
    const piece = await readUpTo(file, from, Math.min(PIECE_BYTES, end - from));
    for (let at = piece.indexOf(NAME, 0, 'latin1'); at >= 0; at = piece.indexOf(NAME, at + 1, 'latin1')) {
      const message = messageAround(piece, at);
      const note = message && readNote(piece.toString('latin1', at, message.end));
      if (!message || !note) continue;
      const behind = from + message.end;
      const slices = slicesIn(await readUpTo(file, behind, Math.min(PICTURE_BYTES, end - behind)));
      if (slices.length > 0) return { note, message: Buffer.from(message.unit), slices };
    }
  }
  return null;
}

/** Bytes before the text: lengths, types and a mark of 16 bytes; others may stand between. */
const MOST_HEAD_BYTES = 96;

/** The message unit around a text; null if there is none. */
function messageAround(
  bytes: Buffer,
  textAt: number,
): { readonly unit: Buffer; readonly end: number } | null {
  for (let at = textAt - LENGTH_BYTES - 1; at >= Math.max(0, textAt - MOST_HEAD_BYTES); at--) {
    const length = bytes.readUInt32BE(at);
    const end = at + LENGTH_BYTES + length;
    const isMessage = bytes[at + LENGTH_BYTES] === NAL.sei;
    if (isMessage && length < NOTE_BYTES && end > textAt && end <= bytes.length)
      return { unit: bytes.subarray(at + LENGTH_BYTES, end), end };
  }
  return null;
}

/** Units that may stand between the note and the slices of its picture. */
const BESIDE = new Set<number>([NAL.sei, NAL.sps, NAL.pps, NAL.accessUnitDelimiter]);

/** The slices of the key picture that begins here; none if something else begins, or the picture is cut off. */
function slicesIn(bytes: Buffer): Buffer[] {
  const slices: Buffer[] = [];
  for (let at = 0; at + LENGTH_BYTES < bytes.length;) {
    const end = at + LENGTH_BYTES + bytes.readUInt32BE(at);
    const unit = bytes.subarray(at + LENGTH_BYTES, end);
    const continues =
      isSlice(unit) && nalType(unit) === NAL.idrSlice && opensPicture(unit) === (slices.length === 0);
    if (!continues && (slices.length > 0 || !BESIDE.has(nalType(unit)))) return slices;
    if (end > bytes.length) return [];
    if (continues) slices.push(Buffer.from(unit));
    at = end;
  }
  return slices;
}
