import { spreadOver } from '#common/caption-parts.ts';
import type { VideoCue } from '#common/captions.ts';
import type { CaptionFont } from './caption-font.ts';

/** A text that is in the picture for some time: one line or two. */
export interface DrawnCaption {
  readonly startMs: number;
  readonly endMs: number;
  /** Words of each line. */
  readonly lines: readonly (readonly string[])[];
}

const MOST_LINES = 2;
/** Number of halvings of the line width, which find it to a thousandth. */
const WIDTH_STEPS = 10;
/** Invisible characters: joiners, direction marks, emoji variation selectors. */
const UNSEEN = /[\p{Cf}\u{FE00}-\u{FE0F}]/gu;

/** The text as drawn: composed letters, without invisible characters. */
export function drawnText(text: string): string {
  return text.normalize('NFC').replaceAll(UNSEEN, '').replaceAll(/\s+/g, ' ').trim();
}

/**
 * Finds the first character that the font lacks, and the number of its cue, counted from 1 (N10).
 * @returns null when all words can be drawn
 */
export function findUndrawable(
  cues: readonly Pick<VideoCue, 'text'>[],
  font: Pick<CaptionFont, 'covers'>,
): { readonly cue: number; readonly char: string } | null {
  for (const [i, { text }] of cues.entries()) {
    const char = Array.from(drawnText(text ?? '')).find((one) => !font.covers(one.codePointAt(0) ?? 0));
    if (char !== undefined) return { cue: i + 1, char };
  }
  return null;
}

/**
 * Lays out cues as they are drawn, in at most two lines of about equal width. A cue with more words is split into
 * consecutive parts, each with its share of the time; a cue without words is not drawn.
 * @param mostEm maximum width of a line, em
 */
export function layOutCaptions(
  cues: readonly Pick<VideoCue, 'startMs' | 'endMs' | 'text'>[],
  font: Pick<CaptionFont, 'widthEm'>,
  mostEm: number,
): DrawnCaption[] {
  return cues.flatMap(({ startMs, endMs, text }) => {
    const words = drawnText(text ?? '')
      .split(' ')
      .filter((word) => word !== '')
      .flatMap((word) => cutToFit(word, font, mostEm));
    if (words.length === 0) return [];
    const parts = intoParts(words, font, mostEm);
    const times = spreadOver(
      parts.map((lines) => lines.flat().join(' ')),
      startMs,
      endMs,
    );
    return parts.flatMap((lines, i) => {
      const time = times[i];
      return time ? [{ startMs: time.startMs, endMs: time.endMs, lines }] : [];
    });
  });
}

/** Splits words into the fewest parts of two lines each, with lines as equal as possible. */
function intoParts(
  words: readonly string[],
  font: Pick<CaptionFont, 'widthEm'>,
  mostEm: number,
): string[][][] {
  const most = fill(words, font, mostEm).length;
  if (most === 1) return [[[...words]]];
  const lines = MOST_LINES * Math.ceil(most / MOST_LINES);
  // Searches the narrowest width that needs no more lines.
  let [narrow, wide] = [0, mostEm];
  for (let step = 0; step < WIDTH_STEPS; step += 1) {
    const middle = (narrow + wide) / 2;
    if (fill(words, font, middle).length <= lines) wide = middle;
    else narrow = middle;
  }
  const filled = fill(words, font, wide);
  return Array.from({ length: Math.ceil(filled.length / MOST_LINES) }, (_, i) =>
    filled.slice(i * MOST_LINES, (i + 1) * MOST_LINES),
  );
}

/** Fills lines of at most that width; a single wider word gets its own line. */
function fill(words: readonly string[], font: Pick<CaptionFont, 'widthEm'>, mostEm: number): string[][] {
  const lines: string[][] = [];
  for (const word of words) {
    const line = lines.at(-1);
    if (line && font.widthEm([...line, word].join(' ')) <= mostEm) line.push(word);
    else lines.push([word]);
  }
  return lines;
}

/** Cuts a word that is wider than a line into pieces that fit. */
function cutToFit(word: string, font: Pick<CaptionFont, 'widthEm'>, mostEm: number): string[] {
  const pieces: string[] = [];
  let piece = '';
  for (const char of word) {
    if (piece !== '' && font.widthEm(piece + char) > mostEm) {
      pieces.push(piece);
      piece = '';
    }
    piece += char;
  }
  return [...pieces, piece];
}
