/** Hashes alone, one for each picture, in the order in which ffmpeg's framehash muxer lists them. */
export function readHashes(text: string): string[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => line.slice(line.lastIndexOf(',') + 1).trim());
}
