import { open } from 'node:fs/promises';
import { readListedMovie } from '#server/media/mp4/listed-movie.ts';
import { findVideoTrack } from '#server/media/mp4/movie.ts';
import { Mp4Error } from '#server/media/mp4/mp4-error.ts';
import { readSamples } from '#server/media/mp4/sample-table.ts';
import { decodePass } from '../decode/decode-pass.ts';
import { indexPictures, type PictureIndex } from '../packets/picture-times.ts';
import type { VideoPacket } from '../packets/read-packets.ts';
import { damageReason, findBadPackets, type BadPacket } from './detect-corruption.ts';
import type { DamageInput } from './find-damage.ts';

/**
 * Finds damaged pictures among those that an edit list hides before the first shown one. It has the decoder output them
 * too, because messages before the first output picture may be about any of them or about the first shown ones.
 * @returns damaged packets, some shown right after the hidden ones; null when nothing was reported before the first
 * picture, nothing is hidden before it, or the places are unknown
 * @throws MediaToolError when ffmpeg cannot run or the job is cancelled
 */
export async function hearHidden(input: DamageInput): Promise<BadPacket[] | null> {
  const { info, stream, packets, pass, tools, signal } = input;
  const firstTicks = firstShownTicks(packets);
  const hidden = packets.filter(({ ptsTicks }) => ptsTicks !== null && ptsTicks < firstTicks).length;
  const isHeard = pass.messages.some((said) => said.picturesOut === 0 && damageReason(said) !== null);
  if (hidden === 0 || !(isHeard || pass.concealsUnseen) || info.format !== 'mov') return null;
  const start = await withoutEdits(input);
  if (!start) return null;
  const alone = await decodePass({
    inputPath: input.inputPath,
    info,
    stream,
    expectedPictures: hidden + 1,
    tools,
    signal,
    ignoresEdits: true,
    range: {
      endTicks: firstTicks + start.shiftTicks + 1,
      ...(start.startSeconds > 0 && { startSeconds: start.startSeconds }),
    },
  });
  const all = packets.map((packet) => ({ ...packet, shown: true }));
  const times = alone.ptsTicks.map((pts) => pts && pts - start.shiftTicks);
  const index = indexPictures(stream, all, times);
  if (!index) return null;
  const reached = (packet: number) => (packets[packet]?.ptsTicks ?? Infinity) <= firstTicks;
  const last = Math.max(-1, ...all.flatMap((_, packet) => (reached(packet) ? [packet] : [])));
  const said = findBadPackets({
    codec: stream.codec,
    packets: all,
    index,
    pass: alone,
    reorderDepth: stream.reorderDepth,
    structure: [],
  });
  return said.filter(({ packet }) => packet <= last && (reached(packet) || !isUndecoded(index, packet)));
}

/** Time of the first shown picture, ticks; Infinity when none is shown. */
function firstShownTicks(packets: readonly VideoPacket[]): number {
  return packets.reduce(
    (first, { shown, ptsTicks }) => (shown ? Math.min(first, ptsTicks ?? Infinity) : first),
    Infinity,
  );
}

const isUndecoded = ({ undecoded, frameOfPacket }: PictureIndex, packet: number) =>
  undecoded.includes(frameOfPacket[packet] ?? -1);

/**
 * Where the listed packets begin in the media, and how much the media's times exceed the listed ones; null when
 * unknown.
 */
async function withoutEdits({ inputPath, stream, packets }: DamageInput) {
  const file = await open(inputPath, 'r');
  try {
    const track = findVideoTrack(await readListedMovie(file), stream.index);
    const [first] = packets;
    const samples = readSamples(track.stbl);
    const at = samples.findIndex(({ offset }) => offset === first?.offsetBytes);
    const sample = samples[at];
    if (!sample || !first || first.dtsTicks === null || first.ptsTicks === null) return null;
    const shiftTicks = sample.dts - first.dtsTicks;
    const startSeconds = at === 0 ? 0 : (first.ptsTicks + shiftTicks) / track.timescale;
    return { shiftTicks, startSeconds };
  } catch (error) {
    if (error instanceof Mp4Error) return null;
    throw error;
  } finally {
    await file.close();
  }
}
