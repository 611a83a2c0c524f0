/**
 * Number of pictures that an AVI file lists but does not hold at its end. AVI counts one clock tick per index entry. An
 * entry without a picture shows the picture before it again and is no loss, so pictures may lie several ticks apart.
 * @param listed number of entries that the stream's header states
 * @param lastTick decode time of the last picture, ticks
 * @param pictures number of pictures in the file
 */
export function missingInAvi(listed: number, lastTick: number, pictures: number): number {
  const stride = pictures > 1 ? Math.max(1, lastTick / (pictures - 1)) : 1;
  return Math.max(0, Math.floor((listed - 1 - lastTick) / stride));
}
