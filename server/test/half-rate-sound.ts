import { readFile, writeFile } from 'node:fs/promises';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { readAdts } from '#server/media/aac/adts.ts';
import { needBox } from '#server/media/mp4/box.ts';
import { testTools as tools } from './media-job.ts';
import { trackIn } from './track-bytes.ts';

/** Samples in a frame of HE-AAC, at the rate that is heard. */
export const HE_FRAME = 2048;

const ADTS_HEADER = 7;
/** A fill element with the data of a replicated band that has no settings yet, and the end of the frame. */
const EMPTY_BAND_AND_END = '110' + '0001' + '11010000' + '111';

/**
 * Makes an MP4 of which an edit list hides the first frames of HE-AAC, as short-form services write it. No free encoder
 * makes HE-AAC: the frames are AAC-LC at half the rate, each with an empty replicated band (ISO/IEC 14496-3, 4.4.2.7
 * and 4.4.2.8), which a decoder plays at the whole rate.
 * @param source options for ffmpeg's inputs: the pictures first, if any, and the sound last
 */
export async function makeHeAacClip(input: {
  readonly source: string;
  readonly outputPath: string;
  readonly hiddenFrames: number;
}): Promise<void> {
  const { source, outputPath, hiddenFrames } = input;
  const [core, whole] = [`${outputPath}.core.aac`, `${outputPath}.he.aac`];
  const coding = '-vn -c:a aac -b:a 96k -ar 22050 -f adts'.split(' ');
  await runTool('code half the rate', tools.ffmpeg, [...source.split(' '), ...coding, core]);
  await writeFile(whole, withEmptyBands(await readFile(core)));
  const pictures = '-c:v libx264 -preset ultrafast -pix_fmt yuv420p'.split(' ');
  const inputs = source.split(' ').filter((one) => one === '-i').length;
  const tracks = inputs > 1 ? ['-map', '0:v', ...pictures] : [];
  const args = [...source.split(' '), '-i', whole, ...tracks, '-map', `${inputs}:a`, '-c:a', 'copy'];
  await runTool('write a clip', tools.ffmpeg, [...args, '-bsf:a', 'aac_adtstoasc', '-shortest', outputPath]);
  const bytes = await readFile(outputPath);
  needBox(trackIn(bytes, 'sound'), 'edts/elst').payload.writeInt32BE(hiddenFrames * HE_FRAME, 12);
  await writeFile(outputPath, bytes);
}

/** All frames have the header of the first, but for their size. */
function withEmptyBands(adts: Buffer): Buffer {
  const frames = (readAdts(adts) ?? []).map(withEmptyBand);
  return Buffer.concat(frames.flatMap((frame) => [headerFor(adts.subarray(0, ADTS_HEADER), frame), frame]));
}

function headerFor(header: Buffer, frame: Buffer): Buffer {
  const sized = Buffer.from(header);
  const others = sized.readUInt32BE(3) & ~(0x1fff << 13);
  sized.writeUInt32BE((others | ((ADTS_HEADER + frame.length) << 13)) >>> 0, 3);
  return sized;
}

/** The end of a frame is its last three bits that are set; zeros fill its last byte. */
function withEmptyBand(frame: Buffer): Buffer {
  const bits = [...frame].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const longer = bits.slice(0, bits.lastIndexOf('111')) + EMPTY_BAND_AND_END;
  return Buffer.from((longer.match(/.{1,8}/g) ?? []).map((byte) => Number.parseInt(byte.padEnd(8, '0'), 2)));
}
