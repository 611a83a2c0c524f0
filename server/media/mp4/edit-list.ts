import { container, findBox, replaceBox, type Box } from './box.ts';
import { Mp4Error } from './mp4-error.ts';
import { withDuration } from './write-tables.ts';

/** One entry of an edit list (ISO/IEC 14496-12, 8.6.6). */
export interface Edit {
  /** Length on the movie's time axis, movie timescale ticks. */
  readonly durationTicks: number;
  /** First media time shown, media timescale ticks; -1 for an empty edit (a wait). */
  readonly mediaTime: number;
  readonly rate: number;
}

/** The edits of a track; empty when it has no edit list. */
export function readEditList(trak: Box): Edit[] {
  const elst = findBox(trak, 'edts/elst');
  if (!elst) return [];
  const bytes = elst.payload;
  if (bytes.length < 8) throw new Mp4Error('The edit list of the file is damaged.');
  const long = bytes[0] === 1;
  const count = bytes.readUInt32BE(4);
  const entryBytes = long ? 20 : 12;
  if (8 + count * entryBytes > bytes.length) throw new Mp4Error('The edit list of the file is damaged.');
  const edits: Edit[] = [];
  for (let index = 0; index < count; index++) {
    const at = 8 + index * entryBytes;
    edits.push({
      durationTicks: long ? Number(bytes.readBigUInt64BE(at)) : bytes.readUInt32BE(at),
      mediaTime: long ? Number(bytes.readBigInt64BE(at + 8)) : bytes.readInt32BE(at + 4),
      rate: bytes.readInt32BE(at + (long ? 16 : 8)) / 65536,
    });
  }
  return edits;
}

/**
 * A track with these edits in place of its own, behind its header as all writers put them; no list when there are none.
 */
export function withEditList(trak: Box, edits: readonly Edit[]): Box {
  const others = (trak.children ?? []).filter((box) => box.type !== 'edts');
  if (edits.length === 0) return container('trak', others);
  const edts = writeEditList(edits);
  return container(
    'trak',
    others.flatMap((box) => (box.type === 'tkhd' ? [box, edts] : [box])),
  );
}

/** The same, with a header that states the resulting duration; durations in ticks of the movie. */
export function withEdits(trak: Box, edits: readonly Edit[]): Box {
  const total = edits.reduce((sum, edit) => sum + edit.durationTicks, 0);
  const timed = replaceBox(trak, 'tkhd', (header) => withDuration(header, total));
  return withEditList(timed, edits);
}

/** Box `edts` for a list of edits; version 1 only when a value needs 64 bits. */
export function writeEditList(edits: readonly Edit[]): Box {
  const long = edits.some((edit) => edit.durationTicks > 0xffffffff || edit.mediaTime > 0x7fffffff);
  const entryBytes = long ? 20 : 12;
  const bytes = Buffer.alloc(8 + edits.length * entryBytes);
  bytes.writeUInt8(long ? 1 : 0, 0);
  bytes.writeUInt32BE(edits.length, 4);
  edits.forEach((edit, index) => {
    const at = 8 + index * entryBytes;
    if (long) {
      bytes.writeBigUInt64BE(BigInt(edit.durationTicks), at);
      bytes.writeBigInt64BE(BigInt(edit.mediaTime), at + 8);
    } else {
      bytes.writeUInt32BE(edit.durationTicks, at);
      bytes.writeInt32BE(edit.mediaTime, at + 4);
    }
    bytes.writeInt32BE(Math.round(edit.rate * 65536), at + (long ? 16 : 8));
  });
  const elst: Box = { type: 'elst', payload: bytes, children: null };
  return { type: 'edts', payload: Buffer.alloc(0), children: [elst] };
}

/** Effect of an ordinary edit list on a track's times: at most one wait, then one shown stretch. */
export interface SimpleEdit {
  /** Presentation time = media time + this, media timescale ticks. */
  readonly offsetTicks: number;
  /** Shown media times: from `startTicks` (included) to `endTicks` (excluded; Infinity when open). */
  readonly startTicks: number;
  readonly endTicks: number;
}

/**
 * The times of a track whose edits are waits followed by one shown stretch at normal rate. Null for any other list
 * (several stretches, other rates), which callers decline.
 */
export function toSimpleEdit(
  edits: readonly Edit[],
  movieTimescale: number,
  mediaTimescale: number,
): SimpleEdit | null {
  const shown = edits.filter((edit) => edit.mediaTime >= 0);
  const [stretch] = shown;
  if (!stretch) {
    return edits.length === 0 ? { offsetTicks: 0, startTicks: -Infinity, endTicks: Infinity } : null;
  }
  if (shown.length > 1 || stretch.rate !== 1 || edits.at(-1) !== stretch) return null;
  const waitTicks = edits
    .filter((edit) => edit !== stretch)
    .reduce((sum, edit) => sum + edit.durationTicks, 0);
  const toMedia = (ticks: number) => Math.round((ticks * mediaTimescale) / movieTimescale);
  return {
    offsetTicks: toMedia(waitTicks) - stretch.mediaTime,
    startTicks: stretch.mediaTime,
    endTicks: stretch.durationTicks === 0 ? Infinity : stretch.mediaTime + toMedia(stretch.durationTicks),
  };
}

/**
 * An edit of pictures with times counted as ffmpeg counts them: a shown stretch begins with its first picture, wherever
 * that lies in it.
 */
export function startedAt(edit: SimpleEdit, samples: readonly { readonly pts: number }[]): SimpleEdit {
  let first = Infinity;
  for (const { pts } of samples) if (pts >= edit.startTicks) first = Math.min(first, pts);
  if (!Number.isFinite(edit.startTicks) || !Number.isFinite(first)) return edit;
  return { ...edit, offsetTicks: edit.offsetTicks + edit.startTicks - first };
}
