/**
 * A prefix code as a binary tree. Entry `2 * node + bit` is the next node, or, if negative, a value v stored as -v - 1.
 */
export type CodeTree = Int16Array;

/**
 * The tree of a complete prefix code.
 * @param words in the order of the code words as numbers, two bytes each: the length, with 32 added for values from 256
 * on, and the value
 */
export function createTree(words: Buffer): CodeTree {
  const count = words.length / 2;
  const tree = new Int16Array(2 * Math.max(1, count - 1));
  let nodes = 1;
  let code = 0;
  let before = 0;
  for (let at = 0; at < words.length; at += 2) {
    const head = words[at] ?? 0;
    const length = head & 31;
    if (at > 0)
      code = length >= before ? (code + 1) * 2 ** (length - before) : (code + 1) >> (before - length);
    before = length;
    let node = 0;
    for (let bit = length - 1; bit > 0; bit -= 1) {
      const branch = 2 * node + ((code >> bit) & 1);
      const next = tree[branch] ?? 0;
      if (next === 0) tree[branch] = nodes;
      node = next === 0 ? nodes++ : next;
    }
    const value = (words[at + 1] ?? 0) + (head & 32 ? 256 : 0);
    tree[2 * node + (code & 1)] = -1 - value;
  }
  return tree;
}
