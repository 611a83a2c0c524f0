import { readFile, writeFile } from 'node:fs/promises';
import { needBox } from '#server/media/mp4/box.ts';
import { trackIn } from './track-bytes.ts';

/** Cosine and sine of the rotation; a phone held upright records with 90. */
const TURNS = { 0: [1, 0], 90: [0, 1], 180: [-1, 0], 270: [0, -1] } as const;
export type Degrees = keyof typeof TURNS;

/**
 * Marks the first picture track of an MP4 file as rotated, as phones do, by the matrix of its header (ISO/IEC 14496-12,
 * 8.3.2). Written as bytes, because the ffmpeg option for it differs before and after version 6. The rest of the copy
 * is the same.
 * @param degrees clockwise, as players rotate it
 */
export async function turnClip(inputPath: string, outputPath: string, degrees: Degrees): Promise<void> {
  const bytes = await readFile(inputPath);
  const [cos, sin] = TURNS[degrees];
  const header = needBox(trackIn(bytes, 'pictures'), 'tkhd').payload;
  const matrixAt = header[0] === 1 ? 52 : 40;
  const [width, height] = [header.readUInt32BE(matrixAt + 36), header.readUInt32BE(matrixAt + 40)];
  const fixed = (value: number) => value * 0x1_00_00;
  const right = cos < 0 ? width : sin > 0 ? height : 0;
  const down = cos < 0 ? height : sin < 0 ? width : 0;
  const matrix = [fixed(cos), fixed(sin), 0, fixed(-sin), fixed(cos), 0, right, down, 0x4000_0000];
  for (const [at, value] of matrix.entries()) header.writeInt32BE(value | 0, matrixAt + 4 * at);
  await writeFile(outputPath, bytes);
}
