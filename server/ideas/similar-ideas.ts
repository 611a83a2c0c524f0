/** Trigrams of a text, as Postgres's pg_trgm forms them: each word with two blanks before it and one after. */
export function trigrams(text: string): Set<string> {
  const found = new Set<string>();
  for (const word of words(text)) {
    const padded = `  ${word} `;
    for (let at = 0; at + 3 <= padded.length; at += 1) found.add(padded.slice(at, at + 3));
  }
  return found;
}

function words(text: string): string[] {
  return text
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

/** Words worth searching for: the longest few, of at least three letters each. */
export function keywords(text: string, count: number): string[] {
  return [...new Set(words(text))]
    .filter((word) => word.length >= 3)
    .toSorted((a, b) => b.length - a.length)
    .slice(0, count);
}

/** Share of common trigrams, 0 to 1 (Dice coefficient); a typo or another ending changes it little. */
export function similarity(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 || b.size === 0) return 0;
  let common = 0;
  for (const triple of a) if (b.has(triple)) common += 1;
  return (2 * common) / (a.size + b.size);
}
