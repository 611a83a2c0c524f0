import { statSync } from 'node:fs';
import type { TestSequencer, TestSpecification } from 'vitest/node';

/**
 * Files that take longest, by their names: begun last, one of them would keep the whole run waiting. The size of a file says little
 * of it, and how long they took before is not known where the project was just fetched.
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

/** Place in the order: the lower the earlier. */
function rank(moduleId: string): number {
  const place = LONGEST.findIndex((name) => moduleId.endsWith(`/${name}.media.test.ts`));
  return place === -1 ? LONGEST.length : place;
}

/** Orders the files of a run: by project, as a process goes on with files of its own, then those known as long, then by size. */
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

  /** For runs on several machines. */
  shard(): TestSpecification[] {
    throw new Error('These tests run whole, on one machine.');
  }
}
