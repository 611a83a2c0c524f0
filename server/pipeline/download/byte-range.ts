import type { ByteRange } from '#server/pipeline/storage/media-storage.ts';

export type RangeAnswer =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly range: ByteRange }
  | { readonly kind: 'unsatisfiable' };

const SINGLE_RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/;

/**
 * The bytes that a Range header asks for (RFC 9110, section 14.2). Several ranges, other units and malformed values are
 * ignored, as the standard allows; the answer is then the whole.
 * @param sizeBytes length of the whole, at least 1
 */
export function parseRange(header: string | undefined, sizeBytes: number): RangeAnswer {
  const match = header === undefined ? null : SINGLE_RANGE.exec(header);
  if (!match) return { kind: 'whole' };
  const [, first = '', last = ''] = match;
  if (first === '') {
    if (last === '') return { kind: 'whole' };
    const suffix = Number(last);
    if (suffix === 0) return { kind: 'unsatisfiable' };
    return { kind: 'part', range: { start: Math.max(0, sizeBytes - suffix), end: sizeBytes - 1 } };
  }
  const start = Number(first);
  const end = last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1);
  if (last !== '' && Number(last) < start) return { kind: 'whole' };
  if (start >= sizeBytes) return { kind: 'unsatisfiable' };
  return { kind: 'part', range: { start, end } };
}

/** Strong entity tag of an object, whose content never changes under its hash. */
export function entityTag(sha256: string): string {
  return `"${sha256.slice(0, 32)}"`;
}

/** Whether an `If-None-Match` header names this tag; weak comparison (RFC 9110, section 13.1.2). */
export function matchesAny(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((item) => item.trim().replace(/^W\//, '') === tag);
}

/** Whether a Range may be answered in part: without `If-Range`, or when that names the current content. */
export function rangeApplies(ifRange: string | undefined, tag: string): boolean {
  return ifRange === undefined || ifRange.trim() === tag;
}
