import { spokenWeight } from '#common/caption-parts.ts';
import type { VideoCue } from '#common/captions.ts';
import { tidyCueText } from '#common/parse-captions.ts';

export type Cues = readonly VideoCue[];

/** Length of a new cue, and the minimum room it needs, ms. */
const NEW_CUE = { ms: 2000, leastMs: 300 } as const;
/** Limits of readable captions: common broadcast practice, as for the repair's own cues. */
export const READING = { charsPerSecond: 20, lines: 2, lineChars: 42, leastMs: 700, mostMs: 7000 } as const;

const replaceAt = (cues: Cues, index: number, ...by: VideoCue[]): VideoCue[] => [
  ...cues.slice(0, index),
  ...by,
  ...cues.slice(index + 1),
];

/** Sets the words of a cue; typed words become manual, and an empty text means no words. */
export function setText(cues: Cues, index: number, text: string): Cues {
  const cue = cues[index];
  if (!cue || cue.text === text) return cues;
  const words = text === '' ? null : text;
  const source = words === null && cue.source !== 'manual' ? 'timing_only' : 'manual';
  return replaceAt(cues, index, { ...cue, text: words, source, confidence: null });
}

/** Sets the times of a cue, ms; its words keep their source. */
export function setTimes(cues: Cues, index: number, times: { startMs?: number; endMs?: number }): Cues {
  const cue = cues[index];
  if (!cue) return cues;
  const source = cue.source === 'timing_only' ? 'manual' : cue.source;
  return replaceAt(cues, index, { ...cue, ...times, source });
}

/**
 * Splits a cue in two: its words at `cursor`, its time by how long each part takes to say. Without words, or with the
 * cursor at an end, the time is halved and the words stay on their side.
 */
export function splitCue(cues: Cues, index: number, cursor: number | null): Cues {
  const cue = cues[index];
  if (!cue || cue.endMs - cue.startMs < 2) return cues;
  const text = cue.text ?? '';
  const [left, right] =
    cursor === null ? halve(text) : [text.slice(0, cursor).trim(), text.slice(cursor).trim()];
  const share =
    left !== '' && right !== '' ? spokenWeight(left) / (spokenWeight(left) + spokenWeight(right)) : 0.5;
  const lengthMs = cue.endMs - cue.startMs;
  const atMs = cue.startMs + Math.min(lengthMs - 1, Math.max(1, Math.round(lengthMs * share)));
  const part = (words: string, times: { startMs: number; endMs: number }): VideoCue =>
    words === ''
      ? { ...times, text: null, source: cue.text === null ? cue.source : 'manual', confidence: null }
      : { ...cue, ...times, text: words };
  return replaceAt(
    cues,
    index,
    part(left, { startMs: cue.startMs, endMs: atMs }),
    part(right, { startMs: atMs, endMs: cue.endMs }),
  );
}

/** Splits a text near its middle, between two words. */
function halve(text: string): [string, string] {
  const words = text.split(/\s+/).filter((word) => word !== '');
  if (words.length < 2) return [text.trim(), ''];
  const middle = Math.ceil(words.length / 2);
  return [words.slice(0, middle).join(' '), words.slice(middle).join(' ')];
}

/** Joins a cue with the next one; the last one stays unchanged. */
export function mergeWithNext(cues: Cues, index: number): Cues {
  const [cue, next] = [cues[index], cues[index + 1]];
  if (!cue || !next) return cues;
  const text = [cue.text, next.text].filter((words) => words !== null).join(' ');
  const mixed = cue.source === next.source ? cue.source : 'manual';
  const source = cue.text === null ? next.source : next.text === null ? cue.source : mixed;
  const confidence =
    cue.confidence === null || next.confidence === null ? null : Math.min(cue.confidence, next.confidence);
  const merged: VideoCue = {
    startMs: cue.startMs,
    endMs: Math.max(cue.endMs, next.endMs),
    text: text === '' ? null : text,
    source,
    confidence,
  };
  return [...cues.slice(0, index), merged, ...cues.slice(index + 2)];
}

