import { open, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { displayOrder, type DisplayOrder } from '#server/media/mp4/display-order.ts';
import type { ByteRange } from '#server/media/mp4/file-bytes.ts';
import type { VideoStreamInfo } from '#server/media/probe/probe.ts';
import type { ChangedSpan } from '../picture-edit.ts';
import type { RawFormat } from '../rebuild-pictures/rebuild-pictures-raw.ts';
import type { SmartRenderInput, SmartRenderResult } from './smart-render.ts';
import type { ClipSource } from './smart-render-source.ts';
import type { RoomlessSpans, Vacated } from './smart-render-vacancies.ts';

/** A clip whose order counts leave room for pictures that were never counted. */
export interface RaisedClip<Source> {
  readonly source: Source;
  /** New places of samples whose order counts changed; their other data are the same. */
  readonly moved: ReadonlyMap<number, ByteRange>;
}

/** A clip in which lost pictures have places, and the samples that were moved for that. */
export interface PlacedClip<Source> {
  readonly vacated: Vacated<Source>;
  readonly moved: RaisedClip<Source>['moved'];
}

/** A clip whose lost pictures get places, and what is requested of it. */
export interface RenderJob extends SmartRenderInput {
  readonly stream: VideoStreamInfo;
  readonly format: RawFormat;
  /** Coded data are written here. */
  readonly spool: FileHandle;
}

/**
 * The result; `unfilled` names spans whose pictures could not be put into their places, if nothing was written because
 * of that.
 */
export type PlacedResult =
  | { readonly result: SmartRenderResult }
  | { readonly unfilled: ReadonlySet<ChangedSpan> };

/** The clip cannot be rendered this way. */
export const declined = (reason: string): PlacedResult => ({ result: { done: false, reason } });

/** A clip with places for uncounted pictures in its coded stream, but no room in its order counts. */
export interface Roomless<Source> {
  readonly source: Source;
  readonly order: DisplayOrder;
  /** Samples of those pictures. */
  readonly uncounted: readonly number[];
  /** Samples with new counts are written here. */
  readonly spool: FileHandle;
}

export interface RaisedInput<Source extends ClipSource> {
  /** Spans that show more pictures than the order counts have room for. */
  readonly noRoom: ReadonlySet<ChangedSpan>;
  readonly workDir: string;
  readonly place: (noRoom: RoomlessSpans) => Vacated<Source>;
  /** Null if no room can be made. */
  readonly raise: (roomless: Roomless<Source>) => Promise<RaisedClip<Source> | null>;
  readonly render: (placed: PlacedClip<Source>) => Promise<PlacedResult>;
}

/** Samples with other bytes, by number. */
export type Written = ReadonlyMap<number, ByteRange>;

/**
 * The first of several ways to rewrite a group that leaves its pictures the same.
 * @param hash hashes of all pictures of the group with the rewritten samples
 */
export async function firstAlike<Way>(
  ways: readonly Way[],
  write: (way: Way) => Promise<Written>,
  hash: (written: Written) => Promise<readonly string[]>,
): Promise<{ readonly way: Way; readonly written: Written } | null> {
  if (ways.length === 0) return null;
  const before = await hash(new Map());
  for (const way of ways) {
    const written = await write(way);
    const after = await hash(written);
    if (before.length === after.length && before.every((one, at) => one === after[at]))
      return { way, written };
  }
  return null;
}

/** Most attempts, each with fewer spans. */
const MOST_TRIES = 2;

/**
 * Renders a clip with raised order counts where uncounted pictures are inserted, so that all others keep what they
 * show. Spans for which that fails are encoded again, together with the rest of their groups.
 * @throws MediaToolError when ffmpeg fails or the run is cancelled
 */
export async function renderRaised<Source extends ClipSource>(
  input: RaisedInput<Source>,
): Promise<SmartRenderResult> {
  const { noRoom, workDir, place, raise, render } = input;
  const left = new Set<ChangedSpan>();
  const spool = noRoom.size > 0 ? await open(path.join(workDir, 'smart-render.raised'), 'w+') : null;
  try {
    for (let tries = 0; spool && tries < MOST_TRIES && left.size < noRoom.size; tries += 1) {
      const placed = new Set([...noRoom].filter((span) => !left.has(span)));
      const vacated = place({ placed, left });
      const { source } = vacated;
      const order = displayOrder(source.samples, source.shownEdit.startTicks, source.shownEdit.endTicks);
      const uncounted = [...vacated.uncounted.keys()];
      const raised = uncounted.length > 0 ? await raise({ source, order, uncounted, spool }) : null;
      if (!raised) break;
      const { moved } = raised;
      const answer = await render({ vacated: { ...vacated, source: raised.source }, moved });
      if ('result' in answer) return answer.result;
      for (const span of answer.unfilled) left.add(span);
    }
    const vacated = place({ placed: new Set(), left: noRoom });
    const answer = await render({ vacated, moved: new Map() });
    if ('result' in answer) return answer.result;
    return { done: false, reason: 'Lost pictures have no place in the stream.' };
  } finally {
    await spool?.close();
  }
}

/** The spans whose uncounted pictures are not among some samples. */
export function unfilledOf(
  { uncounted }: Pick<Vacated<unknown>, 'uncounted'>,
  filled: Iterable<number>,
): ReadonlySet<ChangedSpan> {
  const done = new Set(filled);
  return new Set([...uncounted].flatMap(([sample, span]) => (done.has(sample) ? [] : [span])));
}
