import { z } from 'zod';
import { tidyCueText } from '#common/parse-captions.ts';

/**
 * The file that whisper.cpp's command-line program writes with `--output-json-full` (examples/cli/cli.cpp,
 * `output_json`): times in `offsets` are ms from the start of the file, `p` is the probability of a token.
 */
const output = z.object({
  transcription: z.array(
    z.object({
      offsets: z.object({ from: z.number(), to: z.number() }),
      text: z.string(),
      tokens: z.array(z.object({ text: z.string(), p: z.number() })).default([]),
    }),
  ),
});

export interface HeardSegment {
  readonly startMs: number;
  readonly endMs: number;
  readonly text: string;
  /** Mean probability of the tokens; null when the engine gave none. */
  readonly confidence: number | null;
}

/** Repetitions in a row from which a phrase counts as a loop of the engine; people say things twice. */
const LOOP = { segments: 3, phrases: 4, mostWords: 8 } as const;
/** Nobody speaks faster, characters a second; a faster segment gets the confidence `UNBELIEVED`. */
const MOST_CHARS_PER_SECOND = 40;
const UNBELIEVED = 0.3;
/** Marks of the engine that are not words: `[_BEG_]`, `[_TT_150]`, `<|en|>`. */
const SPECIAL = /^(\[_.*\]|<\|.*\|>)$/s;
/** A segment that only describes a sound: "[Music]", "(applause)", "♪ ♪". */
const SOUND_ONLY = /^(\s*(\[[^\]]*\]|\([^)]*\)|\*[^*]*\*|[♪♫]+)\s*)+$/u;

/**
 * Parses the engine's output for one file.
 * @throws Error when the text has another form
 */
export function readWhisperOutput(json: string): HeardSegment[] {
  // The engine escapes only quotes; other control characters would make the JSON invalid.
  const repaired = json.replaceAll(/[^\P{Cc}\n\r\t]/gu, ' ');
  const { transcription } = output.parse(JSON.parse(repaired));
  const heard = transcription.flatMap(({ offsets, text, tokens }): HeardSegment[] => {
    const words = dropPhraseLoops(tidyCueText(text));
    if (words === '' || SOUND_ONLY.test(words)) return [];
    const startMs = Math.max(0, Math.round(offsets.from));
    const endMs = Math.max(startMs, Math.round(offsets.to));
    const sure = tokens
      .filter((token) => !SPECIAL.test(token.text.trim()))
      .map(({ p }) => Math.min(1, Math.max(0, p)));
    const mean = sure.length > 0 ? sure.reduce((sum, p) => sum + p, 0) / sure.length : null;
    const tooFast = words.length * 1000 > MOST_CHARS_PER_SECOND * Math.max(1, endMs - startMs);
    const confidence = tooFast ? Math.min(UNBELIEVED, mean ?? 1) : mean;
    return [{ startMs, endMs, text: words, confidence: confidence === null ? null : round(confidence) }];
  });
  return dropSegmentLoops(heard);
}

const round = (value: number) => Math.round(value * 100) / 100;
const plain = (text: string) =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

/** Keeps one copy of a sentence that is repeated again and again: engines get stuck on noise. */
function dropSegmentLoops(segments: readonly HeardSegment[]): HeardSegment[] {
  const kept: HeardSegment[] = [];
  for (let at = 0; at < segments.length;) {
    const first = segments[at];
    if (!first) break;
    let end = at + 1;
    while (end < segments.length && plain(segments[end]?.text ?? '') === plain(first.text)) end += 1;
    kept.push(...(end - at >= LOOP.segments ? [first] : segments.slice(at, end)));
    at = end;
  }
  return kept;
}

/** The same within one segment: "thank you thank you thank you thank you". */
export function dropPhraseLoops(text: string): string {
  const words = text.split(/\s+/);
  for (let size = 1; size <= LOOP.mostWords; size += 1) {
    for (let at = 0; at + size * LOOP.phrases <= words.length; at += 1) {
      const phrase = plain(words.slice(at, at + size).join(' '));
      let times = 1;
      const again = (from: number) => plain(words.slice(from, from + size).join(' ')) === phrase;
      while (phrase !== '' && at + (times + 1) * size <= words.length && again(at + times * size)) times += 1;
      if (times >= LOOP.phrases) words.splice(at + size, (times - 1) * size);
    }
  }
  return words.join(' ');
}
