/**
 * Cuts blocks from a sound that arrives in parts; before and after it is silence.
 * @param parts interleaved samples, one part after the other, from sample 0 on
 * @param starts first sample of each block, ascending; blocks do not overlap
 * @param blockSamples samples of a block in each channel
 */
export async function* cutBlocks(
  parts: AsyncIterable<Float32Array>,
  channels: number,
  starts: readonly number[],
  blockSamples: number,
): AsyncGenerator<Float32Array> {
  const emptyBlock = () => new Float32Array(blockSamples * channels);
  let block = emptyBlock();
  let next = 0;
  let position = 0;
  for await (const part of parts) {
    const end = position + part.length / channels;
    for (let from = starts[next]; from !== undefined; from = starts[next]) {
      const inside = { first: Math.max(from, position), end: Math.min(from + blockSamples, end) };
      if (inside.first < inside.end) {
        const heard = part.subarray((inside.first - position) * channels, (inside.end - position) * channels);
        block.set(heard, (inside.first - from) * channels);
      }
      if (from + blockSamples > end) break;
      yield block;
      block = emptyBlock();
      next += 1;
    }
    position = end;
    if (next === starts.length) return;
  }
  for (; next < starts.length; next += 1) {
    yield block;
    block = emptyBlock();
  }
}
