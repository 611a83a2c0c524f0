/**
 * A small assembler for WebAssembly with SIMD (WebAssembly Core Specification 2.0, chapter 5, binary format):
 * inner loops over pixels are written as expressions below and become a module at run time, so that no binary
 * and no further tool is part of the project.
 */

/** Instructions that leave one value, or none in statements: bytes, with instructions nested in them. */
export type Code = readonly (number | Code)[];
export type ValueType = 'i32' | 'f64' | 'v128';

const TYPES: Record<ValueType, number> = { i32: 0x7f, f64: 0x7c, v128: 0x7b };
const NO_RESULT = 0x40;
/** Magic number and version. */
const HEADER = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];

/** A parameter or local variable of a function. */
export interface Local {
  readonly get: Code;
  set(value: Code): Code;
}

export interface FunctionScope {
  /** Creates the next parameter; all of them come before the first variable. */
  param(type: ValueType): Local;
  /** Creates a local variable with the value zero. */
  local(type: ValueType): Local;
}

export interface FunctionSource {
  readonly name: string;
  readonly result: ValueType | null;
  readonly body: (scope: FunctionScope) => Code;
}

/** Unsigned LEB128. */
function unsigned(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = rest & 0x7f;
    rest >>>= 7;
    bytes.push(rest === 0 ? low : low | 0x80);
  } while (rest !== 0);
  return bytes;
}

/** Signed LEB128. */
function signed(value: number): number[] {
  const bytes: number[] = [];
  let rest = value | 0;
  for (;;) {
    const low = rest & 0x7f;
    rest >>= 7;
    if ((rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0)) return [...bytes, low];
    bytes.push(low | 0x80);
  }
}

const list = (items: readonly Code[]): number[] => [...unsigned(items.length), ...flatten(items)];
const text = (value: string): Code => [...unsigned(value.length), ...Buffer.from(value, 'latin1')];
const section = (id: number, content: readonly number[]): Code => [id, ...unsigned(content.length), content];

/** Flattens the instructions into their bytes. */
function flatten(code: Code): number[] {
  const bytes: number[] = [];
  const add = (part: Code) => {
    for (const item of part) {
      if (typeof item === 'number') bytes.push(item);
      else add(item);
    }
  };
  add(code);
  return bytes;
}

type Binary = (a: Code, b: Code) => Code;
const plain =
  (opcode: number): Binary =>
  (a, b) => [a, b, opcode];
const vector = (opcode: number): Binary => {
  const bytes = unsigned(opcode);
  return (a, b) => [a, b, 0xfd, bytes];
};
const vectorOne = (opcode: number) => {
  const bytes = unsigned(opcode);
  return (value: Code): Code => [value, 0xfd, bytes];
};
const memory = (offset: number): Code => [0, ...unsigned(offset)];

export const i32 = {
  const: (value: number): Code => [0x41, ...signed(value)],
  add: plain(0x6a),
  sub: plain(0x6b),
  mul: plain(0x6c),
  and: plain(0x71),
  or: plain(0x72),
  shl: plain(0x74),
  shrS: plain(0x75),
  shrU: plain(0x76),
  ltS: plain(0x48),
  gtS: plain(0x4a),
  /** 1 for zero, 0 for any other value. */
  isZero: (value: Code): Code => [value, 0x45],
  load: (at: Code, offset = 0): Code => [at, 0x28, memory(offset)],
  load8: (at: Code, offset = 0): Code => [at, 0x2d, memory(offset)],
  store: (at: Code, value: Code, offset = 0): Code => [at, value, 0x36, memory(offset)],
  store8: (at: Code, value: Code, offset = 0): Code => [at, value, 0x3a, memory(offset)],
};

export const f64 = {
  add: plain(0xa0),
  div: plain(0xa3),
  fromI32: (value: Code): Code => [value, 0xb7],
  load: (at: Code, offset = 0): Code => [at, 0x2b, memory(offset)],
  store: (at: Code, value: Code, offset = 0): Code => [at, value, 0x39, memory(offset)],
};

