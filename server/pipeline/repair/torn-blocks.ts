import { open } from 'node:fs/promises';
import { openTorn } from '#server/media/h264/slice-data/torn-picture.ts';
import { unusualStart } from '#server/media/h264/slice-data/unusual-start.ts';
import { displayOrder, type DisplayOrder } from '#server/media/mp4/display-order.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import type { Finding } from '../analyse/analysis.ts';
import { badPictures, damagedData } from './damaged-pictures.ts';
import { openSmartSource, type SmartSource } from './smart-render/smart-render-source.ts';
import { nullIfUnfit } from './unfit.ts';
import { unitsNear } from './units-near.ts';

/** Which macroblocks of a damaged picture may be wrong, in row order; those before and after are as they were coded. */
export interface TornBlocks {
  readonly doubtedFrom: number;
  /** One past the last lost macroblock. */
  readonly end: number;
}

/**
 * Finds what can be read of damaged H.264 pictures whose references are intact: the first of each damaged stretch, in
 * decode order.
 * @param findings all of the clip
 * @param asked those of them whose pictures are wanted
 * @returns by display number; unknown pictures are left out
 */
export async function findTornBlocks(
  inputPath: string,
  info: MediaInfo,
  findings: readonly Finding[],
  asked: readonly Finding[],
): Promise<ReadonlyMap<number, TornBlocks>> {
  const found = new Map<number, TornBlocks>();
  const wanted = asked.filter((finding) => (damagedData(finding)?.length ?? 0) > 0);
  if (wanted.length === 0 || info.video[0]?.codec !== 'h264') return found;
  const file = await open(inputPath, 'r');
  try {
    const answer = await openSmartSource(file, info);
    if (!answer.ok) return found;
    const { source } = answer;
    const { samples, shownEdit } = source;
    const order = displayOrder(samples, shownEdit.startTicks, shownEdit.endTicks);
    const bad = samplesOf([...badPictures(findings)], order);
    for (const finding of wanted) {
      const [sample] = samplesOf(damagedData(finding) ?? [], order);
      if (sample === undefined || mayMissReference(source, sample, bad)) continue;
      const blocks = await readTorn(source, sample, bad);
      if (blocks) found.set((order.placeOf[sample] ?? 0) - order.firstShown, blocks);
    }
    return found;
  } finally {
    await file.close();
  }
}

/** The samples of shown pictures, decode order. */
const samplesOf = (frames: readonly number[], { samples, firstShown }: DisplayOrder): number[] =>
  frames.flatMap((frame) => samples[frame + firstShown] ?? []).sort((a, b) => a - b);

/** Whether a picture before a sample, in its group, is not true. */
function mayMissReference({ samples }: SmartSource, sample: number, bad: readonly number[]): boolean {
  const start = samples.findLastIndex(({ sync }, at) => sync && at <= sample);
  return bad.some((other) => other >= start && other < sample);
}

async function readTorn(
  source: SmartSource,
  sample: number,
  bad: readonly number[],
): Promise<TornBlocks | null> {
  try {
    const units = await source.units(sample);
    const lost = openTorn(units, source.sps, source.pps)?.lost;
    const intact = unitsNear(source, sample, (other) => bad.includes(other));
    const noticed = lost && (await unusualStart(units, source, intact, lost));
    if (!lost || !noticed) return null;
    return { doubtedFrom: noticed.doubtedFrom, end: lost.end };
  } catch (error) {
    return nullIfUnfit(error);
  }
}
