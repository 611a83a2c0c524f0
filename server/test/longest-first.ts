import { statSync } from 'node:fs';
import type { TestSequencer, TestSpecification } from 'vitest/node';

/**
 * Names of the files that take longest; started last, one of them would delay the whole run. File sizes say little
 * about it, and earlier durations are unknown after a fresh clone.
 */
const LONGEST = [
  'smart-render-hevc',
  'damaged-groups',
  'smart-render',
  'process-video',
  'smart-render-bridge',
  'apply-fixes',
  'repair-audio',
  'kill-server',
  'odd-clips',
  'defects-under-damage',
  'smart-render-raised',
  'smart-render-exchange',
  'smart-render-hevc-stand-ins',
  'rebuild-index-note',
  'rebuild-index',
  'process-hevc',
  'orientation',
  'damage-beside-holes',
  'hidden-damage',
  'find-damage',
  'analyse-picture',
  'full-encode',
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
