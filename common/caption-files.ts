import { UNKNOWN_TEXT, type VideoCue } from './captions.ts';

type WrittenCue = Pick<VideoCue, 'startMs' | 'endMs' | 'text'>;

/** Formats cues as a WebVTT file (W3C WebVTT). Cues without text read "[speech]", and a NOTE says why. */
export function toWebVtt(cues: readonly WrittenCue[]): string {
  const blocks = ['WEBVTT'];
  if (cues.some((cue) => cue.text === null)) {
    blocks.push(
      'NOTE\nTimes of speech found by measurement; the words of some cues are not known.\n' +
        `Each of them reads ${UNKNOWN_TEXT} and can be filled in by hand.`,
    );
  }
  cues.forEach((cue, i) => {
    const text = escapeMarkup(onOwnLines(cue.text ?? UNKNOWN_TEXT));
    blocks.push(`${i + 1}\n${toTimestamp(cue.startMs)} --> ${toTimestamp(cue.endMs)}\n${text}`);
  });
  return `${blocks.join('\n\n')}\n`;
}

/** Formats cues as a SubRip file, which has commas in its times and no markup to escape. */
export function toSrt(cues: readonly WrittenCue[]): string {
  const time = (ms: number) => toTimestamp(ms).replace('.', ',');
  return cues
    .map((cue, i) => {
      const text = onOwnLines(cue.text ?? UNKNOWN_TEXT);
      return `${i + 1}\n${time(cue.startMs)} --> ${time(cue.endMs)}\n${text}\n\n`;
    })
    .join('');
}

/** Formats a time as `hh:mm:ss.mmm` for WebVTT. */
export function toTimestamp(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  const two = (value: number) => String(value).padStart(2, '0');
  return (
    `${two(Math.floor(whole / 3_600_000))}:${two(Math.floor(whole / 60_000) % 60)}:` +
    `${two(Math.floor(whole / 1000) % 60)}.${String(whole % 1000).padStart(3, '0')}`
  );
}

/** A blank line would end the cue. */
function onOwnLines(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, '\n').trim();
}

/** Escapes markup characters; an arrow would start a cue. */
function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
