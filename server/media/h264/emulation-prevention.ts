const PREVENTION = Buffer.from([0, 0, 3]);

/** The RBSP of a slice, cut behind its last byte that is not zero, and the places in it where bytes were removed. */
export function withoutPrevention(unit: Buffer): { rbsp: Buffer; removed: number[] } {
  const removed: number[] = [];
  const parts: Buffer[] = [];
  let from = 0;
  for (let at = unit.indexOf(PREVENTION); at >= 0; at = unit.indexOf(PREVENTION, from)) {
    parts.push(unit.subarray(from, at + 2));
    removed.push(at + 2 - removed.length);
    from = at + 3;
  }
  const rbsp = parts.length === 0 ? unit : Buffer.concat([...parts, unit.subarray(from)]);
  let end = rbsp.length;
  while (end > 0 && rbsp[end - 1] === 0) end--;
  return { rbsp: rbsp.subarray(0, end), removed };
}

/**
 * A NAL unit with changed bytes in its RBSP.
 * @param changes places in the RBSP that `withoutPrevention` returns, and their new values
 * @returns null where the bytes would be read differently because emulation prevention would stand elsewhere
 */
export function withRbspBytes(
  unit: Buffer,
  changes: readonly { readonly at: number; readonly value: number }[],
): Buffer | null {
  const { rbsp, removed } = withoutPrevention(unit);
  const made = Buffer.from(unit);
  for (const { at, value } of changes) made[at + removed.filter((place) => place <= at).length] = value;
  const again = withoutPrevention(made).rbsp;
  const isSame = again.length === rbsp.length && changes.every(({ at, value }) => again[at] === value);
  return isSame ? made : null;
}
