import type { Finding } from '../analyse/analysis.ts';

/** Display numbers of the pictures whose own coded data are damaged; undefined where that is not known. */
export function damagedData({ detail }: Finding): readonly number[] | undefined {
  return detail.kind === 'corrupted_section' ? detail.damagedDataFrames : undefined;
}

/** Numbers (below 0) of hidden pictures in the finding's group whose own coded data are damaged. */
export function hiddenData({ detail }: Finding): readonly number[] | undefined {
  return detail.kind === 'corrupted_section' ? detail.hiddenDataFrames : undefined;
}

/** Display numbers of repeated pictures. */
export function repeatedPictures(findings: readonly Finding[]): Set<number> {
  return new Set(
    findings.flatMap((finding) => (finding.kind === 'stuttered_cut' ? picturesOf(finding) : [])),
  );
}

/** Display numbers of repeats and of pictures that are damaged or refer to damaged ones. */
export function badPictures(findings: readonly Finding[]): Set<number> {
  const damaged = findings.filter(({ kind }) => kind === 'corrupted_section');
  return new Set([...repeatedPictures(findings), ...damaged.flatMap(picturesOf)]);
}

/** Display numbers of repeats and of pictures whose own data are damaged, or may be. */
export function badThemselves(findings: readonly Finding[]): Set<number> {
  return new Set([...repeatedPictures(findings), ...tornPictures(findings)]);
}

/** Display numbers of pictures whose own data are damaged, or may be. */
export function tornPictures(findings: readonly Finding[]): Set<number> {
  const damaged = findings.filter(({ kind }) => kind === 'corrupted_section');
  return new Set(damaged.flatMap((finding) => damagedData(finding) ?? picturesOf(finding)));
}

function picturesOf({ firstFrame, lastFrame }: Finding): number[] {
  if (firstFrame === null || lastFrame === null) return [];
  return Array.from({ length: lastFrame + 1 - firstFrame }, (_, at) => firstFrame + at);
}
