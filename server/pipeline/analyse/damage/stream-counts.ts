import { linkCounts } from '#server/media/h264/link-counts.ts';
import {
  missingReferences,
  readReferenceLink,
  type LinkedPicture,
} from '#server/media/h264/lost-references.ts';
import type { Pps } from '#server/media/h264/pps.ts';
import type { Sps } from '#server/media/h264/sps.ts';
import { createCountReader } from '#server/media/hevc/hevc-counts.ts';
import { missingCounts, type CountedPicture, type LostBetween } from '#server/media/lost-counts.ts';

/** Collects the counts that the pictures of a stream carry about their neighbours, and finds what the file lacks. */
export interface StreamCounts {
  /**
   * Adds the next picture in decode order.
   * @param units its NAL units; null when it is damaged
   */
  note(pts: number, units: readonly Buffer[] | null): void;
  /** Places in decode order of pictures that refer to lost ones. */
  missReferences(): number[];
  lost(): LostBetween[];
}

/** For H.264 without fields. */
export function createAvcCounts(sps: Sps, pps: readonly Pps[]): StreamCounts {
  const links: LinkedPicture[] = [];
  return {
    note: (pts, units) => void links.push({ pts, link: units && readReferenceLink(units, sps, pps) }),
    missReferences: () => missingReferences(links, sps),
    lost() {
      const counts = linkCounts(links, sps);
      return counts ? missingCounts(counts.pictures, counts.range) : [];
    },
  };
}

/** For HEVC, whose decoders report missing references themselves; null when its settings cannot be read. */
export function createHevcCounts(parameterSets: readonly Buffer[]): StreamCounts | null {
  const read = createCountReader(parameterSets);
  if (!read) return null;
  const pictures: CountedPicture[] = [];
  return {
    note: (pts, units) =>
      void pictures.push({ pts, ...((units && read(units)) ?? { count: null, period: 0 }) }),
    missReferences: () => [],
    lost: () => missingCounts(pictures, null),
  };
}
