import type { VideoIssues } from '#common/video.ts';

/** Defects that the library can be filtered by. */
const FILTERED_DEFECTS = [
  'stutteredCuts',
  'audioSyncIssues',
  'droppedFrames',
  'corruptedSections',
  'windNoise',
] as const satisfies readonly (keyof VideoIssues)[];

const KEY_MAX_CHARS = 1000;
const NUMBER_DIGITS = 12;

/** The form of a name that the library is searched by. */
export function nameLowerOf(fileName: string): string {
  return fileName.toLowerCase();
}

/** A sort key whose plain order is the order people expect: "take 9" before "take 10", É beside E. */
export function nameKeyOf(fileName: string): string {
  const plain = fileName.toLowerCase().normalize('NFKD').replaceAll(/\p{M}/gu, '');
  return plain.replaceAll(/\d+/g, (digits) => digits.padStart(NUMBER_DIGITS, '0')).slice(0, KEY_MAX_CHARS);
}

/** The kinds found, each between blanks, e.g. ` windNoise droppedFrames `; empty for none. */
export function defectKindsOf(issues: VideoIssues): string {
  const found = FILTERED_DEFECTS.filter((kind) => Boolean(issues[kind]));
  return found.length === 0 ? '' : ` ${found.join(' ')} `;
}
