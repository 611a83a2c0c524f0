import type { Fragment, FragmentRun, FragmentSample } from '#server/media/mp4/fragments.ts';
import { readInitialSamples } from '#server/media/mp4/fragmented-track.ts';
import type { Track } from '#server/media/mp4/movie.ts';
import { median } from '#server/media/statistics.ts';
import { LONGEST_SECONDS } from './rebuild-index-sane.ts';

export interface MendedFragments {
  readonly fragments: readonly Fragment[];
  /** Number of impossible times that were corrected. */
  readonly mended: number;
}

/** Sound frames have equal durations. Single ones are stretched to stay in step, but not by this factor. */
const MOST_SOUND = 10;
/** Most samples by which writers' rounded numbers may differ. */
const ROUNDED = 2;

/**
 * Corrects impossible times of fragments: a start far from the end of the previous run although the next one is in
 * place, a start that goes back or jumps by hours, samples that last for hours. They are replaced by what the
 * neighbours tell.
 */
export function mendFragmentTimes(fragments: readonly Fragment[], tracks: readonly Track[]): MendedFragments {
  const changed = new Map<FragmentRun, FragmentRun>();
  for (const track of tracks) {
    const runs = fragments.flatMap((fragment) =>
      fragment.runs.filter(({ trackId }) => trackId === track.trackId),
    );
    for (const [run, better] of mendTrack(track, runs)) changed.set(run, better);
  }
  const mended = fragments.map((fragment) => {
    return { ...fragment, runs: fragment.runs.map((run) => changed.get(run) ?? run) };
  });
  return { fragments: mended, mended: changed.size };
}

function mendTrack(track: Track, runs: readonly FragmentRun[]): [FragmentRun, FragmentRun][] {
  const usual = median(runs.flatMap(({ samples }) => samples.map(({ durationTicks }) => durationTicks)));
  const longest = LONGEST_SECONDS * track.timescale;
  const most = track.handler === 'soun' && usual > 0 ? Math.min(longest, MOST_SOUND * usual) : longest;
  const sane = runs.map((run, index) => {
    const limit = leadsOn(run, runs[index + 1] ?? null, ROUNDED * usual) ? longest : most;
    // Nothing contradicts a late start where no next run tells its own.
    const isDelayed = index === 0 && run.startTicks !== null && (runs[1]?.startTicks ?? null) === null;
    return {
      ...run,
      samples: run.samples.map((sample, at) => saneSample(sample, isDelayed && at === 0 ? longest : limit)),
    };
  });
  function saneSample(sample: FragmentSample, limit: number): FragmentSample {
    const { durationTicks, shiftTicks } = sample;
    if (durationTicks <= limit && Math.abs(shiftTicks) <= longest) return sample;
    return {
      ...sample,
      durationTicks: durationTicks <= limit ? durationTicks : usual,
      shiftTicks: Math.abs(shiftTicks) <= longest ? shiftTicks : 0,
    };
  }
  const listed = readInitialSamples(track).at(-1);
  let nextTicks = listed ? listed.dts + listed.durationTicks : null;
  const out: [FragmentRun, FragmentRun][] = [];
  for (const [index, run] of sane.entries()) {
    const old = runs[index];
    const told = run.startTicks;
    const start = mendStart(sane, index, { nextTicks, longest, tolerance: ROUNDED * usual });
    const better = start === told ? run : { ...run, startTicks: start };
    const hasChanged = start !== told || run.samples.some((sample, at) => sample !== old?.samples[at]);
    if (old && hasChanged) out.push([old, better]);
    nextTicks = (start ?? nextTicks ?? 0) + lengthOf(run);
  }
  return out;
}

/**
 * Whether the next run begins where this one ends, so that its samples are as long as stated. ffmpeg's fragments have
 * no edit lists: a stream that starts late has its first sample at the beginning, extended up to the second. A hole in
 * the sound extends the sample in front of it.
 */
function leadsOn(run: FragmentRun, next: FragmentRun | null, tolerance: number): boolean {
  const [start, behind] = [run.startTicks, next?.startTicks ?? null];
  return start !== null && behind !== null && Math.abs(behind - start - lengthOf(run)) <= tolerance;
}

const lengthOf = ({ samples }: FragmentRun) =>
  samples.reduce((sum, { durationTicks }) => sum + durationTicks, 0);

interface Place {
  /** Where the track continues; null at its start. */
  readonly nextTicks: number | null;
  readonly longest: number;
  readonly tolerance: number;
}

/** Start of a run; told by its neighbours if its own number is impossible. */
function mendStart(
  runs: readonly FragmentRun[],
  index: number,
  { nextTicks, longest, tolerance }: Place,
): number | null {
  const [run, after, later] = runs.slice(index, index + 3);
  const told = run?.startTicks ?? null;
  if (!run || told === null) return told;
  const isNear = (a: number, b: number) => Math.abs(a - b) <= tolerance;
  const behind = after?.startTicks ?? null;
  if (nextTicks === null) {
    // A gap after the first run is a loss; going back, or lasting for hours, is a wrong time.
    const rise = (behind ?? 0) - told - lengthOf(run);
    const isFirstOff = behind !== null && (rise < -tolerance || rise > longest);
    const third = later?.startTicks ?? null;
    const agree = behind !== null && after && third !== null && isNear(third, behind + lengthOf(after));
    return isFirstOff && agree ? Math.max(0, behind - lengthOf(run)) : told;
  }
  if (isNear(told, nextTicks)) return told;
  const isNextInPlace = behind !== null && isNear(behind, nextTicks + lengthOf(run));
  return isNextInPlace || told < nextTicks - longest || told > nextTicks + longest ? nextTicks : told;
}
