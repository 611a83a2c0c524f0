/**
 * Which of the filters of a graph said it: those that come later in its text have higher numbers.
 * @returns 0 for lines of others, and for one whose name is lost (see `pictureTicks`)
 */
export const showinfoNumber = (line: string): number => Number(/_showinfo_(\d+) @/.exec(line)?.[1] ?? 0);

/**
 * The time that ffmpeg's `showinfo` filter says of a picture. From version 7 on another thread may have begun the line, as the list of
 * an output's streams does: then the filter's name is missing, and what it says comes in one piece behind that.
 * @param line of the log
 * @returns ticks of the filter's input; null for a picture without a time, undefined for any other line
 */
export function pictureTicks(line: string): number | null | undefined {
  const shown = /n:\s*\d+ pts:\s*(-?\d+|NOPTS) +pts_time:/.exec(line);
  if (!shown) return undefined;
  return shown[1] === 'NOPTS' ? null : Number(shown[1]);
}
