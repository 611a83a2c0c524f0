import type { FileHandle } from 'node:fs/promises';
import type { TopLevel } from '#server/media/mp4/top-level.ts';
import { assembleClip } from './rebuild-index-assemble.ts';
import { chooseSettings } from './rebuild-index-choose-settings.ts';
import { findFramedClip, findMpeg4Clip, type FoundClip } from './rebuild-index-framed-clip.ts';
import { findNotedSettings } from './rebuild-index-note-settings.ts';
import { findPictures } from './rebuild-index-pictures.ts';
import { rateByDistances } from './rebuild-index-rate.ts';
import type { FoundMedia } from './rebuild-index-scan.ts';
import type { PictureSettings } from './rebuild-index-settings.ts';
import { describePictures } from './rebuild-index-trial.ts';
import {
  ADD_ANOTHER,
  formatSize,
  type RebuildIndexInput,
  type RebuildIndexResult,
} from './rebuild-index-types.ts';

/** Any second of video has more bytes; below this, searching for pictures is pointless. */
const MIN_MEDIA_BYTES = 8192;

const refuse = (reason: string): RebuildIndexResult => ({ rebuilt: false, reason });

/**
 * Builds a new index for a file without one, from the media data alone. Picture settings come from the data or from a
 * reference clip, pictures are found by their structure, and sound by what lies between them.
 */
export async function rebuildFromMedia(
  input: RebuildIndexInput,
  file: FileHandle,
  topLevel: TopLevel,
): Promise<RebuildIndexResult> {
  const fileBytes = (await file.stat()).size;
  const mdat = topLevel.boxes.find((box) => box.type === 'mdat');
  const start = mdat ? mdat.offset + mdat.headerBytes : (topLevel.brokenAt ?? fileBytes);
  const only = `Only the first ${formatSize(fileBytes)} of the file are there;`;
  if (fileBytes - start < MIN_MEDIA_BYTES) return refuse(`${only} the index and the video data are missing.`);

  const settings = await chooseSettings(input, file, start, fileBytes);
  const clip = settings
    ? await findCoded(input, file, settings, { start, end: fileBytes })
    : ((await findFramedClip(input, file, { start, end: fileBytes })) ??
      (await findMpeg4Clip(input, file, { start, end: fileBytes })) ??
      (await findNotedClip(input, file, { start, end: fileBytes })));
  if (!clip) {
    return refuse(
      `The index (moov) is missing or damaged, and the video settings are not in the file. ${ADD_ANOTHER}`,
    );
  }
  const firstKey = clip.media.pictures.findIndex((picture) => picture.isKey);
  if (firstKey < 0)
    return refuse(
      'The index (moov) is missing or damaged, and the file has no complete key frame to start from.',
    );
  const pictures = clip.media.pictures.slice(firstKey);
  const media = { pictures, gaps: withoutBoxes(clip.media.gaps, topLevel) };
  return assembleClip(input, file, { ...clip, media });
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** Finds pictures by their encoder's note; null if there is none or it is not conclusive. */
async function findNotedClip(
  input: RebuildIndexInput,
  file: FileHandle,
  range: Range,
): Promise<FoundClip | null> {
  const noted = await findNotedSettings(input, file, range.start, range.end);
  if (!noted) return null;
  const clip = await findCoded(input, file, noted.settings, range);
  return { ...clip, likelyRate: rateByDistances(noted.note.options), source: noted.remark };
}

/** Finds pictures by their settings. */
async function findCoded(
  input: RebuildIndexInput,
  file: FileHandle,
  settings: PictureSettings,
  { start, end }: Range,
): Promise<FoundClip> {
  const media = await findPictures(file, start, end, settings, input.signal);
  const { coding, reference } = settings;
  return {
    media,
    reference,
    pictureRate: coding.pictureRate,
    order: coding.order,
    describe: () => describePictures(input, file, settings, media.pictures),
  };
}

/** Boxes without media, and their headers before media. */
const OTHER_BOXES = new Set('ftyp free skip wide moov moof uuid udta meta styp sidx mfra pnot'.split(' '));

/** Stretches between pictures, without boxes that are known to hold something else. */
function withoutBoxes(gaps: FoundMedia['gaps'], { boxes }: TopLevel): FoundMedia['gaps'] {
  const taken = boxes.flatMap(({ type, offset, headerBytes, sizeBytes }) => {
    if (type === 'mdat') return [{ from: offset, to: offset + headerBytes }];
    return OTHER_BOXES.has(type) ? [{ from: offset, to: offset + sizeBytes }] : [];
  });
  return gaps.flatMap((gap) => {
    const parts: { offset: number; sizeBytes: number }[] = [];
    let at = gap.offset;
    const end = gap.offset + gap.sizeBytes;
    for (const { from, to } of taken) {
      if (to <= at || from >= end) continue;
      if (from > at) parts.push({ offset: at, sizeBytes: from - at });
      at = Math.max(at, to);
    }
    if (end > at) parts.push({ offset: at, sizeBytes: end - at });
    return parts;
  });
}
