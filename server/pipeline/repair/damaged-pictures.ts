import type { Finding } from '../analyse/analysis.ts';

/** Display numbers of the pictures whose own coded data are damaged; undefined where that is not known. */
export function damagedData({ detail }: Finding): readonly number[] | undefined {
  return detail.kind === 'corrupted_section' ? detail.damagedDataFrames : undefined;
}

/** True for repeats and for pictures whose own data are damaged, or may be. */
export function badThemselves(findings: readonly Finding[]): (frame: number) => boolean {
  const bad = new Set<number>();
  for (const finding of findings) {
    const { kind, firstFrame, lastFrame } = finding;
    if (kind !== 'stuttered_cut' && kind !== 'corrupted_section') continue;
    if (firstFrame === null || lastFrame === null) continue;
    const all = Array.from({ length: lastFrame + 1 - firstFrame }, (_, at) => firstFrame + at);
    for (const frame of damagedData(finding) ?? all) bad.add(frame);
  }
  return (frame) => bad.has(frame);
}
