import { findCueProblems, type VideoCue } from '#common/captions.ts';
import { type Cues, toStored } from './caption-edits.ts';

const isSame = (one: VideoCue | undefined, other: VideoCue | undefined): boolean =>
  one?.text === other?.text && one?.startMs === other?.startMs && one?.endMs === other?.endMs;

/**
 * Merges two sets of changes to the same captions if no caption was changed on both sides. Works only while none was
 * added, removed, split or joined, because a caption is identified by its index.
 * @returns null when people have to choose
 */
export function mergeCues(base: Cues, mine: Cues, theirs: Cues): Cues | null {
  if (mine.length !== base.length || theirs.length !== base.length) return null;
  const [before, here] = [toStored(base), toStored(mine)];
  const merged: VideoCue[] = [];
  for (const [index, cue] of mine.entries()) {
    const their = theirs[index];
    const isMine = !isSame(before[index], here[index]);
    const isTheirs = !isSame(before[index], their);
    if (isMine && isTheirs && !isSame(here[index], their)) return null;
    merged.push(isTheirs && their ? their : cue);
  }
  return findCueProblems(toStored(merged)).length > 0 ? null : merged;
}