export function removeCue(cues: Cues, index: number): Cues {
  return cues.filter((_, i) => i !== index);
}

/**
 * Adds an empty cue at a time, as long as there is room, at most 2 s.
 * @returns its index; null where another cue is
 */
export function addCueAt(cues: Cues, atMs: number): { cues: Cues; index: number } | null {
  const startMs = Math.max(0, Math.round(atMs));
  const index = cues.filter((cue) => cue.startMs <= startMs).length;
  const room = (cues[index]?.startMs ?? Number.POSITIVE_INFINITY) - startMs;
  if ((cues[index - 1]?.endMs ?? 0) > startMs || room < NEW_CUE.leastMs) return null;
  const cue: VideoCue = {
    startMs,
    endMs: startMs + Math.min(NEW_CUE.ms, room),
    text: null,
    source: 'manual',
    confidence: null,
  };
  return { cues: [...cues.slice(0, index), cue, ...cues.slice(index)], index };
}

/**
 * Adds an empty cue right after another.
 * @returns null when the next one leaves no room
 */
export function addCueAfter(cues: Cues, index: number): { cues: Cues; index: number } | null {
  return addCueAt(cues, cues[index]?.endMs ?? 0);
}

/** Moves every cue, ms; never before the start of the clip. */
export function shiftAll(cues: Cues, byMs: number): Cues {
  const by = Math.max(Math.round(byMs), -(cues[0]?.startMs ?? 0));
  if (by === 0) return cues;
  return cues.map((cue) => ({ ...cue, startMs: cue.startMs + by, endMs: cue.endMs + by }));
}

/** Converts cues to the form in which they are stored: tidy words, null where nothing is left. */
export function toStored(cues: Cues): VideoCue[] {
  return cues.map((cue) => {
    const text = cue.text === null ? '' : tidyCueText(cue.text);
    return { ...cue, text: text === '' ? null : text };
  });
}

export type ReadingHint = 'fast' | 'long' | 'short_time' | 'long_time';

/** The number of characters, the reading speed and what makes a cue hard to read; none of it prevents saving. */
export function readingOf({ text, startMs, endMs }: Pick<VideoCue, 'text' | 'startMs' | 'endMs'>) {
  const chars = text === null ? 0 : Array.from(tidyCueText(text)).length;
  const lengthMs = Math.max(1, endMs - startMs);
  const charsPerSecond = Math.round((chars * 1000) / lengthMs);
  const hints: ReadingHint[] = [];
  if (chars > 0 && charsPerSecond > READING.charsPerSecond) hints.push('fast');
  if (chars > READING.lines * READING.lineChars) hints.push('long');
  if (chars > 0 && lengthMs < READING.leastMs) hints.push('short_time');
  if (chars > 0 && lengthMs > READING.mostMs) hints.push('long_time');
  return { chars, charsPerSecond, hints };
}

/** Formats ms as `mm:ss.mmm`. */
export function formatCueTime(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  const two = (value: number) => String(value).padStart(2, '0');
  const seconds = `${two(Math.floor(whole / 1000) % 60)}.${String(whole % 1000).padStart(3, '0')}`;
  return `${two(Math.floor(whole / 60_000))}:${seconds}`;
}

/** Parses `mm:ss.mmm`, `ss` and `hh:mm:ss`, also with a comma, to ms; null for anything else. */
export function parseCueTime(text: string): number | null {
  const match = /^(?:(?:(\d{1,2}):)?(\d{1,4}):)?(\d{1,5})(?:[.,](\d{1,3}))?$/.exec(text.trim());
  if (!match) return null;
  const [, hours, minutes, seconds, fraction = ''] = match;
  if (minutes !== undefined && Number(seconds) > 59) return null;
  return (
    (Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + Number(seconds)) * 1000 +
    Number(fraction.padEnd(3, '0'))
  );
}
