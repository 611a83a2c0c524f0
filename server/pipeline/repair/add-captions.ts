import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { CaptionCue } from '#common/report.ts';
import type { SpeechSpan } from '../analyse/analysis.ts';

/** Lengths a caption may have, ms (common broadcast practice: at least 1 s, at most 7 s on screen). */
export const CUE_LIMITS = { leastMs: 1000, mostMs: 7000, joinMs: 300 } as const;

/** Text shown for a cue whose words are not known: words are never invented. */
export const UNKNOWN_TEXT = '[speech]';

/**
 * Caption cues for the stretches in which somebody speaks: timing only, `text` is null. Stretches longer than 7 s
 * are split into equal parts, short ones are lengthened into the pause behind (or before) them up to 1 s.
 * @param durationMs length of the clip; no cue ends later. Null when unknown.
 */
export function makeTimedCues(speech: readonly SpeechSpan[], durationMs: number | null): CaptionCue[] {
  const { leastMs, mostMs, joinMs } = CUE_LIMITS;
  const endMs = durationMs ?? Number.POSITIVE_INFINITY;
  const spans = joinShort(
    [...speech].sort((a, b) => a.startMs - b.startMs),
    joinMs,
    leastMs,
    mostMs,
  );
  const cues: CaptionCue[] = [];
  spans.forEach((span, i) => {
    const before = cues.at(-1)?.endMs ?? 0;
    const after = Math.min(endMs, spans[i + 1]?.startMs ?? endMs);
    const last = Math.min(after, Math.max(span.endMs, span.startMs + leastMs));
    const first = Math.max(0, before, Math.min(span.startMs, last - leastMs));
    const parts = Math.max(1, Math.ceil((last - first) / mostMs));
    for (let part = 0; part < parts; part++) {
      cues.push({
        startMs: Math.round(first + ((last - first) * part) / parts),
        endMs: Math.round(first + ((last - first) * (part + 1)) / parts),
        text: null,
        source: 'timing_only',
        confidence: null,
      });
    }
  });
  return cues.filter((cue) => cue.endMs > cue.startMs);
}

// Two stretches that nearly touch are one cue when one of them is too short to be read alone.
function joinShort(
  spans: readonly SpeechSpan[],
  joinMs: number,
  leastMs: number,
  mostMs: number,
): SpeechSpan[] {
  const joined: SpeechSpan[] = [];
  for (const span of spans) {
    const last = joined.at(-1);
    const isShort = (one: SpeechSpan) => one.endMs - one.startMs < leastMs;
    const fits = last && span.startMs - last.endMs <= joinMs && span.endMs - last.startMs <= mostMs;
    if (last && fits && (isShort(last) || isShort(span))) {
      joined[joined.length - 1] = { startMs: last.startMs, endMs: Math.max(last.endMs, span.endMs) };
    } else joined.push(span);
  }
  return joined;
}

/**
 * Cues as a WebVTT file (W3C WebVTT). Cues without text read "[speech]" and a NOTE says why.
 */
export function toWebVtt(cues: readonly CaptionCue[]): string {
  const blocks = ['WEBVTT'];
  if (cues.some((cue) => cue.text === null)) {
    blocks.push(
      'NOTE\nTimes of speech found by measurement. No speech recognition is set up here, so the words are not known;\n' +
        `each such cue reads ${UNKNOWN_TEXT} and can be filled in by hand.`,
    );
  }
  cues.forEach((cue, i) => {
    blocks.push(
      `${i + 1}\n${toTimestamp(cue.startMs)} --> ${toTimestamp(cue.endMs)}\n${toCueText(cue.text ?? UNKNOWN_TEXT)}`,
    );
  });
  return `${blocks.join('\n\n')}\n`;
}

/** `hh:mm:ss.mmm` as WebVTT wants it. */
export function toTimestamp(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  const two = (value: number) => String(value).padStart(2, '0');
  return (
    `${two(Math.floor(whole / 3_600_000))}:${two(Math.floor(whole / 60_000) % 60)}:` +
    `${two(Math.floor(whole / 1000) % 60)}.${String(whole % 1000).padStart(3, '0')}`
  );
}

// Markup characters are escaped and a blank line or an arrow would end the cue.
function toCueText(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/\s*\n\s*/g, '\n')
    .trim();
}

/**
 * Makes the cues of a clip and writes them as `captions.vtt` into `workDir`.
 * @returns no path when nobody speaks
 */
export async function addCaptions(input: {
  readonly speech: readonly SpeechSpan[];
  readonly durationMs: number | null;
  readonly workDir: string;
}): Promise<{ cues: CaptionCue[]; path: string | null }> {
  const cues = makeTimedCues(input.speech, input.durationMs);
  if (cues.length === 0) return { cues, path: null };
  await mkdir(input.workDir, { recursive: true });
  const file = path.join(input.workDir, 'captions.vtt');
  await writeFile(file, toWebVtt(cues));
  return { cues, path: file };
}