export const v128 = {
  zero: [0xfd, 0x0c, ...Array.from({ length: 16 }, () => 0)],
  /** Sixteen bytes, lowest first. */
  const: (bytes: readonly number[]): Code => [0xfd, 0x0c, ...bytes],
  load: (at: Code, offset = 0): Code => [at, 0xfd, 0x00, memory(offset)],
  /** Eight bytes, each widened to 16 bits. */
  load8x8u: (at: Code, offset = 0): Code => [at, 0xfd, 0x02, memory(offset)],
  /** Four bytes, repeated four times. */
  load32Splat: (at: Code, offset = 0): Code => [at, 0xfd, 0x09, memory(offset)],
  store: (at: Code, value: Code, offset = 0): Code => [at, value, 0xfd, 0x0b, memory(offset)],
  and: vector(0x4e),
  or: vector(0x50),
  /** Sixteen bytes out of those of `a` (0 to 15) and of `b` (16 to 31). */
  pick: (a: Code, b: Code, order: readonly number[]): Code => [a, b, 0xfd, 0x0d, ...order],
  /** The 16 bytes of `value` in another order. */
  shuffle: (value: Code, order: readonly number[], scratch: Local): Code => [
    scratch.set(value),
    scratch.get,
    scratch.get,
    0xfd,
    0x0d,
    ...order,
  ],
};

export const u8x16 = { subSaturated: vector(0x73), addPairs: vectorOne(0x7d) };
export const i16x8 = {
  splat: vectorOne(0x10),
  add: vector(0x8e),
  sub: vector(0x91),
  mul: vector(0x95),
  abs: vectorOne(0x80),
};
export const i32x4 = {
  add: vector(0xae),
  /** Sums of the products of neighbouring signed 16-bit lanes. */
  dot: vector(0xba),
  /** Sums of neighbouring unsigned 16-bit lanes. */
  addPairs: vectorOne(0x7f),
  lowFromU16: vectorOne(0xa9),
  highFromU16: vectorOne(0xaa),
  lane: (value: Code, lane: number): Code => [value, 0xfd, 0x1b, lane],
  shl: vector(0xab),
  shrU: vector(0xad),
  /** Rounds toward zero. */
  fromF32: vectorOne(0xf8),
};

export const f32x4 = {
  add: vector(0xe4),
  sub: vector(0xe5),
  mul: vector(0xe6),
  div: vector(0xe7),
  least: vector(0xe8),
  most: vector(0xe9),
  /** The same for numbers that are not NaN, and faster: `b < a ? b : a` and `a < b ? b : a`. */
  smaller: vector(0xea),
  larger: vector(0xeb),
  root: vectorOne(0xe3),
  /** Rounds to the nearest whole number. */
  round: vectorOne(0x6a),
  fromI32: vectorOne(0xfa),
};

export const f64x2 = {
  add: vector(0xf0),
  sub: vector(0xf1),
  mul: vector(0xf2),
  /** The smaller, or larger, value of each lane: `b < a ? b : a` and `a < b ? b : a`. */
  least: vector(0xf6),
  most: vector(0xf7),
  lane: (value: Code, lane: number): Code => [value, 0xfd, 0x21, lane],
};

export const block = (...statements: readonly Code[]): Code => statements;
export const when = (condition: Code, ...statements: readonly Code[]): Code => [
  condition,
  0x04,
  NO_RESULT,
  statements,
  0x0b,
];
/** Runs the statements once, and again as long as the condition at the end holds. */
export const repeatWhile = (condition: Code, ...statements: readonly Code[]): Code => [
  0x03,
  NO_RESULT,
  statements,
  condition,
  0x0d,
  0,
  0x0b,
];
export const choose = (a: Code, b: Code, condition: Code): Code => [a, b, condition, 0x1b];

/**
 * The module of some functions over one imported memory (`env.memory`), which they do not grow.
 * @returns its bytes, for `new WebAssembly.Module`
 */
export function assemble(functions: readonly FunctionSource[]): Uint8Array<ArrayBuffer> {
  const made = functions.map(compile);
  const module: Code = [
    HEADER,
    section(1, list(made.map(({ type }) => type))),
    section(2, list([[text('env'), text('memory'), 0x02, 0x00, ...unsigned(1)]])),
    section(3, list(functions.map((_, index) => unsigned(index)))),
    section(7, list(functions.map(({ name }, index) => [text(name), 0x00, ...unsigned(index)]))),
    section(10, list(made.map(({ body }) => body))),
  ];
  return Uint8Array.from(flatten(module));
}

function compile({ result, body }: FunctionSource): { readonly type: Code; readonly body: Code } {
  const params: number[][] = [];
  const locals: number[][] = [];
  const at = (index: number): Local => ({
    get: [0x20, ...unsigned(index)],
    set: (value) => [value, 0x21, ...unsigned(index)],
  });
  const code = body({
    param(type) {
      if (locals.length > 0) throw new RangeError('a parameter behind a variable');
      return at(params.push([TYPES[type]]) - 1);
    },
    local: (type) => at(params.length + locals.push([1, TYPES[type]]) - 1),
  });
  const bytes = flatten([list(locals), code, 0x0b]);
  return {
    type: [0x60, list(params), list(result === null ? [] : [[TYPES[result]]])],
    body: [...unsigned(bytes.length), bytes],
  };
}
