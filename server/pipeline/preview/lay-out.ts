import type { ComparisonLayout, ComparisonPiece, ComparisonPlace } from '#common/api/comparison.ts';
import type { Defect, MediaSummary, RepairReport } from '#common/report.ts';
import { movesLaterBy, toResultMs } from '#common/time-axis.ts';
import { evenSize, previewRate, type Rate } from './preview-shape.ts';

/** Context around a mended place, so that the eye can follow the motion. */
const FLANK_MS = 1000;
/** Of a place that is mended over minutes, only the beginning is shown; wind sounds the same after half a minute. */
const LONGEST_PLACE_MS = 30_000;
const SHORTEST_PLACE_MS = 500;
/** Limits the cost to about the time that the repair of such a clip takes. */
const LONGEST_PREVIEW_MS = 90_000;

/** The layout, with what is needed only for making it. */
export interface PreviewPlan {
  readonly layout: Omit<ComparisonLayout, 'hasSound'>;
  readonly rate: Rate;
  /** Number of pictures of each piece. */
  readonly pieceFrames: readonly number[];
}

interface Span {
  startMs: number;
  endMs: number;
}

/**
 * Plans the comparison of a repair: every mended place with a second before and behind it, overlapping ones joined. All
 * times follow from the report: times move by what a repair removed or inserted.
 * @returns null when nothing was mended, or the clip has no picture
 */
export function layOutPreview(report: RepairReport): PreviewPlan | null {
  const { original, result } = report;
  const size = halfSize(result.media);
  const mended = report.defects.filter((defect) => defect.outcome === 'repaired');
  if (size === null || mended.length === 0) return null;
  const { spans, shown } = chooseSpans(mended, original.media.durationMs);
  const rate = previewRate(result.media.frameRate);
  const cut = cutWhereTimeMoves(spans, mended);
  const pieces: ComparisonPiece[] = [];
  const pieceFrames: number[] = [];
  let frames = 0;
  for (const { startMs, endMs } of cut) {
    const resultStartMs = toResultMs(startMs, mended);
    const resultEndMs = Math.min(toResultMs(endMs, mended), result.media.durationMs);
    const lengthMs = Math.max(endMs - startMs, resultEndMs - resultStartMs);
    const count = Math.max(1, Math.round((lengthMs * rate.num) / rate.den / 1000));
    pieces.push({
      originalStartMs: startMs,
      originalEndMs: endMs,
      resultStartMs,
      resultEndMs: Math.max(resultStartMs, resultEndMs),
      previewStartMs: framesToMs(frames, rate),
      previewEndMs: framesToMs(frames + count, rate),
    });
    pieceFrames.push(count);
    frames += count;
  }
  const layout = {
    ...size,
    frameRate: rate.num / rate.den,
    durationMs: framesToMs(frames, rate),
    places: shown.map((defect) => placeOf(defect, pieces)),
    pieces,
    leftOut: mended.length - shown.length,
  };
  return { layout, rate, pieceFrames };
}

function halfSize(media: MediaSummary): { width: number; height: number } | null {
  if (media.width === null || media.height === null) return null;
  const turned = Math.abs(media.rotation ?? 0) % 180 === 90;
  return turned ? evenSize(media.height, media.width) : evenSize(media.width, media.height);
}

/** Windows of the places, all shortened alike until they fit; what still does not fit is left out at the end. */
function chooseSpans(mended: readonly Defect[], durationMs: number): { spans: Span[]; shown: Defect[] } {
  const bySpan = [...mended].sort((a, b) => a.startMs - b.startMs);
  const windowsAt = (longestMs: number, defects: readonly Defect[]) =>
    join(defects.map((defect) => windowOf(defect, longestMs, durationMs)));
  let longestMs = LONGEST_PLACE_MS;
  while (longestMs > SHORTEST_PLACE_MS && total(windowsAt(longestMs, bySpan)) > LONGEST_PREVIEW_MS) {
    longestMs /= 2;
  }
  let shown = bySpan;
  while (shown.length > 1 && total(windowsAt(longestMs, shown)) > LONGEST_PREVIEW_MS) {
    shown = shown.slice(0, Math.max(1, Math.floor(shown.length * 0.9)));
  }
  const kept = new Set(shown);
  return { spans: windowsAt(longestMs, shown), shown: mended.filter((defect) => kept.has(defect)) };
}

function windowOf({ startMs, endMs }: Defect, longestMs: number, durationMs: number): Span {
  const from = Math.min(Math.max(0, startMs), durationMs);
  const end = Math.min(Math.max(endMs, from), from + longestMs) + FLANK_MS;
  return { startMs: Math.max(0, from - FLANK_MS), endMs: Math.min(end, Math.max(durationMs, from + 1)) };
}

function join(windows: readonly Span[]): Span[] {
  const joined: Span[] = [];
  for (const window of [...windows].sort((a, b) => a.startMs - b.startMs)) {
    const last = joined.at(-1);
    if (last && window.startMs <= last.endMs) last.endMs = Math.max(last.endMs, window.endMs);
    else joined.push({ ...window });
  }
  return joined;
}

function total(spans: readonly Span[]): number {
  return spans.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0);
}

/**
 * Ends a piece a second behind each place that moved the time, or before the next place. From there both sides start at
 * the same moment again, so that later places are shown side by side.
 */
function cutWhereTimeMoves(spans: readonly Span[], mended: readonly Defect[]): Span[] {
  const starts = mended.map(({ startMs }) => startMs);
  const cutsMs = mended
    .filter((defect) => movesLaterBy(defect) !== 0)
    .map(({ endMs }) => {
      const next = Math.min(...starts.filter((startMs) => startMs > endMs));
      return Math.min(endMs + FLANK_MS, (endMs + next) / 2);
    })
    .sort((a, b) => a - b);
  return spans.flatMap(({ startMs, endMs }) => {
    const inside = cutsMs.filter((ms) => ms > startMs && ms < endMs - 1);
    const edges = [startMs, ...inside, endMs];
    return edges.slice(1).map((edge, index) => ({ startMs: edges[index] ?? startMs, endMs: edge }));
  });
}

function placeOf({ id, kind, startMs, endMs }: Defect, pieces: readonly ComparisonPiece[]): ComparisonPlace {
  const previewStartMs = toPreviewMs(startMs, pieces);
  return {
    defectId: id,
    kind,
    startMs,
    endMs,
    previewStartMs,
    previewEndMs: Math.max(previewStartMs, endOf(endMs, startMs, pieces)),
  };
}

function toPreviewMs(originalMs: number, pieces: readonly ComparisonPiece[]): number {
  const piece = pieces.find((one) => originalMs <= one.originalEndMs) ?? pieces.at(-1);
  if (!piece) return 0;
  const inside = Math.max(0, originalMs - piece.originalStartMs);
  return Math.min(piece.previewEndMs, piece.previewStartMs + inside);
}

/** A shortened place ends where the pieces that follow each other without a jump end. */
function endOf(endMs: number, startMs: number, pieces: readonly ComparisonPiece[]): number {
  let reachMs = startMs;
  for (const { originalStartMs, originalEndMs } of pieces) {
    if (originalEndMs >= startMs && originalStartMs <= reachMs + 1)
      reachMs = Math.max(reachMs, originalEndMs);
  }
  return toPreviewMs(Math.min(endMs, reachMs), pieces);
}

function framesToMs(frames: number, rate: Rate): number {
  return (frames * rate.den * 1000) / rate.num;
}
