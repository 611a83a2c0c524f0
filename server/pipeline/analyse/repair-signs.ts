/**
 * What shows while an analysis runs that the clip will need a repair, long before the findings: `damage` for
 * damaged data, `picture` for holes in the times and pictures that repeat, `wind` for wind in the sound, `calm_sound` when
 * the whole sound was heard and holds none. Signs only steer the progress; nothing is judged by them.
 */
export type RepairSign = 'damage' | 'picture' | 'wind' | 'calm_sound';

/** Every so many bytes of a small picture are compared. */
const STEP = 5;
/** Changes that make the usual change. */
const RECENT = 12;
/** A picture that changes this much less than the usual... */
const REPEAT_SHARE = 0.1;
/** ...in a stretch that changes at least so much (mean difference, grey levels) looks like a repeat. */
const MIN_CHANGE = 0.8;

/**
 * Watches small grey pictures go by for one that looks like a repeat of the one before.
 * @returns what takes the next picture (copied) and answers whether it looks like a repeat
 */
export function createRepeatWatch(bytes: number): (picture: Uint8Array) => boolean {
  const samples = Math.ceil(bytes / STEP);
  const before = new Uint8Array(samples);
  const recent: number[] = [];
  let pictures = 0;
  return (picture) => {
    let sum = 0;
    for (let at = 0, from = 0; at < samples; at += 1, from += STEP) {
      const value = picture[from] ?? 0;
      const difference = value - (before[at] ?? 0);
      sum += difference < 0 ? -difference : difference;
      before[at] = value;
    }
    pictures += 1;
    if (pictures === 1) return false;
    const change = sum / samples;
    const usual = recent.toSorted((a, b) => a - b)[recent.length >> 1] ?? 0;
    const known = recent.length === RECENT;
    recent.push(change);
    if (known) recent.shift();
    return known && usual >= MIN_CHANGE && change < REPEAT_SHARE * usual;
  };
}
