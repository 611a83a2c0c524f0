/**
 * Pictures that an AVI file lists and does not hold at its end. AVI counts one tick of its clock for every entry; an entry
 * without a picture shows the one before it again and is no loss, so pictures may lie several ticks apart.
 * @param listed entries by the header of the stream
 * @param lastTick decode time of the last picture, ticks
 * @param pictures how many there are
 */
export function missingInAvi(listed: number, lastTick: number, pictures: number): number {
  const stride = pictures > 1 ? Math.max(1, lastTick / (pictures - 1)) : 1;
  return Math.max(0, Math.floor((listed - 1 - lastTick) / stride));
}
