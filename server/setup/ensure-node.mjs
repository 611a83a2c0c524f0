import { readFileSync } from 'node:fs';
import { stop } from './say.mjs';

/** Ends with a word on what to do where this Node is older than `engines` in package.json. */
export function ensureNode() {
  const { node } = JSON.parse(readFileSync('package.json', 'utf8')).engines;
  const wanted = node.replace('>=', '').split('.').map(Number);
  const present = process.versions.node.split('.').map(Number);
  const order = wanted.map((part, at) => present[at] - part).find((difference) => difference !== 0) ?? 0;
  if (order >= 0) return;
  stop(
    `Reelmend needs Node ${wanted.join('.')} or newer; this is ${process.version}. Install a newer one from nodejs.org.`,
  );
}
