import { statSync } from 'node:fs';
import type { TestSequencer, TestSpecification } from 'vitest/node';

/**
 * Names of the files that take longest, in the order of what they took in a run of all; started last, one of them would
 * delay the whole run. File sizes say little about it, and earlier durations are unknown after a fresh clone.
 */
const LONGEST = [
  'smart-render-hevc',
  'damaged-groups',
  'process-video',
  'smart-render-bridge',
  'rebuild-index-note',
  'apply-fixes',
  'smart-render',
  'repair-audio',
  'odd-clips',
  'defects-under-damage',
  'process-hevc',
  'restore-slices',
  'find-damage',
  'smart-render-exchange',
  'kill-server',
  'full-encode',
  'lost-packets',
  'decode-halves',
  'mended-pictures',
  'smart-render-raised',
  'rebuild-index-sound',
  'analyse-picture',
  'detect-picture-flags',
  'repair-wind-noise',
  'hidden-damage',
  'hanging-tool',
  'moved-raw-sound',
  'rebuild-index',
  'several-sounds',
  'detect-stutter',
  'turned-times',
  'rebuild-index-framed',
  'trimmed-clips',
  'smart-render-hevc-stand-ins',
  'analyse-picture-real',
  'code-in-pieces',
  'ten-bit-damage',
  'analyse-audio',
  'avi-clips',
  'process-sound',
  'sample',
  'parse-hevc-pictures',
  'open-original',
  'changed-bytes',
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
