import { BY_HAND, seenAs } from '#common/noticed.ts';
import type { Defect, RepairReport } from '#common/report.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { measureMended } from '../analyse/noticed/measure-mended.ts';
import { clock } from './build-report.ts';
import { heardMove } from './heard-move.ts';
import { isNear } from './near-figure.ts';
import type { Claim } from './verify-claims.ts';

interface ProbedFile {
  readonly path: string;
  readonly info: MediaInfo;
}

/** Where a sound is heard is measured in samples, but a decoder may begin a little later; ms. */
const MOVE_TOLERANCE_MS = 1;

/**
 * Claims of a report about a clip that somebody marked: each mended place is measured again on the result, and how far
 * the sound was moved. The detectors need not see a marked place, so that they see none afterwards proves nothing.
 * @throws MediaToolError when a tool cannot run
 */
export async function markedClaims(
  original: ProbedFile,
  result: ProbedFile,
  { marked, defects }: Pick<RepairReport, 'marked' | 'defects'>,
  tools: ToolPaths,
): Promise<Claim[]> {
  if (!marked) return [];
  const places = marked.places.length > 0 ? await placeClaims(result, defects, tools) : [];
  const moved = defects.find(({ detector }) => detector === BY_HAND);
  return moved ? [...places, await movedClaim(original, result, moved, marked.soundShiftMs, tools)] : places;
}

async function placeClaims(clip: ProbedFile, defects: readonly Defect[], tools: ToolPaths): Promise<Claim[]> {
  const { signal } = new AbortController();
  const measured = await measureMended({
    clip,
    defects,
    task: { tools },
    signal,
    onProgress: () => undefined,
  });
  return defects.flatMap((defect) => {
    const place = measured.get(defect.id);
    if (!place) return [];
    const { measure, startMs } = defect;
    const said = measure.after;
    const isSame =
      said === null || place.after === null
        ? said === place.after
        : isNear(place.after, { before: said, threshold: measure.threshold });
    const told = (value: number | null) => (value === null ? 'not measurable' : value.toFixed(3));
    return [
      {
        claim: `motion at the ${seenAs(defect)} at ${clock(startMs)}, as a share of that around it`,
        confirmed: isSame,
        detail: `${told(place.before)} before, ${told(place.after)} now; the report says ${told(said)}.`,
      },
    ];
  });
}

async function movedClaim(
  original: ProbedFile,
  result: ProbedFile,
  { measure }: Defect,
  shiftMs: number,
  tools: ToolPaths,
): Promise<Claim> {
  const heard = (file: ProbedFile) => ({ ...file, pictureMs: file.info.video[0]?.startMs ?? 0, tools });
  const movedMs = await heardMove(heard(original), heard(result), shiftMs);
  const said = measure.after;
  return {
    claim: `the sound was moved by ${shiftMs} ms`,
    confirmed:
      said === null || movedMs === null ? said === movedMs : Math.abs(movedMs - said) <= MOVE_TOLERANCE_MS,
    detail:
      movedMs === null
        ? 'Nothing in it is loud enough to be found again.'
        : `Heard ${movedMs.toFixed(1)} ms later; the report says ${said?.toFixed(1) ?? 'nothing'}.`,
  };
}
