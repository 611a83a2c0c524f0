import { MediaToolError } from '#server/media/ffmpeg/tools.ts';

/**
 * An error as text for logs, never shown to people: its stack if it has one, which begins with the message (of a media
 * tool, the label of its plan), and the last lines that a media tool wrote.
 */
export function detailOf(error: unknown): string {
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const said = error instanceof MediaToolError ? error.stderrTail.trim() : '';
  return said === '' ? what : `${what}\nlast lines of the tool:\n${said}`;
}
