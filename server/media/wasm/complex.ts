import { NUMBER_BYTES } from './vectors.ts';
import { block, f32x4, v128, type Code, type Local } from './assemble.ts';

/** Lane selections of a pair of vectors: even and odd lanes, lower and upper halves interleaved, and a reversal. */
export const EVEN = lanes(0, 2, 4, 6);
export const ODD = lanes(1, 3, 5, 7);
export const LOW_IN_TURNS = lanes(0, 4, 1, 5);
export const HIGH_IN_TURNS = lanes(2, 6, 3, 7);
export const LOW_HALVES = lanes(0, 1, 4, 5);
export const HIGH_HALVES = lanes(2, 3, 6, 7);
export const REVERSED = lanes(3, 2, 1, 0);

function lanes(...places: readonly number[]): number[] {
  return places.flatMap((place) =>
    Array.from({ length: NUMBER_BYTES }, (_, at) => place * NUMBER_BYTES + at),
  );
}

/** A real and an imaginary part: two instructions, or two addresses. */
export interface Complex<Part> {
  readonly re: Part;
  readonly im: Part;
}

export type Locals = readonly Local[];

/** The local at a place; there are as many as are asked for. */
export function at(locals: Locals, place: number): Local {
  const found = locals[place];
  if (!found) throw new RangeError(`no local ${place}`);
  return found;
}

export function complexAt(locals: Locals, place: number): Complex<Local> {
  return { re: at(locals, 2 * place), im: at(locals, 2 * place + 1) };
}

export const load = (address: Local, place: Complex<number>, offset: number): Complex<Code> => ({
  re: v128.load(address.get, place.re + offset),
  im: v128.load(address.get, place.im + offset),
});
export const store = (address: Local, place: Complex<number>, offset: number, value: Complex<Code>): Code =>
  block(
    v128.store(address.get, value.re, place.re + offset),
    v128.store(address.get, value.im, place.im + offset),
  );
/** Both parts are computed before either is written, so that a number may be computed from itself. */
export const set = (local: Complex<Local>, value: Complex<Code>): Code =>
  block(value.re, local.im.set(value.im), local.re.set([]));
export const get = (local: Complex<Local>): Complex<Code> => ({ re: local.re.get, im: local.im.get });
export const add = (a: Complex<Code>, b: Complex<Code>): Complex<Code> => ({
  re: f32x4.add(a.re, b.re),
  im: f32x4.add(a.im, b.im),
});
export const sub = (a: Complex<Code>, b: Complex<Code>): Complex<Code> => ({
  re: f32x4.sub(a.re, b.re),
  im: f32x4.sub(a.im, b.im),
});
export const mul = (a: Complex<Code>, b: Complex<Code>): Complex<Code> => ({
  re: f32x4.sub(f32x4.mul(a.re, b.re), f32x4.mul(a.im, b.im)),
  im: f32x4.add(f32x4.mul(a.re, b.im), f32x4.mul(a.im, b.re)),
});
/** `a - ib` and `a + ib`. */
export const subTurned = (a: Complex<Code>, b: Complex<Code>): Complex<Code> => ({
  re: f32x4.add(a.re, b.im),
  im: f32x4.sub(a.im, b.re),
});
export const addTurned = (a: Complex<Code>, b: Complex<Code>): Complex<Code> => ({
  re: f32x4.sub(a.re, b.im),
  im: f32x4.add(a.im, b.re),
});
