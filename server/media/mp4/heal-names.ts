import type { Box } from './box.ts';

/** The boxes that each container needs (ISO/IEC 14496-12, table 1), and those that may replace one of them. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  moov: ['mvhd'],
  trak: ['tkhd'],
  mdia: ['mdhd', 'hdlr'],
  stbl: ['stsd', 'stts', 'stsc', 'stsz', 'stco'],
};
const INSTEAD: Readonly<Record<string, string>> = { stco: 'co64', stsz: 'stz2' };
/** Other boxes of these containers whose names differ from a needed one in one or two letters. */
const OTHERS = [
  'stss',
  'stps',
  'stsh',
  'stdp',
  'sdtp',
  'stvp',
  'ctts',
  'cslg',
  'sbgp',
  'sgpd',
  'subs',
  'saiz',
  'saio',
];
/** How many letters of a name must be intact to identify it. */
const LEFT_LETTERS = 3;

/**
 * Restores names of boxes in an index: where a container lacks a box that it needs, and holds one with an unknown name
 * that differs in a single letter. A flipped byte there hides a table whose content is intact.
 * @returns the same box where no name was lost
 */
export function healNames(box: Box): Box {
  if (!box.children) return box;
  const needed = NEEDED[box.type] ?? [];
  const has = (type: string) => box.children?.some((child) => child.type === type) ?? false;
  const missing = needed.filter((type) => !has(type) && !has(INSTEAD[type] ?? type));
  const children = box.children.map((child) => {
    const isKnown = needed.includes(child.type) || OTHERS.includes(child.type);
    const found = isKnown ? [] : missing.filter((type) => lettersAlike(type, child.type) >= LEFT_LETTERS);
    const [name] = found;
    return found.length === 1 && name !== undefined ? { ...child, type: name } : healNames(child);
  });
  return children.every((child, at) => child === box.children?.[at]) ? box : { ...box, children };
}

const lettersAlike = (one: string, other: string) =>
  [...one].filter((letter, at) => letter === other[at]).length;
