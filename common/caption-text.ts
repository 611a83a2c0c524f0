import { toSrt } from './caption-files.ts';
import {
  CAPTION_LIMITS,
  type CueProblemKind,
  findCueProblems,
  UNKNOWN_TEXT,
  type VideoCue,
} from './captions.ts';
import { tidyCueText, TIMING, timeOf } from './parse-captions.ts';

/**
 * Why a line of a caption text cannot be accepted. `no_time`: a cue without its line of times. `bad_time`: more than 59
 * minutes or seconds. `no_gap`: no blank line before the next cue. `settings`: something after the times. `comment`: a
 * note or style of WebVTT. `too_many`: more cues than a video can have. The others are problems of cues.
 */
export type CaptionLineProblem =
  | CueProblemKind
  | 'no_time'
  | 'bad_time'
  | 'no_gap'
  | 'settings'
  | 'comment'
  | 'too_many';

export interface CaptionTextError {
  /** Line number, counted from 1. */
  readonly line: number;
  readonly problem: CaptionLineProblem;
}

export interface ReadCaptionText {
  readonly cues: readonly VideoCue[];
  /** Ordered by line; if there are any, the cues are incomplete. */
  readonly errors: readonly CaptionTextError[];
}

/** Formats all cues as one text to edit: SubRip, which shows words unchanged. */
export function toCaptionText(cues: readonly VideoCue[]): string {
  return toSrt(cues).trimEnd();
}

interface Block {
  /** Line number of the first line, counted from 1. */
  readonly line: number;
  readonly lines: readonly string[];
}

function blocksOf(text: string): Block[] {
  const blocks: { line: number; lines: string[] }[] = [];
  let open = false;
  text.split(/\r\n|\r|\n/).forEach((line, index) => {
    if (line.trim() === '') {
      open = false;
      return;
    }
    if (!open) blocks.push({ line: index + 1, lines: [] });
    open = true;
    blocks.at(-1)?.lines.push(line);
  });
  return blocks;
}

/**
 * Parses a whole caption text as people edit it, SubRip or WebVTT. Unlike the import of a file it drops and moves
 * nothing: what cannot be kept is an error with its line. Unchanged cues keep the source of their words.
 * @param before the cues that the text was made from
 */
export function readCaptionText(text: string, before: readonly VideoCue[]): ReadCaptionText {
  const blocks = blocksOf(text.replace(/^\u{FEFF}/u, ''));
  const isVtt = blocks[0]?.lines[0]?.startsWith('WEBVTT') === true;
  const errors: CaptionTextError[] = [];
  const found: { line: number; cue: Pick<VideoCue, 'startMs' | 'endMs' | 'text'> }[] = [];
  for (const block of isVtt ? blocks.slice(1) : blocks) {
    if (isVtt && /^(NOTE|STYLE|REGION)\b/.test(block.lines[0] ?? '')) {
      errors.push({ line: block.line, problem: 'comment' });
      continue;
    }
    const named = isVtt || /^\s*\d+\s*$/.test(block.lines[0] ?? '');
    const at = named && !TIMING.test(block.lines[0] ?? '') ? 1 : 0;
    const match = TIMING.exec(block.lines[at] ?? '');
    const line = block.line + at;
    if (!match) {
      errors.push({ line: block.line + Math.min(at, block.lines.length - 1), problem: 'no_time' });
      continue;
    }
    if ([2, 3, 6, 7].some((group) => Number(match[group]) > 59)) errors.push({ line, problem: 'bad_time' });
    if ((match[9] ?? '').trim() !== '') errors.push({ line, problem: 'settings' });
    const words = block.lines.slice(at + 1);
    const next = words.findIndex((word) => TIMING.test(word));
    if (next >= 0) errors.push({ line: line + 1 + next, problem: 'no_gap' });
    const said = tidyCueText(isVtt ? unescape(words.join('\n')) : words.join('\n'));
    const cue = { startMs: timeOf(match, 1), endMs: timeOf(match, 5), text: wordsOf(said) };
    found.push({ line, cue });
    if (found.length === CAPTION_LIMITS.cues + 1) errors.push({ line, problem: 'too_many' });
  }
  for (const { index, kind } of findCueProblems(found.map(({ cue }) => cue)))
    errors.push({ line: found[index]?.line ?? 1, problem: kind });
  return {
    cues: withSources(
      found.map(({ cue }) => cue),
      before,
    ),
    errors: errors.toSorted((a, b) => a.line - b.line),
  };
}

const wordsOf = (text: string): string | null => (text === '' || text === UNKNOWN_TEXT ? null : text);

/** Reverses what our WebVTT files escape; other entities stay as written. */
function unescape(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

/** A cue whose words did not change keeps their source, wherever it is now; all others count as typed. */
function withSources(
  cues: readonly Pick<VideoCue, 'startMs' | 'endMs' | 'text'>[],
  before: readonly VideoCue[],
): VideoCue[] {
  const known = new Map(before.map((cue) => [cue.text === null ? null : tidyCueText(cue.text), cue]));
  const timed = new Map(before.map((cue) => [`${cue.startMs} ${cue.endMs}`, cue]));
  return cues.map((cue) => {
    const same = timed.get(`${cue.startMs} ${cue.endMs}`);
    const untouched = same && wordsOf(tidyCueText(same.text ?? '')) === cue.text;
    if (untouched) return same;
    const words = cue.text === null ? undefined : known.get(cue.text);
    return { ...cue, source: words?.source ?? 'manual', confidence: words?.confidence ?? null };
  });
}
