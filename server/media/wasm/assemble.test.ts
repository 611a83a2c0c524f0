import { describe, expect, it } from 'vitest';
import { assemble, block, i32, repeatWhile, when, type Code, type FunctionScope } from './assemble.ts';

/** The only function of a module, over a memory of one page. */
function made(body: (scope: FunctionScope) => Code): (...values: number[]) => unknown {
  const module = new WebAssembly.Module(assemble([{ name: 'run', result: 'i32', body }]));
  const memory = new WebAssembly.Memory({ initial: 1 });
  const { run } = new WebAssembly.Instance(module, { env: { memory } }).exports;
  if (typeof run !== 'function') throw new TypeError('no function');
  return (...values) => run(...values);
}

describe('assemble', () => {
  it.each([0, 1, -1, 63, 64, -64, -65, 127, 128, 8191, 8192, 0x7fffffff, -0x80000000])(
    'writes the constant %d so that it can be read back',
    (value) => {
      expect(made(() => i32.const(value))()).toBe(value);
    },
  );

  it('makes loops, conditions, parameters and variables', () => {
    const sumAboveTwo = made((scope) => {
      const count = scope.param('i32');
      const step = scope.param('i32');
      const sum = scope.local('i32');
      return block(
        repeatWhile(
          i32.gtS(count.get, i32.const(0)),
          when(i32.gtS(count.get, i32.const(2)), sum.set(i32.add(sum.get, step.get))),
          count.set(i32.sub(count.get, i32.const(1))),
        ),
        sum.get,
      );
    });
    expect(sumAboveTwo(5, 10)).toBe(30);
    expect(sumAboveTwo(0, 10)).toBe(0);
  });

  it('stores and loads at an offset beyond one byte', () => {
    const body = () => block(i32.store(i32.const(8), i32.const(77), 300), i32.load(i32.const(0), 308));
    expect(made(body)()).toBe(77);
  });

  it('rejects a parameter after a variable', () => {
    const body = (scope: FunctionScope) => {
      scope.local('i32');
      return scope.param('i32').get;
    };
    expect(() => made(body)).toThrow(RangeError);
  });
});
