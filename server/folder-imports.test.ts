import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const SERVER = import.meta.dirname;
/** Folders that combine others, or that no running server uses. */
const APART = ['bench', 'operate', 'setup', 'test'];

/**
 * The other server folders that each folder may import, beside the files above it. A new folder must be entered here.
 */
const MAY_KNOW: Readonly<Record<string, readonly string[]>> = {
  account: ['http', 'pipeline'],
  accounts: ['http', 'jobs'],
  analytics: ['http', 'plans'],
  'api-access': ['http'],
  captions: ['http', 'jobs', 'media', 'pipeline', 'videos'],
  drafts: ['http', 'pipeline', 'plans'],
  http: [],
  ideas: ['http'],
  // The messages between main thread and media thread.
  jobs: ['pipeline'],
  maintenance: ['pipeline'],
  media: [],
  notifications: ['http'],
  pipeline: ['http', 'jobs', 'media', 'plans', 'videos'],
  plans: [],
  'quick-fixes': ['http', 'jobs', 'pipeline', 'videos'],
  realtime: ['http'],
  storyline: ['http', 'jobs', 'media', 'pipeline'],
  subscription: ['http'],
  videos: ['http', 'jobs', 'pipeline', 'plans'],
};

const folders = readdirSync(SERVER, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !APART.includes(entry.name))
  .map(({ name }) => name);

/** Other server folders that the files of this one import, each with a file that does. */
function knownTo(folder: string): Map<string, string> {
  const known = new Map<string, string>();
  const files = readdirSync(path.join(SERVER, folder), { encoding: 'utf8', recursive: true });
  for (const name of files.filter((file) => file.endsWith('.ts') && !/(\.test|-contract)\.ts$/.test(file))) {
    const file = path.join(SERVER, folder, name);
    for (const [, from = ''] of readFileSync(file, 'utf8').matchAll(/from '([^']+)'/g)) {
      const target = from.startsWith('#server/')
        ? path.join(SERVER, from.slice('#server/'.length))
        : path.resolve(path.dirname(file), from);
      const [place = '', ...rest] = path.relative(SERVER, target).split(path.sep);
      const isOurs = from.startsWith('#server/') || from.startsWith('.');
      if (isOurs && rest.length > 0 && place !== '..' && place !== folder)
        known.set(place, `${folder}/${name}`);
    }
  }
  return known;
}

describe('folders of the server', () => {
  it('are all entered', () => {
    expect(folders.toSorted()).toEqual(Object.keys(MAY_KNOW).toSorted());
  });

  it.each(folders)('%s imports only what it may, and uses all of it', (folder) => {
    const known = knownTo(folder);
    const allowed = MAY_KNOW[folder] ?? [];
    const strangers = [...known].filter(([place]) => !allowed.includes(place));
    expect(strangers.map(([place, file]) => `${file} -> ${place}`)).toEqual([]);
    expect([...known.keys()].toSorted()).toEqual(allowed.toSorted());
  });
});
