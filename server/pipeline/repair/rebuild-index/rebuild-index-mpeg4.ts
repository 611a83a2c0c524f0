import { open, type FileHandle } from 'node:fs/promises';
import { readUpTo } from '#server/media/mp4/file-bytes.ts';
import { gatherTrack } from '#server/media/mp4/fragmented-track.ts';
import { findFragments, readFragmentDefaults } from '#server/media/mp4/fragments.ts';
import type { Movie, Track } from '#server/media/mp4/movie.ts';
import { createSoundFrameReader, type SoundFrameReader } from '#server/media/sound-frame.ts';
import { longestPiece, type PcmLayout } from './rebuild-index-pcm-layout.ts';
import { soundBehind } from './rebuild-index-pcm-noise.ts';
import type { Reference } from './rebuild-index-reference.ts';
import type { FoundMedia, FoundPicture } from './rebuild-index-scan.ts';

/** Start codes (ISO/IEC 14496-2, table 6-3) of a sequence, a group and a picture. */
const CODE = { sequence: 0xb0, group: 0xb3, picture: 0xb6 } as const;
const PREFIX = Buffer.from([0, 0, 1]);
/** Kinds of pictures (`vop_coding_type`). */
const KIND = { intra: 0, both: 2 } as const;

const WINDOW_BYTES = 32 << 20;
/** Most sound between two pictures if the reference does not tell, bytes. */
const USUAL_SOUND_BYTES = 16_384;
/** Most bytes of headers before a picture. */
const MOST_HEADER_BYTES = 2048;
/** Sound is searched in pieces this much longer than the longest of the reference. */
const LONGER = 1.25;

/**
 * Finds pictures of MPEG-4 (part 2) by their start codes. These mark the beginning but not the end. Sound after a
 * picture is found by its own frames, which reach exactly to the next picture, or (uncompressed) by how the reference
 * places it.
 */
export async function findMpeg4(
  file: FileHandle,
  { start, end }: { readonly start: number; readonly end: number },
  { path, movie, sound, layout }: Reference,
  signal?: AbortSignal,
): Promise<FoundMedia> {
  const entry = sound?.entries[0];
  const reader = entry ? createSoundFrameReader(entry.bytes) : null;
  const isHead = reader && sound ? await readHeads(path, movie, sound) : () => true;
  const tail: Tail = {
    frames: reader,
    isHead,
    layout,
    mostBytes: (sound && longestPiece(movie.tracks, sound)) || USUAL_SOUND_BYTES,
  };
  const found: (FoundPicture & { readonly kind: number })[] = [];
  const gaps: { offset: number; sizeBytes: number }[] = [];
  let position = start;
  for (let from = start; from < end;) {
    signal?.throwIfAborted();
    const bytes = await readUpTo(file, from, Math.min(WINDOW_BYTES, end - from));
    const isLast = bytes.length < WINDOW_BYTES || from + bytes.length >= end;
    const starts = pictureStarts(bytes);
    for (const [index, { at, kind }] of starts.entries()) {
      const next = starts[index + 1]?.at ?? (isLast ? bytes.length : null);
      if (next === null) break;
      const soundBytes = tailBytes(bytes.subarray(at, next), tail);
      const offset = from + at;
      if (offset > position) gaps.push({ offset: position, sizeBytes: offset - position });
      position = from + next - soundBytes;
      const mark = { restarts: false, lsb: null, leads: true };
      found.push({ offset, sizeBytes: position - offset, isKey: kind === KIND.intra, mark, kind });
    }
    if (isLast) break;
    // The last picture may continue in the next window.
    const last = starts.at(-1)?.at ?? 0;
    from += last > 0 ? last : bytes.length - MOST_HEADER_BYTES;
  }
  if (position < end) gaps.push({ offset: position, sizeBytes: end - position });
  return { pictures: inOrder(found), gaps };
}

/**
 * Number of frames of a healthy clip that are examined, and most different beginnings that count as a habit of the
 * encoder.
 */
const LOOKED_AT = 1000;
const MOST_HEADS = 48;

