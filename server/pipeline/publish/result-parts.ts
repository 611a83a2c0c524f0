import type { FileHandle } from 'node:fs/promises';
import { cutPart, oneBehindTheOther } from '#server/media/mp4/cut-part.ts';
import { startedAt, toSimpleEdit } from '#server/media/mp4/edit-list.ts';
import { clearsDecoder, isUnreferred } from '#server/media/h264/unreferred.ts';
import { readListedMovie } from '#server/media/mp4/listed-movie.ts';
import { findVideoTrack } from '#server/media/mp4/movie.ts';
import { readAvcConfig } from '#server/media/mp4/sample-entry.ts';
import { readSamples, type Sample } from '#server/media/mp4/sample-table.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import type { PictureTimes } from '../analyse/analysis.ts';
import type { Window } from './look-again.ts';

export interface ResultParts {
  /**
   * Groups windows that fit into one part each. If each begins with a picture that clears the decoder, they decode one
   * after the other as they would alone; starting a decoder costs more than decoding 20 pictures.
   * @returns null when the tables of the file do not list these pictures
   * @throws Mp4Error when the file cannot be read
   */
  group(windows: readonly Window[]): Promise<PartToCut[] | null>;
}

export interface PartToCut {
  readonly windows: readonly Window[];
  /**
   * Writes the pictures of the windows as a clip of their own and describes it as ffprobe would.
   * @throws Mp4Error when the file cannot be read
   */
  cut(outputPath: string, signal?: AbortSignal): Promise<ResultPart>;
}

export interface ResultPart {
  readonly info: MediaInfo;
  /** Time of the first picture of the part to examine. */
  readonly fromTicks?: number;
}

/**
 * Opens a result for cutting parts out of its pictures, with coded bytes unchanged.
 * @returns null when its tables are unusual
 * @throws Mp4Error when they cannot be read
 */
export async function openParts(
  file: FileHandle,
  info: MediaInfo,
  pictures: PictureTimes,
): Promise<ResultParts | null> {
  const stream = info.video[0];
  if (!stream || info.format !== 'mov') return null;
  const movie = await readListedMovie(file);
  const track = findVideoTrack(movie, stream.index);
  const plain = toSimpleEdit(track.edits, movie.timescale, track.timescale);
  const { num, den } = pictures.timeBase;
  if (movie.fragmented || !plain || num !== 1 || den !== track.timescale) return null;
  const samples = readSamples(track.stbl);
  const edit = startedAt(plain, samples);
  const toMs = (ticks: number) => (ticks * 1000) / track.timescale;
  const avcC = track.entries[0]?.boxes.find(({ type }) => type === 'avcC');
  const lengthSize = avcC && track.entries.length === 1 ? readAvcConfig(avcC.payload).lengthSize : null;
  // Pictures shown before the examined part are only decoded if others refer to them.
  const withoutUnseen = async (part: readonly Sample[], fromPts: number): Promise<Sample[]> => {
    const needed: Sample[] = [];
    for (const sample of part) {
      const before = needed.at(-1);
      const isUnseen = lengthSize !== null && before !== undefined && sample.pts < fromPts;
      if (isUnseen && (await isUnreferred(file, sample, lengthSize))) {
        needed[needed.length - 1] = { ...before, durationTicks: before.durationTicks + sample.durationTicks };
      } else needed.push(sample);
    }
    return needed;
  };
  const partOf = async (window: Window): Promise<WindowPart | null> => {
    const ticks = pictures.ptsTicks[window.first];
    const first = samples.findIndex(({ pts }) => pts + edit.offsetTicks === ticks);
    const head = samples[first];
    if (!head?.sync) return null;
    // Leading pictures of an open group belong to the stretch before; in HEVC no later one needs them.
    const from = stream.codec === 'hevc' ? head.pts : Number.NEGATIVE_INFINITY;
    const part = samples.slice(first, first + window.packets).filter(({ pts }) => pts >= from);
    // The part must have as many pictures as the window and begin with the key picture, so that both count alike.
    if (part.length !== window.end - window.first || part.some(({ pts }) => pts < head.pts)) return null;
    const shownTicks = pictures.ptsTicks[window.shown];
    const fromPts =
      window.shown === window.first || shownTicks === undefined ? null : shownTicks - edit.offsetTicks;
    const needed = fromPts === null ? part : await withoutUnseen(part, fromPts);
    return { head, samples: needed, fromPts, durationTicks: ticksOf(part) };
  };
  const mayFollow = async ({ head, fromPts }: WindowPart): Promise<boolean> =>
    fromPts === null && lengthSize !== null && clearsDecoder(file, head, lengthSize);
  const cutInto = async (
    group: Group,
    outputPath: string,
    signal: AbortSignal | undefined,
  ): Promise<ResultPart> => {
    await cutPart({ file, movie, track, samples: group.samples, outputPath, signal });
    const { head, fromPts } = group.first;
    const startMs = toMs(head.pts - head.dts);
    const durationMs = toMs(group.durationTicks);
    const video = [{ ...stream, index: 0, startMs, durationMs, frameCount: group.samples.length }];
    const media = { ...info, startMs, durationMs, video, audio: [], others: [] };
    return fromPts === null ? { info: media } : { info: media, fromTicks: fromPts - head.dts };
  };
  return {
    async group(windows) {
      const groups: Group[] = [];
      for (const window of windows) {
        const part = await partOf(window);
        if (!part) return null;
        const { samples: own, durationTicks } = part;
        const mayJoin = await mayFollow(part);
        const last = mayJoin ? groups.at(-1) : undefined;
        const joined = last?.mayJoin ? oneBehindTheOther([last.samples, own]) : null;
        if (last && joined) {
          last.windows.push(window);
          last.samples = joined;
          last.durationTicks += durationTicks;
        } else groups.push({ windows: [window], first: part, mayJoin, samples: own, durationTicks });
      }
      return groups.map((group) => ({
        windows: group.windows,
        cut: (outputPath, signal) => cutInto(group, outputPath, signal),
      }));
    },
  };
}

/** Windows in one part. */
interface Group {
  readonly windows: Window[];
  readonly first: WindowPart;
  /** Whether others may join it: all its windows begin with pictures that clear the decoder. */
  readonly mayJoin: boolean;
  /** Samples of all windows, one after the other. */
  samples: readonly Sample[];
  durationTicks: number;
}

/** The samples of a file that make a window. */
interface WindowPart {
  /** The key picture that it begins with. */
  readonly head: Sample;
  readonly samples: readonly Sample[];
  /** Time of the first picture to examine, if others come before it. */
  readonly fromPts: number | null;
  readonly durationTicks: number;
}

const ticksOf = (samples: readonly Sample[]): number =>
  samples.reduce((sum, { durationTicks }) => sum + durationTicks, 0);
