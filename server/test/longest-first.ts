import { statSync } from 'node:fs';
import type { TestSequencer, TestSpecification } from 'vitest/node';

/**
 * Names of the files that take longest; started last, one of them would delay the whole run. File sizes say little
 * about it, and earlier durations are unknown after a fresh clone.
 */
const LONGEST = [
  'rebuild-index-note',
  'odd-clips',
  'smart-render-hevc',
  'damaged-groups',
  'process-hevc',
  'process-video',
  'smart-render-bridge',
  'kill-server',
  'repair-audio',
  'apply-fixes',
  'analyse-picture',
  'smart-render',
  'defects-under-damage',
  'find-damage',
  'smart-render-exchange',
  'lost-packets',
  'full-encode',
  'damage-beside-holes',
  'hidden-damage',
  'decode-halves',
];

/** Position in the order; lower runs earlier. */
function rank(moduleId: string): number {
  const place = LONGEST.findIndex((name) => moduleId.endsWith(`/${name}.media.test.ts`));
  return place === -1 ? LONGEST.length : place;
}

/**
 * Orders the files of a run: by project, because a process continues with files of its own project, then known long
 * ones, then by size.
 */
export class LongestFirst implements TestSequencer {
  sort(files: TestSpecification[]): TestSpecification[] {
    const known = files.map((file) => ({
      file,
      project: file.project.name,
      rank: rank(file.moduleId),
      size: statSync(file.moduleId).size,
    }));
    known.sort((a, b) => a.project.localeCompare(b.project) || a.rank - b.rank || b.size - a.size);
    return known.map(({ file }) => file);
  }

  /** Required by the interface for runs on several machines. */
  shard(): TestSpecification[] {
    throw new Error('These tests run whole, on one machine.');
  }
}
