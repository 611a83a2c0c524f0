import { type Box, container, findBox, replaceBox } from '#server/media/mp4/box.ts';
import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import { type Edit, writeEditList } from '#server/media/mp4/edit-list.ts';
import { H264Error } from '#server/media/h264/h264-error.ts';
import { withLevel } from '#server/media/h264/levels.ts';
import { singleEntryStsd, withEntryBox, writeAvcConfig } from '#server/media/mp4/sample-entry.ts';
import type { ByteRange } from '#server/media/mp4/file-bytes.ts';
import { carryTrack, rebuildTrack, writeMovie } from '#server/media/mp4/write-movie.ts';
import { type NewSample, readDuration, withDuration } from '#server/media/mp4/write-tables.ts';
import type { EncodedPictures, EncodedSegment } from './smart-render-encode.ts';
import { levelWithVerbatim } from './exchange/smart-render-exchange-plan.ts';
import type { Segment } from './smart-render-plan.ts';
import type { ClipSource, SmartSource } from './smart-render-source.ts';
import type { ResultSample, Timing } from './smart-render-timing.ts';

export interface ResultToWrite {
  readonly source: ClipSource;
  /** Sample description that includes the new pictures; null if the old one does. */
  readonly sampleEntry: Buffer | null;
  readonly order: DisplayOrder;
  readonly timing: Extract<Timing, { ok: true }>;
  readonly segments: readonly Segment[];
  /** Coded pictures of each segment; null if it only removes. */
  readonly encoded: readonly (EncodedPictures | null)[];
  /** Pictures exchanged alone: by sample of the original, in the order of `coded.pictures`. */
  readonly standIns: { readonly samples: readonly number[]; readonly coded: EncodedPictures } | null;
  /** Kept samples whose bytes lie elsewhere now, with the same pictures. */
  readonly moved?: ReadonlyMap<number, ByteRange>;
  /** Added to the duration of the clip, media ticks. */
  readonly shiftTotal: number;
  readonly outputPath: string;
  readonly signal?: AbortSignal;
}

/** Writes the clip: old and new pictures in one video track, all other tracks unchanged. */
export async function writeResult(result: ResultToWrite): Promise<void> {
  const { source } = result;
  const { movie, track } = source;
  const samples = result.timing.samples.map((sample) => toNewSample(result, sample));
  const trak = withNewHeader(withNewEntry(track.trak, result.sampleEntry), result, samples);
  const tracks = movie.tracks.map((other) =>
    other === track ? rebuildTrack(trak, track.timescale, samples) : carryTrack(other, source.file),
  );
  const longest = Math.max(
    ...tracks.map(({ trak: box }) => {
      const header = findBox(box, 'tkhd');
      return header ? readDuration(header) : 0;
    }),
  );
  await writeMovie(result.outputPath, {
    ftyp: movie.ftyp,
    moov: replaceBox(movie.moov, 'mvhd', (header) => withDuration(header, longest)),
    tracks,
    signal: result.signal,
  });
}

function toNewSample(result: ResultToWrite, sample: ResultSample): NewSample {
  const { dts, pts, durationTicks, from } = sample;
  if (from.kind === 'kept') {
    const old = result.source.samples[from.sample];
    if (!old) throw new H264Error('A kept picture is not in the original.');
    const standIn = result.standIns?.coded.pictures[result.standIns.samples.indexOf(from.sample)];
    if (standIn) return { bytes: standIn.bytes, dts, pts, durationTicks, sync: standIn.sync };
    const own = { file: result.source.file, offset: old.offset, sizeBytes: old.sizeBytes };
    const bytes = result.moved?.get(from.sample) ?? own;
    return { bytes, dts, pts, durationTicks, sync: old.sync };
  }
  const coded = result.encoded[from.segment]?.pictures[from.picture];
  if (!coded) throw new H264Error('A new picture was not encoded.');
  return { bytes: coded.bytes, dts, pts, durationTicks, sync: coded.sync };
}

