import type { PlatformRemark } from '#common/platform-check.ts';

/** Why a platform refuses a file, as part of a sentence. */
export function refusalOf(remark: PlatformRemark): string {
  switch (remark.kind) {
    case 'too_long':
      return `it runs ${Math.round(remark.lengthS)} s, ${remark.limitS} s are the most`;
    case 'too_short':
      return `it runs ${remark.lengthS.toFixed(1)} s, ${remark.limitS} s are the least`;
    case 'too_large':
      return `it has ${Math.round(remark.sizeBytes / 1024 ** 2)} MB`;
    case 'boxed':
    case 'no_short':
      return `it is ${remark.width} x ${remark.height}`;
    default:
      return remark.kind.replaceAll('_', ' ');
  }
}
