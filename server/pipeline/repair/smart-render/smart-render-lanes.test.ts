import { describe, expect, it } from 'vitest';
import { inLanes } from './smart-render-lanes.ts';

const limits = { threads: 2, maxEncodePixels: 200 };

/** Runs five tasks and reports how many ran at once at most, and in which order they began. */
async function run(lanes: Parameters<typeof inLanes>[1], failAt = -1) {
  const begun: number[] = [];
  let running = 0;
  let most = 0;
  await inLanes([10, 20, 30, 40, 50], lanes, async (item, number) => {
    begun.push(item);
    running += 1;
    most = Math.max(most, running);
    // Others may begin meanwhile.
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    if (number === failAt) throw new Error(`number ${number}`);
  });
  return { begun, most };
}

describe('inLanes', () => {
  it('runs two tasks at once if both fit, started in their order', async () => {
    expect(await run({ limits, pixelCount: 100 })).toEqual({ begun: [10, 20, 30, 40, 50], most: 2 });
  });

  it('runs one after the other if two take too much memory, or there is one thread', async () => {
    const inTurn = { begun: [10, 20, 30, 40, 50], most: 1 };
    expect(await run({ limits, pixelCount: 101 })).toEqual(inTurn);
    expect(await run({ limits: { ...limits, threads: 1 }, pixelCount: 1 })).toEqual(inTurn);
  });

  it('throws the error of the first task that fails', async () => {
    await expect(run({ limits, pixelCount: 100 }, 2)).rejects.toThrow('number 2');
  });
});