/**
 * The sample description with the picture parameter set of the new slices; null if there are none.
 * @param verbatim the set of verbatim pictures, if any
 */
export function withNewPps(
  source: SmartSource,
  encoded: readonly (Pick<EncodedSegment, 'pps'> | null)[],
  verbatim: Buffer | null = null,
): Buffer | null {
  const { config, entry } = source;
  const units = new Map<string, Buffer>();
  for (const segment of encoded) if (segment) units.set(segment.pps.toString('latin1'), segment.pps);
  if (units.size === 0 && !verbatim) return null;
  // All stretches share one set, because encoder and settings are the same. Different sets cannot share an id.
  if (units.size > 1) throw new H264Error('The encoder changed its settings between two stretches.');
  const pps = [...config.pps, ...units.values(), ...(verbatim ? [verbatim] : [])];
  // Verbatim pictures may be larger than the clip's level allows.
  const level = (verbatim && levelWithVerbatim(source)) ?? config.level;
  const sps = level > config.level ? config.sps.map((unit) => withLevel(unit, level)) : config.sps;
  const raised = Math.max(level, config.level);
  return withEntryBox(entry, 'avcC', writeAvcConfig({ ...config, level: raised, sps, pps }));
}

function withNewEntry(trak: Box, sampleEntry: Buffer | null): Box {
  if (sampleEntry === null) return trak;
  const stsd = singleEntryStsd(sampleEntry);
  return replaceBox(trak, 'mdia/minf/stbl', (stbl) => {
    const children = (stbl.children ?? []).map((box) => (box.type === 'stsd' ? stsd : box));
    return container('stbl', children);
  });
}

/** The track with duration and edit list adapted to its new samples. */
function withNewHeader(trak: Box, result: ResultToWrite, samples: readonly NewSample[]): Box {
  const { movie, track } = result.source;
  const toMovie = (ticks: number) => Math.round((ticks * movie.timescale) / track.timescale);
  const mediaTicks = samples.reduce((sum, sample) => sum + sample.durationTicks, 0);
  const edits = fitEdits(result, samples, toMovie);
  const durationTicks =
    edits.length > 0 ? edits.reduce((sum, edit) => sum + edit.durationTicks, 0) : toMovie(mediaTicks);
  let out = replaceBox(trak, 'tkhd', (header) => withDuration(header, durationTicks));
  out = replaceBox(out, 'mdia/mdhd', (header) => withDuration(header, mediaTicks));
  if (edits.length === 0) return out;
  const edts = writeEditList(edits);
  if (findBox(out, 'edts')) return replaceBox(out, 'edts', () => edts);
  const children = (out.children ?? []).flatMap((box) => (box.type === 'tkhd' ? [box, edts] : [box]));
  return container('trak', children);
}

function fitEdits(
  result: ResultToWrite,
  samples: readonly NewSample[],
  toMovie: (ticks: number) => number,
): Edit[] {
  const { source, order, timing, shiftTotal } = result;
  const { edits } = source.track;
  const last = edits.at(-1);
  const endTicks = samples.reduce((end, sample) => Math.max(end, sample.pts + 1), 0);
  if (!last) {
    if (timing.rebase === 0) return [];
    return [{ durationTicks: toMovie(endTicks - timing.rebase), mediaTime: timing.rebase, rate: 1 }];
  }
  const mediaTime = last.mediaTime + timing.rebase;
  const planned = last.durationTicks + toMovie(shiftTotal);
  const hidesTail = order.endShown < order.samples.length;
  const needed = Math.ceil(((endTicks - mediaTime) * source.movie.timescale) / source.track.timescale);
  const durationTicks = last.durationTicks === 0 ? 0 : hidesTail ? planned : Math.max(planned, needed);
  return [...edits.slice(0, -1), { ...last, mediaTime, durationTicks }];
}
