import type { FileHandle } from 'node:fs/promises';
import { type AacFrameReader, createAacFrameReader } from '#server/media/aac/aac-frame.ts';
import { readUpTo } from '#server/media/mp4/file-bytes.ts';
import { type FoundMedia, type FoundPicture, scanPictures } from './rebuild-index-scan.ts';
import type { PictureSettings } from './rebuild-index-settings.ts';

/**
 * Finds coded pictures in raw media data (`scanPictures`) and leaves out what only looks like one in the middle of
 * sound: every few megabytes of AAC, one place passes as a short slice.
 */
export async function findPictures(
  file: FileHandle,
  start: number,
  end: number,
  settings: PictureSettings,
  signal?: AbortSignal,
): Promise<FoundMedia> {
  return withoutSound(file, await scanPictures(file, start, end, settings, signal), signal);
}

type Gap = FoundMedia['gaps'][number];

/** Channels and frequency indices (ISO/IEC 14496-3, table 1.18) of readers that are tried; the usual ones first. */
const KINDS = [3, 5, 6, 8].flatMap((frequencyIndex) =>
  [2, 1].map((channels) => ({ objectType: 2, frequencyIndex, channels })),
);
/** Stretches by which the kind is told, and the share of them that frames must fill to the byte. */
const TRIED_GAPS = 40;
const LEAST_FILLED = 0.6;
/** Fewer stretches tell no kind. */
const FEWEST_GAPS = 6;
/** Larger pictures and stretches are no sound between two pictures. */
const MOST_BYTES = 64 << 10;
/** Most apparent pictures in one stretch. */
const MOST_LOOKALIKES = 3;

/**
 * Leaves out pictures that lie inside frames of sound. Stretches between pictures hold whole frames: one that does not
 * end with a frame where a picture seems to begin, but does at a later one, goes on to there.
 */
async function withoutSound(file: FileHandle, media: FoundMedia, signal?: AbortSignal): Promise<FoundMedia> {
  const reader = await tellSound(file, media.gaps);
  if (!reader) return media;
  const pictureAt = new Map(media.pictures.map((picture) => [picture.offset, picture]));
  const lookalikes = new Set<FoundPicture>();
  const gaps: Gap[] = [];
  for (let at = 0; at < media.gaps.length; at += 1) {
    signal?.throwIfAborted();
    const gap = media.gaps[at];
    if (!gap) break;
    const longer = await findLonger(file, media.gaps.slice(at, at + MOST_LOOKALIKES + 1), pictureAt, reader);
    for (const picture of longer?.lookalikes ?? []) lookalikes.add(picture);
    gaps.push(longer?.gap ?? gap);
    at += longer?.lookalikes.length ?? 0;
  }
  return lookalikes.size === 0
    ? media
    : { pictures: media.pictures.filter((picture) => !lookalikes.has(picture)), gaps };
}

/** The stretch up to a later picture, if frames end only there; null if they do where the stretch ends. */
async function findLonger(
  file: FileHandle,
  [gap, ...others]: readonly Gap[],
  pictureAt: ReadonlyMap<number, FoundPicture>,
  reader: AacFrameReader,
): Promise<{ readonly gap: Gap; readonly lookalikes: readonly FoundPicture[] } | null> {
  if (!gap || !pictureAt.has(endOf(gap)) || isFilled(await readGap(file, gap), reader)) return null;
  const lookalikes: FoundPicture[] = [];
  let end = endOf(gap);
  for (const next of others) {
    const picture = pictureAt.get(end);
    if (!picture || endOf(picture) !== next.offset) return null;
    lookalikes.push(picture);
    end = endOf(next);
    const longer = { offset: gap.offset, sizeBytes: end - gap.offset };
    if (isFilled(await readGap(file, longer), reader)) return { gap: longer, lookalikes };
  }
  return null;
}

const endOf = ({ offset, sizeBytes }: Gap) => offset + sizeBytes;

/** The kind of sound whose frames fill most of the stretches; null for other kinds and where there is none. */
async function tellSound(file: FileHandle, gaps: readonly Gap[]): Promise<AacFrameReader | null> {
  // Behind the last picture there may be part of another.
  const tried = gaps.slice(0, -1).slice(0, TRIED_GAPS);
  if (tried.length < FEWEST_GAPS) return null;
  const stretches: Buffer[] = [];
  for (const gap of tried) stretches.push(await readGap(file, gap));
  for (const kind of KINDS) {
    const reader = createAacFrameReader(kind, 'any');
    if (!reader) continue;
    const filled = stretches.filter((bytes) => isFilled(bytes, reader)).length;
    if (filled >= LEAST_FILLED * tried.length) return reader;
  }
  return null;
}

/** The bytes of a stretch; none of one that is cut off, or too long to be sound between two pictures. */
async function readGap(file: FileHandle, { offset, sizeBytes }: Gap): Promise<Buffer> {
  const bytes = sizeBytes > MOST_BYTES ? null : await readUpTo(file, offset, sizeBytes);
  return bytes?.length === sizeBytes ? bytes : Buffer.alloc(0);
}

/** Whether a stretch consists of whole frames. */
function isFilled(bytes: Buffer, reader: AacFrameReader): boolean {
  let at = 0;
  while (at < bytes.length) {
    const frameBytes = reader.frameBytes(bytes, at);
    if (frameBytes === null) return false;
    at += frameBytes;
  }
  return bytes.length > 0;
}
