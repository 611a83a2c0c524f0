import { samplePictures, type SampleInput } from '#server/media/sample-pictures.ts';
import { median } from '#server/media/statistics.ts';

/** Longest side of the middle part that is measured in full size, pixels. */
const PART_PX = 512;

/**
 * Measures sharpness: the mean step between neighbouring pixels in the middle of full-size pictures, percent of the
 * contrast there, so that brighter pictures do not seem sharper. Median of one picture a second. The small pictures of
 * the analysis cannot show fine detail.
 * @throws MediaToolError when the clip cannot be decoded
 */
export async function measureEdges(
  input: Omit<SampleInput, 'filters' | 'pictureBytes' | 'take'>,
): Promise<number | null> {
  const stream = input.info.video[0];
  if (!stream) return null;
  const turned = stream.rotation % 180 === 90;
  const [width, height] = [Math.min(PART_PX, stream.width), Math.min(PART_PX, stream.height)];
  const part = turned ? { width: height, height: width } : { width, height };
  const steps: number[] = [];
  await samplePictures({
    ...input,
    filters: [`fps=1:start_time=0`, `crop=${part.width}:${part.height}`, 'format=gray'],
    pictureBytes: part.width * part.height,
    take: (grey) => steps.push(edgePercent(grey, part.width)),
  });
  return steps.length > 0 ? median(steps) : null;
}

/** `meanStep` in percent of the standard deviation of the levels; 0 for a plain picture. */
export function edgePercent(grey: Uint8Array, width: number): number {
  let sum = 0;
  let squares = 0;
  for (const level of grey) {
    sum += level;
    squares += level * level;
  }
  const mean = sum / Math.max(1, grey.length);
  const deviation = Math.sqrt(Math.max(0, squares / Math.max(1, grey.length) - mean * mean));
  return deviation < 1 ? 0 : (100 * meanStep(grey, width)) / deviation;
}

/** Mean absolute difference of each pixel to the next one in its row and in its column. */
export function meanStep(grey: Uint8Array, width: number): number {
  let sum = 0;
  let count = 0;
  for (let at = 0; at + width < grey.length; at += 1) {
    if (at % width === width - 1) continue;
    const here = grey[at] ?? 0;
    sum += Math.abs((grey[at + 1] ?? 0) - here) + Math.abs((grey[at + width] ?? 0) - here);
    count += 2;
  }
  return count > 0 ? sum / count : 0;
}
