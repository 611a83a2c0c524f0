import { cutText, spokenWeight } from './caption-parts.ts';
import { joinSpans, type TimeSpan } from './join-spans.ts';
import { tidyCueText } from './parse-captions.ts';
import { CAPTION_LIMITS, type VideoCue } from './captions.ts';

export const SCRIPT = {
  /** Two lines of 42 characters, the longest caption in common practice. */
  charsPerCue: 84,
  /** Least characters of the last piece of a sentence that was cut at commas. */
  leastTail: 20,
  /** Closer stretches of speech count as one, because the repair cuts long ones into cues. */
  joinMs: 120,
  /** The greatest distance that a sentence end is moved to a pause, as a share of the length around it. */
  reach: 0.45,
  /** The greatest factor by which speech before that pause gets slower or faster: people keep their pace. */
  paceChange: 1.4,
  /** Faster than anybody speaks, ms per cue: such a script belongs to another clip. */
  leastCueMs: 120,
} as const;

interface Unit {
  readonly text: string;
  readonly weight: number;
  /** Whether a sentence ends after it. */
  readonly ends: boolean;
}

/**
 * Spreads a text over the stretches in which somebody speaks: each piece gets time by how long it takes to say, and
 * sentence ends move to nearby pauses. No speech is recognised: the times are an estimate for people to correct.
 * @param durationMs the whole clip is used when no speech is known
 * @returns null when there is no text, no time, or far too much text for the time
 */
export function layScript(
  script: string,
  speech: readonly TimeSpan[],
  durationMs: number | null,
): VideoCue[] | null {
  const units = toUnits(script);
  const spoken = speech.length > 0 ? speech : [{ startMs: 0, endMs: durationMs ?? 0 }];
  const isOne = (before: TimeSpan, span: TimeSpan) => span.startMs - before.endMs <= SCRIPT.joinMs;
  const spans = joinSpans(spoken, isOne).filter((span) => span.endMs > span.startMs);
  const totalMs = spans.reduce((sum, span) => sum + span.endMs - span.startMs, 0);
  if (units.length === 0 || units.length > CAPTION_LIMITS.cues) return null;
  if (totalMs / units.length < SCRIPT.leastCueMs) return null;
  const pauses = pausesOf(spans);
  const ends = snapToPauses(placeEnds(units, totalMs), units, pauses);
  let fromMs = 0;
  let lastEndMs = 0;
  return units.map(({ text }, i) => {
    const toMs = ends[i] ?? totalMs;
    const startMs = Math.max(lastEndMs, Math.round(clipTime(fromMs, spans, 'start')));
    const endMs = Math.max(startMs + 1, Math.round(clipTime(toMs, spans, 'end')));
    fromMs = toMs;
    lastEndMs = endMs;
    return { startMs, endMs, text, source: 'script', confidence: null };
  });
}

/**
 * Splits a text into sentences, and sentences that are too long for a caption into pieces, at commas where possible.
 */
function toUnits(script: string): Unit[] {
  return tidyCueText(script)
    .replaceAll(/([.!?…。！？]["'”’»)\]]*)\s+/gu, '$1\n')
    .split('\n')
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '')
    .flatMap((sentence) => {
      const pieces = cutAtCommas(sentence);
      return pieces.map((text, i) => ({ text, weight: spokenWeight(text), ends: i === pieces.length - 1 }));
    });
}

function cutAtCommas(sentence: string): string[] {
  if (sentence.length <= SCRIPT.charsPerCue) return [sentence];
  const phrases = sentence.replaceAll(/([,;:–—、，])\s+/gu, '$1\n').split('\n');
  const packed: string[] = [];
  for (const phrase of phrases) {
    const last = packed.at(-1);
    if (last !== undefined && last.length + 1 + phrase.length <= SCRIPT.charsPerCue)
      packed[packed.length - 1] = `${last} ${phrase}`;
    else packed.push(phrase);
  }
  const pieces = packed.flatMap((phrase) => cutText(phrase, SCRIPT.charsPerCue));
  // A short last piece reads badly, so the parts are made equal, ignoring commas.
  return (pieces.at(-1)?.length ?? 0) < SCRIPT.leastTail ? cutText(sentence, SCRIPT.charsPerCue) : pieces;
}

/** Positions of pauses when only spoken time counts, ms. */
function pausesOf(spans: readonly TimeSpan[]): number[] {
  let spokenMs = 0;
  return spans.slice(0, -1).map(({ startMs, endMs }) => (spokenMs += endMs - startMs));
}

/** End of each unit in spoken time, ms, by weight alone. */
function placeEnds(units: readonly Unit[], totalMs: number): number[] {
  const total = units.reduce((sum, { weight }) => sum + weight, 0);
  let before = 0;
  return units.map(({ weight }) => {
    before += weight;
    return (totalMs * before) / total;
  });
}

/**
 * Joins a sentence end and a pause that are each other's nearest, and spreads the units between such places anew. A
 * pause farther away is inside a sentence.
 */
function snapToPauses(ends: readonly number[], units: readonly Unit[], pauses: readonly number[]): number[] {
  const totalMs = ends.at(-1) ?? 0;
  const sentences = ends
    .map((atMs, i) => ({ atMs, i }))
    .filter(({ i }) => units[i]?.ends === true && i < ends.length - 1);
  const anchors: { from: number; to: number }[] = [{ from: 0, to: 0 }];
  for (const pause of pauses) {
    const near = nearest(sentences, pause, ({ atMs }) => atMs);
    if (!near || nearest(pauses, near.atMs, (ms) => ms) !== pause) continue;
    const before = sentences.findLast(({ atMs }) => atMs < near.atMs)?.atMs ?? 0;
    const after = sentences.find(({ atMs }) => atMs > near.atMs)?.atMs ?? totalMs;
    const around = pause < near.atMs ? near.atMs - before : after - near.atMs;
    const last = anchors.at(-1);
    if (!last || near.atMs <= last.from || Math.abs(pause - near.atMs) > around * SCRIPT.reach) continue;
    const pace = (pause - last.to) / (near.atMs - last.from);
    if (pace > SCRIPT.paceChange || pace < 1 / SCRIPT.paceChange) continue;
    anchors.push({ from: near.atMs, to: pause });
  }
  anchors.push({ from: totalMs, to: totalMs });
  return ends.map((atMs) => {
    const right = anchors.findIndex(({ from }) => from >= atMs);
    const [a, b] = [anchors[right - 1], anchors[right]];
    if (!a || !b || b.from === a.from) return b?.to ?? atMs;
    return a.to + ((atMs - a.from) * (b.to - a.to)) / (b.from - a.from);
  });
}

function nearest<Item>(items: readonly Item[], atMs: number, of: (item: Item) => number): Item | null {
  let best: Item | null = null;
  for (const item of items) {
    if (best === null || Math.abs(of(item) - atMs) < Math.abs(of(best) - atMs)) best = item;
  }
  return best;
}

/** Converts spoken time to time of the clip; at a pause a cue starts after it and ends before it. */
function clipTime(spokenMs: number, spans: readonly TimeSpan[], side: 'start' | 'end'): number {
  let before = 0;
  for (const { startMs, endMs } of spans) {
    const lengthMs = endMs - startMs;
    const inside = spokenMs - before;
    if (side === 'start' ? inside < lengthMs - 0.5 : inside <= lengthMs + 0.5)
      return startMs + Math.min(lengthMs, Math.max(0, inside));
    before += lengthMs;
  }
  return spans.at(-1)?.endMs ?? spokenMs;
}
