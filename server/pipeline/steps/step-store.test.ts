import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openStepStore } from './step-store.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'reelmend-steps-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const PICTURES = z.object({ pictures: z.number() });

/** A step that counts its runs and leaves a file. */
function countingStep(key: string) {
  let runs = 0;
  return {
    runs: () => runs,
    async run() {
      const store = await openStepStore(folder, key);
      return store.run('fixing_cuts', PICTURES, async () => {
        runs += 1;
        const file = store.file('pictures.raw');
        await writeFile(file, 'pictures');
        return { value: { pictures: 3 }, files: [file] };
      });
    },
  };
}

describe('openStepStore', () => {
  it('runs a step once and returns its stored output afterwards', async () => {
    const step = countingStep('a');
    expect(await step.run()).toMatchObject({ value: { pictures: 3 }, resumed: false });
    expect(await step.run()).toMatchObject({ value: { pictures: 3 }, resumed: true });
    expect(step.runs()).toBe(1);
  });

  it('runs a step again when a file of it is gone, changed, or belongs to another input', async () => {
    const step = countingStep('a');
    await step.run();
    await rm(path.join(folder, 'pictures.raw'));
    expect(await step.run()).toMatchObject({ resumed: false });
    await writeFile(path.join(folder, 'pictures.raw'), 'other bytes');
    expect(await step.run()).toMatchObject({ resumed: false });
    await writeFile(path.join(folder, 'fixing_cuts.json'), '{"pictures":9}');
    expect(await step.run()).toMatchObject({ value: { pictures: 3 }, resumed: false });
    expect(await countingStep('b').run()).toMatchObject({ resumed: false });
  });

  it('runs a step again when an older program left a value of another shape', async () => {
    await countingStep('a').run();
    const store = await openStepStore(folder, 'a');
    const newer = z.object({ pictures: z.number(), shots: z.number() });
    const again = await store.run('fixing_cuts', newer, async () => {
      return { value: { pictures: 3, shots: 2 }, files: [] };
    });
    expect(again).toMatchObject({ value: { pictures: 3, shots: 2 }, resumed: false });
    const next = await openStepStore(folder, 'a');
    const kept = await next.run('fixing_cuts', newer, () => Promise.reject(new Error('not again')));
    expect(kept).toMatchObject({ value: { pictures: 3, shots: 2 }, resumed: true });
  });

  it('trusts nothing of a step that failed half-way', async () => {
    const store = await openStepStore(folder, 'a');
    const broken = store.run('exporting', z.number(), async () => {
      await writeFile(store.file('result.mp4'), 'half');
      throw new Error('killed');
    });
    await expect(broken).rejects.toThrow('killed');
    const again = await openStepStore(folder, 'a');
    const done = await again.run('exporting', z.number(), () => Promise.resolve({ value: 1, files: [] }));
    expect(done.resumed).toBe(false);
  });

  it('starts again when the ledger is damaged', async () => {
    const step = countingStep('a');
    await step.run();
    const ledger = path.join(folder, 'steps.json');
    await writeFile(ledger, (await readFile(ledger, 'utf8')).slice(0, 40));
    expect(await step.run()).toMatchObject({ resumed: false });
  });
});
