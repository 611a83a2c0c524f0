import { toParts } from './caption-parts.ts';
import { CAPTION_LIMITS, UNKNOWN_TEXT, type VideoCue } from './captions.ts';

/** Changes made so that a file could be imported; each is a number of cues. */
export interface ImportNotes {
  /** Cues with colours, bold, voices or positions, of which only the words are kept. */
  readonly styled: number;
  /** Cues that ended before they began or overlapped the next one. */
  readonly retimed: number;
  /** Cues that began at the same time as another and were joined with it. */
  readonly joined: number;
  /** Cues that were too long and were split. */
  readonly divided: number;
}

export interface ImportedCaptions {
  readonly cues: readonly VideoCue[];
  readonly notes: ImportNotes;
}

interface RawCue {
  startMs: number;
  endMs: number;
  text: string;
}

const TIME = String.raw`(?:(\d{1,3}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})`;
/** A line of times; groups 1 to 4 are the start, 5 to 8 the end, 9 what follows them. */
export const TIMING = new RegExp(String.raw`^\s*${TIME}\s*-->\s*${TIME}(.*)$`);
/** WebVTT and SubRip tags, voices and inner times; ASS overrides that some tools leave in SubRip. */
const MARKUP = /<\/?[a-z][^<>\n]{0,200}>|<(?:\d+:)?\d+:\d+\.\d+>|\{\\[^{}\n]{0,200}\}/gi;
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  nbsp: ' ',
  lrm: '',
  rlm: '',
  quot: '"',
};
/** Duration of a cue without a valid end, ms. */
const FALLBACK_MS = 1500;

/**
 * Parses a SubRip or WebVTT file as tools write it: byte order mark, any line ends, commas or points, missing numbers,
 * styles.
 * @returns null when it has no cues; the caller must refuse more cues than a video may have
 */
export function parseCaptionFile(file: string): ImportedCaptions | null {
  const lines = file.replace(/^\u{FEFF}/u, '').split(/\r\n|\r|\n/);
  const isVtt = (lines[0] ?? '').startsWith('WEBVTT');
  let styled = 0;
  const raw: RawCue[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const match = TIMING.exec(lines[at] ?? '');
    if (!match) continue;
    const words: string[] = [];
    while (
      at + 1 < lines.length &&
      (lines[at + 1] ?? '').trim() !== '' &&
      !TIMING.test(lines[at + 1] ?? '')
    ) {
      at += 1;
      words.push(lines[at] ?? '');
    }
    // The last line is the number of the next cue if no blank line separates them.
    if (TIMING.test(lines[at + 1] ?? '') && /^\d+$/.test((words.at(-1) ?? '').trim())) words.pop();
    const plain = words.join('\n').replaceAll(MARKUP, '');
    if (plain !== words.join('\n') || (match[9] ?? '').trim() !== '') styled += 1;
    raw.push({
      startMs: timeOf(match, 1),
      endMs: timeOf(match, 5),
      text: tidyCueText(isVtt ? decode(plain) : plain),
    });
  }
  if (raw.length === 0) return null;
  const { cues, notes } = settle(raw);
  return { cues, notes: { ...notes, styled } };
}

/** The time, ms, in the groups from `first` on of a match of `TIMING`. */
export function timeOf(match: RegExpExecArray, first: number): number {
  const [hours, minutes, seconds] = [0, 1, 2].map((i) => Number(match[first + i] ?? 0));
  const ms = Number((match[first + 3] ?? '0').padEnd(3, '0'));
  return Math.min(
    CAPTION_LIMITS.lastMs,
    ((hours ?? 0) * 3600 + (minutes ?? 0) * 60 + (seconds ?? 0)) * 1000 + ms,
  );
}

function decode(text: string): string {
  return text.replaceAll(
    /&(amp|lt|gt|nbsp|lrm|rlm|quot);/g,
    (whole, name: string) => ENTITIES[name] ?? whole,
  );
}

/** Text in the form that a cue keeps: one space between words, no blank lines, no control characters. */
export function tidyCueText(text: string): string {
  return text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/[^\P{Cc}\n]/gu, ' ')
    .replaceAll(/[ \u{A0}]+/gu, ' ')
    .replaceAll(/ *\n[ \n]*/g, '\n')
    .trim();
}

/** Makes cues ascending, without overlap, none too long. */
function settle(raw: readonly RawCue[]): { cues: VideoCue[]; notes: Omit<ImportNotes, 'styled'> } {
  let retimed = 0;
  let joined = 0;
  let divided = 0;
  const merged: RawCue[] = [];
  for (const cue of [...raw].sort((a, b) => a.startMs - b.startMs)) {
    const last = merged.at(-1);
    if (last && cue.startMs === last.startMs) {
      joined += 1;
      last.endMs = Math.max(last.endMs, cue.endMs);
      last.text = [last.text, cue.text].filter((text) => text !== '').join('\n');
    } else merged.push({ ...cue });
  }
  const cues = merged.flatMap((cue, i): VideoCue[] => {
    const nextMs = merged[i + 1]?.startMs ?? CAPTION_LIMITS.lastMs;
    const wantedMs = cue.endMs > cue.startMs ? cue.endMs : cue.startMs + FALLBACK_MS;
    const endMs = Math.min(wantedMs, nextMs);
    if (endMs !== cue.endMs) retimed += 1;
    if (endMs <= cue.startMs) return [];
    const text = cue.text === '' || cue.text === UNKNOWN_TEXT ? null : cue.text;
    if (text === null)
      return [{ startMs: cue.startMs, endMs, text, source: 'timing_only', confidence: null }];
    const parts = toParts({ startMs: cue.startMs, endMs, text }, CAPTION_LIMITS.chars);
    if (parts.length > 1) divided += 1;
    return parts.map((part) => ({ ...part, source: 'imported', confidence: null }));
  });
  return { cues, notes: { retimed, joined, divided } };
}
