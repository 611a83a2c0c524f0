/**
 * Places of a longest rising row of values, in their order (patience sorting, O(n log n)). Null values are left out.
 * @param takesEqual whether equal values may follow each other
 */
export function longestRising(values: readonly (number | null)[], takesEqual = false): number[] {
  /** For each length, the place where the row of that length with the lowest end ends. */
  const ends: number[] = [];
  const before = new Map<number, number | undefined>();
  const mayFollow = (end: number | undefined, value: number) => {
    const last = values[end ?? -1] ?? -Infinity;
    return takesEqual ? last <= value : last < value;
  };
  values.forEach((value, place) => {
    if (value === null) return;
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (mayFollow(ends[middle], value)) low = middle + 1;
      else high = middle;
    }
    before.set(place, ends[low - 1]);
    ends[low] = place;
  });
  const row: number[] = [];
  for (let place = ends.at(-1); place !== undefined; place = before.get(place)) row.push(place);
  return row.reverse();
}
