import type { PictureTimes } from './analysis.ts';
import { EVEN, fitBoth, holdUnsettled } from './dropped-frames/copies-and-losses.ts';
import { findLosses, type Losses, type LossInput } from './dropped-frames/find-losses.ts';
import { hasOpenStep } from './dropped-frames/freed-time.ts';
import { surplusByLengths, surplusForCopies } from './packets/picture-surplus.ts';
import { detectStutter, type StutterRun } from './stutter/detect-stutter.ts';
import { isRestBesideDamage } from './stutter/stutter-beside-damage.ts';
import { putIn, repeatsOf } from './stutter/stutter-history.ts';

export interface RunsAndLossesInput extends Omit<LossInput, 'surplusMs'> {
  /** Digital silence before the sound, ms. */
  readonly leadingSilenceMs: number;
  /** Whether a picture with damaged data is right before or after a run. */
  readonly isTornBeside: (run: StutterRun) => boolean;
}

/**
 * Finds repeats and hidden losses, and settles what each run is: they are weighed together, because both change the
 * length of the picture and can hide each other in it.
 */
export function settleRunsAndLosses(input: RunsAndLossesInput): Losses {
  const { series, cuts, fps, spans } = input;
  const inPictures = (ms: number) => (ms * fps) / 1000;
  const inMs = (pictures: number) => (pictures * 1000) / fps;
  const findRuns = (pictureSurplus: number | null) => findStutter(input, pictureSurplus);
  const plainMs = spans && surplusByLengths(spans);
  const plainRuns = findRuns(plainMs === null ? null : inPictures(plainMs));
  const [repeatsMs, plainPutInMs] = [inMs(repeatsOf(plainRuns)), inMs(putIn(plainRuns))];
  const surplusMs = spans && surplusForCopies(spans, repeatsMs, input.leadingSilenceMs, plainPutInMs);
  const likely = surplusMs === null || surplusMs === plainMs ? plainRuns : findRuns(inPictures(surplusMs));
  const lossesBeside = (runs: readonly StutterRun[]) => findLosses(runs, { ...input, surplusMs });
  const withLikely = lossesBeside(likely);
  // If the sound itself is not missing anything, losses do not justify removing copies that their place and the other
  // runs do not call inserted.
  const missesSome = inPictures(surplusMs ?? 0) <= -EVEN;
  const arePutInAlone = (runs: readonly StutterRun[]) => {
    const alone = findRuns(null);
    return runs.every(({ first, endsAtCut }) => {
      return !endsAtCut && putIn(alone.filter((run) => run.first === first)) > 0;
    });
  };
  const lookAgain = (lostPictures: number) => {
    const again = findRuns(inPictures(surplusMs ?? 0) + lostPictures);
    const isBelieved = missesSome || arePutInAlone(again.filter(({ history }) => history !== 'held'));
    return isBelieved ? lossesBeside(again) : withLikely;
  };
  const both = fitBoth(withLikely, lookAgain);
  return holdUnsettled(
    both,
    (pictures) => hasOpenStep(series, cuts, both.taken, pictures),
    () => lossesBeside(both.runs.map((run) => ({ ...run, history: 'held' }))),
  );
}

/**
 * Repeats that are the clip's own, not the traces of damage.
 * @param pictureSurplus pictures by which the picture outlasts the sound; null without sound
 */
function findStutter(input: RunsAndLossesInput, pictureSurplus: number | null): StutterRun[] {
  const { series, cuts, fps, index, isTornBeside } = input;
  const { isSound, speaksTrue } = input.trust;
  const moves = series.blockDiff.get(1) ?? [];
  const isTorn = (at: number) => !speaksTrue(at);
  return detectStutter(series, { cuts, fps, pictureSurplus, isTorn }).flatMap((run) => {
    const own = withoutConcealed(run, isSound, speaksTrue);
    if (own === null || isRestBesideDamage(own, { moves, cuts, isSound, speaksTrue })) return [];
    const isRest = index.times.variableByNature && (own.last === own.first || isWaited(own, index));
    return !isRest ? [besideDamage(own, pictureSurplus, isTornBeside(own))] : [];
  });
}

/**
 * A recorder that writes pictures when something changes leaves none for this many usual intervals only if nothing
 * does. In a screen recording at rest behind a scroll it is 20.
 */
const WAITED = 4;

interface WaitedIndex {
  readonly times: Pick<PictureTimes, 'ptsTicks' | 'medianIntervalTicks'>;
  readonly frameOfDecoded: readonly number[];
}

/** Whether a recorder of variable rate waited with one of a run's pictures, or with the one it repeats. */
export function isWaited(
  { first, last }: Pick<StutterRun, 'first' | 'last'>,
  { times, frameOfDecoded }: WaitedIndex,
): boolean {
  const shown = times.ptsTicks.slice(
    Math.max(0, (frameOfDecoded[first] ?? first) - 1),
    (frameOfDecoded[last] ?? last) + 2,
  );
  const waited = WAITED * times.medianIntervalTicks;
  return shown.some((pts, i) => i > 0 && pts - (shown[i - 1] ?? pts) >= waited);
}

/**
 * Limits a run to what the clip itself repeats: concealed pictures, whose own data are damaged, are removed from its
 * ends. Null if too few true copies remain, because concealed damage looks like repeats, and so may single pictures
 * beside it.
 */
function withoutConcealed(
  run: StutterRun,
  isSound: (decoded: number) => boolean,
  speaksTrue: (decoded: number) => boolean,
): StutterRun | null {
  let { first, last } = run;
  const isTrue = (decoded: number) => isSound(decoded) && speaksTrue(decoded);
  if (isTrue(first) && isTrue(last)) return run;
  while (first <= last && !speaksTrue(first)) first += 1;
  while (last >= first && !speaksTrue(last)) last -= 1;
  let copies = 0;
  for (let at = first; at <= last; at += 1) if (speaksTrue(at)) copies += 1;
  // A damaged picture among copies counts as one: the data of those after it say that nothing moved.
  return copies > 1 && 2 * copies > last - first + 1 ? { ...run, first, last } : null;
}

/** Repeats beside damaged data count as inserted only if the picture outlasts the sound by this share of them. */
const PUT_IN_SHARE = 0.3;

/**
 * Treats a run right beside a picture with damaged data as held, unless the lengths say that it was inserted. Such a
 * run may not be real, because almost nothing moves in concealed pictures, and the step that shows what was inserted is
 * damaged too.
 * @param surplus pictures by which the picture outlasts the sound, null without sound
 * @param isBeside whether such a picture is right before or after it
 */
export function besideDamage(run: StutterRun, surplus: number | null, isBeside: boolean): StutterRun {
  const isSpokenFor = surplus === null || surplus >= PUT_IN_SHARE * (run.last + 1 - run.first);
  return isBeside && !isSpokenFor ? { ...run, history: 'held' } : run;
}
