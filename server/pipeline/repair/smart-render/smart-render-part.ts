import { container, replaceBox } from '#server/media/mp4/box.ts';
import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import type { ByteRange } from '#server/media/mp4/file-bytes.ts';
import { singleEntryStsd, withEntryBox, writeAvcConfig } from '#server/media/mp4/sample-entry.ts';
import { rebuildTrack, writeMovie } from '#server/media/mp4/write-movie.ts';
import { bytesOf, isVacant, withSets, type ClipSource, type SmartSource } from './smart-render-source.ts';

/** Samples `[from, end)` in decode order; decoding can start at the first. */
export interface Part {
  readonly from: number;
  readonly end: number;
  /** Samples that are left out, because no other refers to them and nobody looks at them. */
  readonly omitted?: ReadonlySet<number>;
}

/** The samples of a part, decode order. */
export function samplesOfPart({ from, end, omitted }: Part): number[] {
  const all = Array.from({ length: end - from }, (_, index) => from + index);
  return omitted ? all.filter((sample) => !omitted.has(sample)) : all;
}

/**
 * Those samples of a part that have bytes, so that a decoder may show them; lost ones with empty places are left out.
 */
export function presentSamples(
  source: ClipSource,
  part: Part,
  coded?: ReadonlyMap<number, unknown>,
): number[] {
  return samplesOfPart(part).filter((sample) => coded?.has(sample) === true || !isVacant(source, sample));
}

/** Samples with replaced bytes. */
export interface ReplacedSamples {
  readonly coded: ReadonlyMap<number, { readonly bytes: ByteRange }>;
  /** Picture parameter sets that they use. */
  readonly pps: readonly Buffer[];
}

export interface TrialClip extends Omit<TrialPart, 'coded' | 'entry'> {
  readonly source: SmartSource;
  /** Null for the unchanged part. */
  readonly replaced: ReplacedSamples | null;
}

/** A part of a clip of any coding, to be written as a working file. */
export interface TrialPart {
  readonly source: ClipSource;
  readonly order: DisplayOrder;
  readonly part: Part;
  /** Samples with replaced bytes. */
  readonly coded: ReplacedSamples['coded'];
  /** Sample description. */
  readonly entry: Buffer;
  readonly outputPath: string;
  readonly signal?: AbortSignal;
}

/** Writes a part of an H.264 clip like `writeTrialPart`. */
export async function writeTrialClip(clip: TrialClip): Promise<Map<number, number>> {
  const { source, replaced } = clip;
  const isAsItWas = !replaced && !source.replaced;
  const entry = isAsItWas ? source.entry.bytes : withPps(source, replaced?.pps ?? []);
  return writeTrialPart({ ...clip, coded: replaced?.coded ?? new Map(), entry });
}

/**
 * Writes a part of a clip as a working file of its own, without edit list, to find out what it decodes to.
 * @returns places in display order by the times of the file, ticks
 * @throws Mp4Error when the file ends before its media
 */
export async function writeTrialPart(clip: TrialPart): Promise<Map<number, number>> {
  const { source, order, part, coded, entry, outputPath, signal } = clip;
  const origin = source.samples[part.from]?.dts ?? 0;
  const placeAt = new Map<number, number>();
  const numbers = presentSamples(source, part, coded);
  const samples = numbers.flatMap((number, index) => {
    const sample = source.samples[number];
    if (!sample) return [];
    placeAt.set(sample.pts - origin, order.placeOf[number] ?? 0);
    const bytes = coded.get(number)?.bytes ?? bytesOf(source, number);
    const next = source.samples[numbers[index + 1] ?? -1];
    const durationTicks = next ? next.dts - sample.dts : sample.durationTicks;
    const { sync } = sample;
    return [{ bytes, dts: sample.dts - origin, pts: sample.pts - origin, durationTicks, sync }];
  });
  const bare = container(
    'trak',
    (source.track.trak.children ?? []).filter(({ type }) => type !== 'edts' && type !== 'tref'),
  );
  await writeMovie(outputPath, {
    ftyp: source.movie.ftyp,
    moov: container(
      'moov',
      (source.movie.moov.children ?? []).filter(({ type }) => type === 'mvhd'),
    ),
    tracks: [rebuildTrack(withEntry(bare, entry), source.track.timescale, samples)],
    temporary: true,
    signal,
  });
  return placeAt;
}

function withEntry(trak: Parameters<typeof replaceBox>[0], entry: Buffer) {
  const stsd = singleEntryStsd(entry);
  return replaceBox(trak, 'mdia/minf/stbl', (stbl) => {
    return container(
      'stbl',
      (stbl.children ?? []).map((box) => (box.type === 'stsd' ? stsd : box)),
    );
  });
}

/** The sample description with additional picture parameter sets. */
function withPps({ config, entry }: SmartSource, more: readonly Buffer[]): Buffer {
  return withEntryBox(entry, 'avcC', writeAvcConfig(withSets(config, more)));
}
