import { open } from 'node:fs/promises';
import path from 'node:path';
import { displayOrder } from '#server/media/mp4/display-order.ts';
import type { ByteRange } from '#server/media/mp4/file-bytes.ts';
import type { ChangedSpan, PictureEdit } from '../picture-edit.ts';
import type { SmartRenderResult } from './smart-render.ts';
import { raiseCounts, type RaiseInput } from './smart-render-raise.ts';
import { withVacant, type SmartSource } from './smart-render-source.ts';
import { withVacancies, type Vacated } from './smart-render-vacancies.ts';

/** A clip in which lost pictures have places, and what of it lies elsewhere for their sake. */
export interface PlacedClip {
  readonly vacated: Vacated<SmartSource>;
  /** Samples with other order counts than in the file. */
  readonly moved: ReadonlyMap<number, ByteRange>;
}

/** What became of it; `unfilled` names spans whose pictures could not be put into their places, where nothing was written for that. */
export type PlacedResult =
  | { readonly result: SmartRenderResult }
  | { readonly unfilled: ReadonlySet<ChangedSpan> };

export interface RaisedInput extends Omit<RaiseInput, 'order' | 'uncounted' | 'spool'> {
  readonly edit: PictureEdit;
  /** Spans that show more pictures than the order counts leave room for. */
  readonly noRoom: ReadonlySet<ChangedSpan>;
  readonly render: (placed: PlacedClip) => Promise<PlacedResult>;
}

/** Tries with fewer spans each time. */
const MOST_TRIES = 2;

/**
 * Renders a clip with the order counts raised where pictures are put in that were never counted; all others keep what they show.
 * @returns null where no span can be filled so
 * @throws MediaToolError when ffmpeg fails or the run is cancelled
 */
export async function renderRaised(input: RaisedInput): Promise<SmartRenderResult | null> {
  const { source, edit, noRoom, workDir, render } = input;
  if (noRoom.size === 0) return null;
  const spool = await open(path.join(workDir, 'smart-render.raised'), 'w+');
  const left = new Set<ChangedSpan>();
  try {
    for (let tries = 0; tries < MOST_TRIES && left.size < noRoom.size; tries += 1) {
      const placed = new Set([...noRoom].filter((span) => !left.has(span)));
      const vacated = withVacancies(source, edit, withVacant, { placed, left });
      if (vacated.uncounted.size === 0) return null;
      const { samples, shownEdit } = vacated.source;
      const order = displayOrder(samples, shownEdit.startTicks, shownEdit.endTicks);
      const uncounted = [...vacated.uncounted.keys()];
      const raised = await raiseCounts({ ...input, source: vacated.source, order, uncounted, spool });
      if (!raised) return null;
      const { moved } = raised;
      const answer = await render({ vacated: { ...vacated, source: raised.source }, moved });
      if ('result' in answer) return answer.result;
      for (const span of answer.unfilled) left.add(span);
    }
    return null;
  } finally {
    await spool.close();
  }
}
