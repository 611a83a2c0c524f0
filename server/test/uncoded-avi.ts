import { changeAvi, placedChunks, type PlacedChunk } from './avi-clips.ts';

/** Bits of `vop_time_increment` at 30 pictures a second. */
const TIME_BITS = 5;
const FIRST_BIT = 32;

/** The same picture's header with `vop_coded` 0 (ISO/IEC 14496-2, 6.2.5), and what fills the last byte. */
function uncoded(picture: Buffer): Buffer {
  const bits = [...picture.subarray(0, 12)].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const seconds = bits.indexOf('0', FIRST_BIT + 2);
  // Marker, time, marker.
  const head = `${bits.slice(0, seconds + 1 + 1 + TIME_BITS + 1)}0`;
  const stuffed = `${head}0`.padEnd(8 * (Math.floor(head.length / 8) + 1), '1');
  return Buffer.from((stuffed.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

/**
 * Changes MPEG-4 pictures of an AVI file into packets that code none, as recorders of screens write where nothing moves.
 * What they no longer need becomes a chunk that nobody reads.
 * @param isStill by the place of a picture in the file
 */
export async function leaveUncoded(
  inputPath: string,
  outputPath: string,
  isStill: (place: number) => boolean,
): Promise<void> {
  await changeAvi(inputPath, outputPath, (bytes) => {
    const chunks = placedChunks(bytes);
    const isPicture = ({ name }: PlacedChunk) => name === '00dc';
    const index = chunks.find(({ name }) => name === 'idx1');
    if (!index) throw new Error('No index.');
    const entries = new Map<number, number>();
    for (let at = index.at + 8; at + 16 <= index.at + 8 + index.sizeBytes; at += 16) {
      if (bytes.toString('latin1', at, at + 4) === '00dc') entries.set(entries.size, at);
    }
    chunks.filter(isPicture).forEach(({ at, sizeBytes }, place) => {
      if (!isStill(place)) return;
      const kept = uncoded(bytes.subarray(at + 8, at + 8 + sizeBytes));
      const room = kept.length + (kept.length & 1);
      const rest = sizeBytes + (sizeBytes & 1) - room - 8;
      const entry = entries.get(place);
      if (rest < 0 || entry === undefined) throw new Error('No room.');
      bytes.fill(0, at + 8, at + 8 + sizeBytes);
      bytes.writeUInt32LE(kept.length, at + 4);
      kept.copy(bytes, at + 8);
      bytes.write('JUNK', at + 8 + room, 'latin1');
      bytes.writeUInt32LE(rest, at + 8 + room + 4);
      bytes.writeUInt32LE(kept.length, entry + 12);
    });
    return bytes;
  });
}

/** States for the sound of an AVI file that its bytes come at one rate, whatever its packets hold. */
export async function countBytes(inputPath: string, outputPath: string): Promise<void> {
  await changeAvi(inputPath, outputPath, (bytes, chunks) => {
    const sizes = chunks.filter(({ name }) => name === '01wb').map(({ sizeBytes }) => sizeBytes);
    const [, header] = chunks.filter(({ name }) => name === 'strh');
    const [, format] = chunks.filter(({ name }) => name === 'strf');
    if (!header || !format) throw new Error('No sound.');
    const sum = sizes.reduce((all, size) => all + size, 0);
    const seconds = (sizes.length * bytes.readUInt32LE(header.at + 28)) / bytes.readUInt32LE(header.at + 32);
    const rate = Math.round(sum / seconds);
    bytes.writeUInt32LE(1, header.at + 28);
    bytes.writeUInt32LE(rate, header.at + 32);
    bytes.writeUInt32LE(sum, header.at + 40);
    bytes.writeUInt32LE(1, header.at + 52);
    bytes.writeUInt32LE(rate, format.at + 16);
    bytes.writeUInt16LE(1, format.at + 20);
    return bytes;
  });
}
