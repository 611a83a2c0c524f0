import { findBox, parseBoxes, type Box } from '#server/media/mp4/box.ts';

const HEADERS = { pictures: 'mdia/minf/vmhd', sound: 'mdia/minf/smhd' } as const;

/**
 * The first track of a kind in the bytes of an MP4 file. Payloads are views of these bytes, so writing to one changes
 * them.
 */
export function trackIn(bytes: Buffer, kind: keyof typeof HEADERS): Box {
  const tracks = parseBoxes(bytes).find(({ type }) => type === 'moov')?.children ?? [];
  const track = tracks.find((box) => findBox(box, HEADERS[kind]) !== null);
  if (!track) throw new Error(`The file has no track of ${kind}.`);
  return track;
}
