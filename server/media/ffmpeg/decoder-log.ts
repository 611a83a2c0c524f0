/** The line with which ffmpeg ends its preparations, during which decoders already look at the first pictures. */
export const endsPreparations = (line: string): boolean => /^(\[info\] )?Stream mapping:/.test(line);

/**
 * How many macroblocks a decoder of H.264 or MPEG-4 says that it guesses in the picture it has just finished.
 * @returns null for any other line
 */
export function concealedMacroblocks(line: string): number | null {
  const said = /(?:^|\] )concealing (\d+) DC, /.exec(line);
  return said && Number(said[1]);
}

/** Place of a macroblock, counted in macroblocks from the left and from the top. */
export interface MacroblockPlace {
  readonly column: number;
  readonly row: number;
}

/**
 * The macroblock that a decoder of H.264 says it cannot read.
 * @returns null for any other line
 */
export function failedMacroblock(line: string): MacroblockPlace | null {
  const said = /(?:^|\] )error while decoding MB (\d+) (\d+)/.exec(line);
  return said && { column: Number(said[1]), row: Number(said[2]) };
}
