import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { toWebVtt } from '#common/caption-files.ts';
import { joinSpans, type TimeSpan } from '#common/join-spans.ts';
import type { CaptionCue } from '#common/report.ts';
import type { SpeechSpan } from '../analyse/analysis.ts';

/** Limits for a caption, ms: common broadcast practice is 1 s to 7 s on screen. */
export const CUE_LIMITS = { leastMs: 1000, mostMs: 7000, joinMs: 300 } as const;

/**
 * Makes caption cues for the stretches in which somebody speaks: timing only, `text` is null. Stretches longer than 7 s
 * are split into equal parts. Short ones are extended to 1 s, into the pause after (or before) them.
 * @param durationMs length of the clip, ms; no cue ends later. Null when unknown.
 */
export function makeTimedCues(speech: readonly SpeechSpan[], durationMs: number | null): CaptionCue[] {
  const { leastMs, mostMs, joinMs } = CUE_LIMITS;
  const endMs = durationMs ?? Number.POSITIVE_INFINITY;
  const isShort = (span: TimeSpan) => span.endMs - span.startMs < leastMs;
  // Two stretches that nearly touch become one cue if one of them is too short to be read alone.
  const spans = joinSpans(speech, (before, span) => {
    const fits = span.startMs - before.endMs <= joinMs && span.endMs - before.startMs <= mostMs;
    return fits && (isShort(before) || isShort(span));
  });
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

/**
 * Makes the cues of a clip and writes them to `captions.vtt` in `workDir`.
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
