import { type EvenSamples, evenTrack } from '#server/media/mp4/even-track.ts';
import type { Track } from '#server/media/mp4/movie.ts';
import type { ByteRange } from '#server/media/mp4/file-bytes.ts';
import type { PcmLayout } from './rebuild-index-pcm-layout.ts';
import { soundEnds } from './rebuild-index-pcm-noise.ts';
import { bareTrack, type RestoredSound, type SoundInput } from './rebuild-index-sound-types.ts';

type Gap = SoundInput['gaps'][number];

const UNCHANGED = 'The sound was found between the frames and kept unchanged.';
const NEARLY =
  'The sound was found between the frames. Nothing tells exactly where one ends and the other begins, so a tiny bit of sound around a frame may be missing or too much.';

/** Whether pictures of this coding mark only their beginning, so that sound after them is recognised by its look. */
const marksNoEnd = ({ entries }: Track): boolean => entries[0]?.coding === 'mp4v';

/**
 * Makes a track of uncompressed sound from the stretches between the pictures. The samples carry no mark. The reference
 * tells what else its device writes there and how long a piece is; in longer stretches, parts that are no sound are
 * left out.
 * @returns null when the reference has no uncompressed sound
 */
export async function restorePcm(input: SoundInput): Promise<RestoredSound | null> {
  const { reference, file } = input;
  const { sound, layout } = reference;
  if (!sound || !layout) return null;
  const { even, shape } = layout;
  const ranges: ByteRange[] = [];
  for (const [index, gap] of input.gaps.entries()) {
    input.signal?.throwIfAborted();
    const stretch = withoutOthers(gap, layout, even);
    if (!stretch) continue;
    // Damaged pictures, or a cut-off one at the end, lie next to the sound.
    const isUnusual = stretch.sizeBytes > layout.mostBytes || index === input.gaps.length - 1;
    const pieces = isUnusual ? await soundEnds(file, stretch, shape) : [stretch];
    ranges.push(...pieces.map((piece) => ({ file, ...piece })));
  }
  if (ranges.length === 0) return null;
  const samples = ranges.reduce((sum, { sizeBytes }) => sum + sizeBytes / even.sampleBytes, 0);
  const ticks = samples * even.sampleTicks;
  const trak = bareTrack(sound, ticks, reference.movie.timescale);
  return {
    tracks: [evenTrack(trak, sound.timescale, even, ranges)],
    durationMs: (ticks * 1000) / sound.timescale,
    note: marksNoEnd(reference.video) ? NEARLY : UNCHANGED,
    release: () => Promise.resolve(),
  };
}

/** Whole samples in the usual place of the sound in a stretch; null if there is no room. */
function withoutOthers(
  gap: Gap,
  { leadBytes, trailBytes }: PcmLayout,
  { sampleBytes }: EvenSamples,
): Gap | null {
  const samples = Math.floor((gap.sizeBytes - leadBytes - trailBytes) / sampleBytes);
  return samples < 1 ? null : { offset: gap.offset + leadBytes, sizeBytes: samples * sampleBytes };
}
