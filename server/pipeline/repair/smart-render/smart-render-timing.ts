import type { Sample } from '#server/media/mp4/sample-table.ts';
import type { Segment } from './smart-render-plan.ts';

/** Times of one sample of the result, media timescale ticks. */
export interface SampleTimes {
  readonly dts: number;
  readonly pts: number;
  readonly durationTicks: number;
}

/** A sample of the result, in decode order: an original one, or a picture of a re-encoded stretch. */
export type ResultSample = SampleTimes & {
  readonly from:
    | { readonly kind: 'kept'; readonly sample: number }
    | { readonly kind: 'new'; readonly segment: number; readonly picture: number };
};

export type Timing =
  | {
      readonly ok: true;
      readonly samples: readonly ResultSample[];
      /** Added to all times so that the first decode time is 0; edit lists move by it. */
      readonly rebase: number;
    }
  | { readonly ok: false; readonly reason: string };

/**
 * Plans decode and presentation times of every sample of the result. Presentation times are the planned ones. Kept
 * samples keep their decode times, shifted with their surroundings. New ones take the decode times that they replace,
 * or are spread evenly before their presentation if the number of pictures changed.
 */
export function planTimes(samples: readonly Sample[], segments: readonly Segment[]): Timing {
  const out: { dts: number; pts: number; from: ResultSample['from'] }[] = [];
  const leaning = new Set(segments.flatMap((segment) => segment.leaning));
  const slotOf = new Map(
    segments.map((segment) => [segment.endSample, segment.endSample + freedSlots(segment)]),
  );
  let shift = 0;
  let next = 0;
  const keepUpTo = (end: number) => {
    for (; next < end; next++) {
      const sample = samples[next];
      if (!sample || leaning.has(next)) continue;
      out.push({
        dts: (samples[slotOf.get(next) ?? next] ?? sample).dts + shift,
        pts: sample.pts + shift,
        from: { kind: 'kept', sample: next },
      });
    }
  };
  for (const [number, segment] of segments.entries()) {
    keepUpTo(segment.firstSample);
    const slots = decodeSlots(samples, segment, shift, out.at(-1)?.dts ?? null);
    if (!slots) return { ok: false, reason: 'The new pictures leave no room for their decode times.' };
    const before = out.reduce((latest, sample) => Math.max(latest, sample.pts), -Infinity);
    const behind = (segment.nextPts ?? Infinity) + segment.shiftAfter;
    if (!risesBetween(before, segment, behind)) {
      return { ok: false, reason: 'The planned picture times do not rise.' };
    }
    segment.pictures.forEach(({ pts }, picture) => {
      out.push({ dts: slots[picture] ?? 0, pts, from: { kind: 'new', segment: number, picture } });
    });
    next = segment.endSample;
    shift = segment.shiftAfter;
  }
  keepUpTo(samples.length);
  riseToEnd(out);
  const [first] = out;
  if (!first) return { ok: false, reason: 'The planned changes leave no picture.' };
  // Tables count decode times from 0: an early start moves everything, a late one only this sample.
  const rebase = Math.max(0, -first.dts);
  if (first.dts > 0) first.dts = 0;
  const lastDuration = samples.at(-1)?.durationTicks ?? 1;
  const timed = out.map((sample, index) => ({
    from: sample.from,
    dts: sample.dts + rebase,
    pts: sample.pts + rebase,
    durationTicks: (out[index + 1]?.dts ?? sample.dts + Math.max(1, lastDuration)) - sample.dts,
  }));
  if (timed.some((sample, index) => sample.durationTicks <= 0 && index < timed.length - 1)) {
    return { ok: false, reason: 'The decode times of the result would not rise.' };
  }
  return { ok: true, samples: timed, rebase };
}

/**
 * Makes decode times rise. Two samples of an original may have the same decode time, as in security cameras that list a
 * picture without duration. The earlier one is then decoded a tick before, which no player shows.
 */
function riseToEnd(out: { dts: number; readonly from: ResultSample['from'] }[]): void {
  for (let at = out.length - 2; at >= 0; at -= 1) {
    const [sample, next] = out.slice(at, at + 2);
    if (sample?.from.kind === 'kept' && next && sample.dts === next.dts) sample.dts -= 1;
  }
}

function risesBetween(before: number, segment: Segment, behind: number): boolean {
  let latest = before;
  for (const { pts } of segment.pictures) {
    if (pts <= latest) return false;
    latest = pts;
  }
  return latest < behind;
}

/**
 * Number of decode times right after the next kept sample whose pictures belong to the stretch. That sample takes the
 * last of them, so that each picture before it has one.
 */
function freedSlots({ endSample, leaning }: Segment): number {
  let count = 0;
  while (leaning.includes(endSample + 1 + count)) count++;
  return count;
}

/** Decode times for the pictures of one stretch; null if they do not fit between its neighbours. */
function decodeSlots(
  samples: readonly Sample[],
  segment: Segment,
  shift: number,
  previousDts: number | null,
): number[] | null {
  const count = segment.pictures.length;
  const end = segment.endSample + freedSlots(segment);
  const old = samples.slice(segment.firstSample, end).map((sample) => sample.dts + shift);
  const inPlace =
    old.length === count &&
    segment.shiftAfter === shift &&
    segment.pictures.every((picture, index) => (old[index] ?? Infinity) <= picture.pts);
  if (inPlace) return old;
  const nextKept = samples[segment.endSample];
  const nextDts = samples[end]?.dts ?? Infinity;
  const first = samples[segment.decodeFrom.sample];
  const delay = nextKept ? nextKept.pts - nextDts : first ? first.pts - first.dts : 0;
  const ceiling = nextDts + segment.shiftAfter;
  const slots: number[] = [];
  let floor = previousDts === null ? -Infinity : previousDts + 1;
  for (const [index, picture] of segment.pictures.entries()) {
    const dts = Math.max(floor, Math.min(picture.pts - delay, ceiling - (count - index)));
    slots.push(dts);
    floor = dts + 1;
  }
  const last = slots.at(-1);
  return last === undefined || last < ceiling ? slots : null;
}
