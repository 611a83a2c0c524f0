/**
 * Which filter of a graph wrote a line: filters later in the graph's text have higher numbers.
 * @returns 0 for lines of others, and for one whose name is lost (see `pictureTicks`)
 */
export const showinfoNumber = (line: string): number => Number(/_showinfo_(\d+) @/.exec(line)?.[1] ?? 0);

/**
 * The time that ffmpeg's `showinfo` filter logs for a picture. From version 7 on, another thread may have begun the
 * line, such as the list of an output's streams. Then the filter's name is missing and its message follows in one
 * piece.
 * @param line of the log
 * @returns ticks of the filter's input; null for a picture without a time, undefined for any other line
 */
export function pictureTicks(line: string): number | null | undefined {
  const shown = /n:\s*\d+ pts:\s*(-?\d+|NOPTS) +pts_time:/.exec(line);
  if (!shown) return undefined;
  return shown[1] === 'NOPTS' ? null : Number(shown[1]);
}
