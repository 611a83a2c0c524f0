import { expect, it } from 'vitest';
import { createTurns } from './turns.ts';

it('serves people in turn, each in the order of their requests, one at a time', async () => {
  const turns = createTurns();
  const done: string[] = [];
  let running = 0;
  const ask = (owner: string, name: string) =>
    turns.take(owner, async () => {
      running += 1;
      expect(running).toBe(1);
      await Promise.resolve();
      running -= 1;
      done.push(name);
      return name;
    });
  const many = ['a1', 'a2', 'a3', 'a4', 'a5'].map((name) => ask('a', name));
  expect(turns.waiting('a')).toBe(5);
  const others = [ask('b', 'b1'), ask('c', 'c1'), ask('b', 'b2')];
  expect(turns.waiting()).toBe(8);
  expect(await Promise.all([...many, ...others])).toHaveLength(8);
  expect(done).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4', 'a5']);
  expect(turns.waiting()).toBe(0);
});

it('continues after work that fails', async () => {
  const turns = createTurns();
  const failed = turns.take('a', () => Promise.reject(new Error('no picture')));
  const next = turns.take('a', async () => 'picture');
  await expect(failed).rejects.toThrow('no picture');
  expect(await next).toBe('picture');
  expect(turns.waiting('a')).toBe(0);
});