/** Recognises frames by the beginnings of those of a healthy clip; coded pictures pass as other frames too often. */
async function readHeads(path: string, movie: Movie, sound: Track) {
  const file = await open(path, 'r');
  try {
    const fragments = movie.fragmented
      ? await findFragments(file, movie.fileBytes, readFragmentDefaults(movie.moov))
      : [];
    const { samples } = gatherTrack(sound, fragments, file, movie.fileBytes);
    const heads = new Set<number>();
    for (const { bytes } of samples.slice(0, LOOKED_AT)) {
      const head = await readUpTo(file, bytes.offset, 2);
      if (head.length === 2) heads.add(head.readUInt16BE(0));
    }
    const first = new Set([...heads].map((head) => head >> 9));
    const isWord = heads.size <= MOST_HEADS;
    return (bytes: Buffer, at: number) => {
      if (at + 2 > bytes.length) return false;
      const head = bytes.readUInt16BE(at);
      return isWord ? heads.has(head) : first.has(head >> 9);
    };
  } finally {
    await file.close();
  }
}

/** Starts of the pictures, including headers before them, and their kinds. */
function pictureStarts(bytes: Buffer): { readonly at: number; readonly kind: number }[] {
  const starts: { at: number; kind: number }[] = [];
  let header: number | null = null;
  for (let at = bytes.indexOf(PREFIX); at >= 0 && at + 5 < bytes.length; at = bytes.indexOf(PREFIX, at + 1)) {
    const code = bytes[at + 3];
    if (code === CODE.sequence || code === CODE.group) {
      if (header === null || at - header > MOST_HEADER_BYTES) header = at;
    } else if (code === CODE.picture && isPicture(bytes.readUInt16BE(at + 4))) {
      const isHeaded = header !== null && at - header <= MOST_HEADER_BYTES;
      starts.push({ at: isHeaded && header !== null ? header : at, kind: (bytes[at + 4] ?? 0) >> 6 });
      header = null;
    }
  }
  return starts;
}

/** Whether a picture header may continue with these bits: its kind, whole seconds as ones, a zero, and a marker bit. */
function isPicture(word: number): boolean {
  const MOST_SECONDS = 8;
  let bit = 13;
  while (bit > 13 - MOST_SECONDS && ((word >> bit) & 1) === 1) bit -= 1;
  return ((word >> bit) & 1) === 0 && ((word >> (bit - 1)) & 1) === 1;
}

interface Tail {
  readonly frames: SoundFrameReader | null;
  /** Whether frames of the device begin like this. */
  isHead(bytes: Buffer, at: number): boolean;
  readonly layout: PcmLayout | null;
  readonly mostBytes: number;
}

/** A start code and the least that can follow it. */
const LEAST_PICTURE_BYTES = 6;

/** Bytes of sound at the end of the data between one picture and the next. */
function tailBytes(bytes: Buffer, { frames, isHead, layout, mostBytes }: Tail): number {
  const room = bytes.length - LEAST_PICTURE_BYTES;
  if (layout) return soundBehind(bytes, Math.min(room, layout.mostBytes), layout);
  if (!frames) return 0;
  const most = Math.min(room, Math.ceil(LONGER * mostBytes));
  /** Whether consecutive frames lead from this many bytes before the end to the end. */
  const leads = new Uint8Array(most + 1);
  leads[0] = 1;
  let longest = 0;
  for (let behind = 1; behind <= most; behind += 1) {
    const sizeBytes = frames.frameBytes(bytes, bytes.length - behind);
    if (sizeBytes === null || sizeBytes > behind || leads[behind - sizeBytes] !== 1) continue;
    leads[behind] = 1;
    if (isHead(bytes, bytes.length - behind)) longest = behind;
  }
  return longest;
}

/** Pictures that refer to both sides are shown before the one that is coded before them. */
function inOrder(found: readonly (FoundPicture & { readonly kind: number })[]): FoundPicture[] {
  const shown: number[] = found.map(() => 0);
  let place = 0;
  let held: number | null = null;
  for (const [index, { kind }] of found.entries()) {
    if (kind === KIND.both) shown[index] = place++;
    else {
      if (held !== null) shown[held] = place++;
      held = index;
    }
  }
  if (held !== null) shown[held] = place;
  return found.map(({ offset, sizeBytes, isKey, mark }, index) => {
    return { offset, sizeBytes, isKey, mark: { ...mark, lsb: shown[index] ?? index } };
  });
}

/** Enough bits to number all pictures of a clip. */
export const MPEG4_ORDER = { kind: 'counted', bits: 30 } as const;
