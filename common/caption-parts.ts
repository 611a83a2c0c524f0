interface TimedText {
  readonly startMs: number;
  readonly endMs: number;
  readonly text: string;
}

/**
 * Estimates how long a text takes to say, without a unit: letters count one, a digit is said as a word and counts
 * three, a stop counts as a breath. Syllables follow letters closely enough to place words in every script.
 */
export function spokenWeight(text: string): number {
  let weight = 0;
  for (const char of text) {
    if (/\p{Nd}/u.test(char)) weight += 3;
    else if (/[\p{L}\p{M}]/u.test(char)) weight += 1;
    else if (/[.!?…。！？,;:]/u.test(char)) weight += 1.5;
    else weight += 0.3;
  }
  return Math.max(1, weight);
}

/** Cuts a text into pieces of at most `mostChars` and about equal length, between words where possible. */
export function cutText(text: string, mostChars: number): string[] {
  if (text.length <= mostChars) return [text];
  const words = text.split(/\s+/).flatMap((word) => cutWord(word, mostChars));
  const pieces = Math.ceil(text.length / mostChars);
  for (let count = pieces; count <= words.length; count += 1) {
    const cut = intoEqual(words, count);
    if (cut.every((piece) => piece.length <= mostChars)) return cut;
  }
  return words;
}

function cutWord(word: string, mostChars: number): string[] {
  if (word.length <= mostChars) return [word];
  const chars = Array.from(word);
  // A character has at most two UTF-16 units.
  const step = Math.max(1, Math.floor(mostChars / 2));
  return Array.from({ length: Math.ceil(chars.length / step) }, (_, i) =>
    chars.slice(i * step, (i + 1) * step).join(''),
  );
}

function intoEqual(words: readonly string[], count: number): string[] {
  const total = words.reduce((sum, word) => sum + word.length + 1, 0);
  const pieces: string[][] = Array.from({ length: count }, () => []);
  let before = 0;
  for (const word of words) {
    const middle = before + (word.length + 1) / 2;
    pieces[Math.min(count - 1, Math.floor((middle * count) / total))]?.push(word);
    before += word.length + 1;
  }
  return pieces.map((piece) => piece.join(' ')).filter((piece) => piece !== '');
}

/**
 * Spreads pieces over a stretch of time by how long each takes to say; times are whole ms, ascending and never empty.
 */
export function spreadOver(pieces: readonly string[], startMs: number, endMs: number): TimedText[] {
  const weights = pieces.map(spokenWeight);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let before = 0;
  const at = (weight: number) => Math.round(startMs + ((endMs - startMs) * weight) / total);
  return pieces
    .map((text, i) => {
      const from = at(before);
      before += weights[i] ?? 0;
      return { startMs: from, endMs: at(before), text };
    })
    .filter((piece) => piece.endMs > piece.startMs);
}

/** Splits a cue into parts of at most `mostChars`, each with its share of the time. */
export function toParts({ startMs, endMs, text }: TimedText, mostChars: number): TimedText[] {
  return spreadOver(cutText(text, mostChars), startMs, endMs);
}
