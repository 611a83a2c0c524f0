import { MediaToolError } from '#server/media/ffmpeg/tools.ts';

/**
 * An error as text for logs, never shown to people: its stack if it has one, which begins with the message; of a media
 * tool, whose stack is always the same, the message with the label of its plan, and the last lines that it wrote.
 */
export function detailOf(error: unknown): string {
  if (error instanceof MediaToolError) {
    const said = error.stderrTail.trim();
    return said === '' ? error.message : `${error.message}\nlast lines of the tool:\n${said}`;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
