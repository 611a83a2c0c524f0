import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '..');
const SOURCES = ['common', 'db', 'server', 'web'];

const filesUnder = (folder: string): string[] =>
  readdirSync(path.join(ROOT, folder), { encoding: 'utf8', recursive: true })
    .map((name) => path.posix.join(folder, name.split(path.sep).join('/')))
    .filter((file) => !file.includes('node_modules/'));

const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const exists = (file: string): boolean => existsSync(path.join(ROOT, file));

const documents = ['README.md', ...filesUnder('docs').filter((file) => file.endsWith('.md'))];
const sources = SOURCES.flatMap(filesUnder).filter((file) => /\.(ts|tsx|mjs)$/.test(file));
const tests = sources.filter((file) => /\.test\.tsx?$/.test(file));

/** Every name that the sources and the settings use, and every file's own name. */
const names = new Set([
  ...[...sources, '.env.example'].flatMap((file) => read(file).match(/[A-Za-z_$][\w$]*/g) ?? []),
  ...sources.map((file) => path.posix.basename(file)),
]);

const withoutCodeBlocks = (text: string): string => text.replaceAll(/^```[\s\S]*?^```/gm, '');

/** The anchors of a page's headings, as GitHub makes them: lower case, punctuation removed, a hyphen for each space. */
const anchorsOf = (text: string): Set<string> =>
  new Set(
    [...withoutCodeBlocks(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );

/** Broken links of a page: no such file, or no such heading in it. */
function brokenLinks(document: string): string[] {
  const links = [...withoutCodeBlocks(read(document)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, to = '']) => to);
  return links.filter((to) => {
    if (/^[a-z]+:/.test(to)) return false;
    const [file = '', anchor] = to.split('#');
    const target = file === '' ? document : path.posix.join(path.posix.dirname(document), file);
    if (!exists(target)) return true;
    return anchor !== undefined && !anchorsOf(read(target)).has(anchor);
  });
}

/** Our own paths in back quotes that do not exist; `*` and `<name>` stand for any name. */
const missingPaths = (document: string): string[] =>
  [...read(document).matchAll(/`((?:common|db|docs|server|web)\/[^`\s]*)`/g)]
    .map(([, named = '']) => named)
    .filter((named) => !/[*<{]/.test(named) && !exists(named));

/** Constants, functions and file names in back quotes that occur in no source. */
const missingNames = (document: string): string[] =>
  [...read(document).matchAll(/`([A-Z][A-Z\d]*(?:_[A-Z\d]+)+|[a-z]+[A-Z]\w*|[\w-]+\.(?:ts|tsx|mjs))`/g)]
    .map(([, name = '']) => name)
    .filter((name) => !names.has(name));

/** Filters of `npx vitest run` in a page that match no test file. */
const idleFilters = (document: string): string[] =>
  [...read(document).matchAll(/npx vitest run --project \S+ ([^`\n#]+)/g)]
    .flatMap(([, filters = '']) => filters.trim().split(/\s+/))
    .filter((filter) => !tests.some((file) => file.includes(filter)));

/** Commands `npm run <name>` of a page that package.json does not have. */
function unknownScripts(document: string): string[] {
  const known = [...read('package.json').matchAll(/^ {4}"([\w:]+)": /gm)].map(([, name]) => name);
  const named = [...read(document).matchAll(/npm run ([\w:]+)/g)].map(([, name = '']) => name);
  return named.filter((name) => !known.includes(name));
}

/** Benchmarks that a page names but that do not exist. */
const unknownBenchmarks = (document: string): string[] =>
  [...read(document).matchAll(/npm run bench -- ([a-z][\w-]*)/g)]
    .map(([, name = '']) => name)
    .filter((name) => !exists(`server/bench/${name}.bench.ts`));

/** Options of benchmarks that a page names but that they do not take. */
const unknownOptions = (document: string): string[] =>
  [...read(document).matchAll(/npm run bench -- ([a-z][\w-]*)([^`\n#]*)/g)].flatMap(
    ([, name = '', rest = '']) => {
      const bench = `server/bench/${name}.bench.ts`;
      const code = exists(bench) ? read(bench) : '';
      const options = [...rest.matchAll(/--([a-z][\w-]*)/g)].map(([, option = '']) => option);
      return options
        .filter((option) => !new RegExp(`[ {]'?${option}'?: \\{ type: '`).test(code))
        .map((option) => `${name} --${option}`);
    },
  );

describe.each(documents)('%s', (document) => {
  it('links to pages and headings that exist', () => {
    expect(brokenLinks(document)).toEqual([]);
  });

  it('names files, names of the code, tests, scripts and benchmarks that exist', () => {
    const missing = [
      missingPaths,
      missingNames,
      idleFilters,
      unknownScripts,
      unknownBenchmarks,
      unknownOptions,
    ];
    expect(missing.flatMap((find) => find(document))).toEqual([]);
  });
});

/** Pages that source comments name, with the heading quoted after them. */
function namedPages(file: string): { page: string; heading: string | undefined }[] {
  const text = read(file).replaceAll(/\n\s*(?:\*|\/\/)\s?/g, ' ');
  return [...text.matchAll(/(docs\/[\w/-]+\.md)(?:`?, "([^"]+)")?/g)].map(([, page = '', heading]) => ({
    page,
    heading,
  }));
}

describe('comments', () => {
  it('name pages and headings that exist', () => {
    const broken = sources
      .filter((file) => file !== 'server/documents.test.ts')
      .flatMap((file) => namedPages(file).map((named) => ({ file, ...named })))
      .filter(({ page, heading }) => {
        if (!exists(page)) return true;
        return heading !== undefined && !new RegExp(`^#+ ${heading}$`, 'm').test(read(page));
      });
    expect(broken).toEqual([]);
  });
});

/** Titles of the tests and groups in a file, as they are written. */
const titlesIn = (file: string): string[] =>
  [
    ...read(file).matchAll(
      /\(\s*(['"`])((?:\\.|(?!\1)[\s\S])*?)\1,\s*(?:\{[^}]*\},\s*)?(?:async\b|\(|\w+ =>)/g,
    ),
  ].map(([, , title = '']) => title.replaceAll("\\'", "'"));

describe('docs/acceptance.md', () => {
  const list = read('docs/acceptance.md');
  const entries = [...list.matchAll(/^- \[(x| )\] \d{3}\. (.+)$/gm)];

  /** The tests that an entry names: files, with parts of titles. */
  const proofsOf = (entry: string) => {
    const [, proof = ''] = entry.split(/\*(?:Proof|Open):\*/);
    return [...proof.matchAll(/`((?:common|db|server|web)\/[^`]+)`((?:,? "[^"]+")*)/g)].map(
      ([, file = '', quoted = '']) => ({
        file,
        titles: [...quoted.matchAll(/"([^"]+)"/g)].map(([, title = '']) => title),
      }),
    );
  };

  it('names tests that exist', () => {
    const missing = entries.flatMap(([, , entry = '']) =>
      proofsOf(entry).flatMap(({ file, titles }) => {
        const known = exists(file) ? titlesIn(file) : [];
        const unknown = titles.filter((title) => !known.some((one) => one.includes(title)));
        return known.length === 0 ? [file] : unknown.map((title) => `${file}: ${title}`);
      }),
    );
    expect(missing).toEqual([]);
  });

  it('names a test, by file and title, for each statement', () => {
    const bare = entries.filter(([, , entry = '']) => {
      const proofs = proofsOf(entry);
      return proofs.length === 0 || proofs.some(({ titles }) => titles.length === 0);
    });
    expect(bare.map(([line]) => line)).toEqual([]);
  });

  it('counts what it proves', () => {
    const proven = entries.filter(([, mark]) => mark === 'x').length;
    expect(list).toContain(`**${proven} of ${entries.length} are proven.**`);
    const rows = [...list.matchAll(/^\| ([A-Z]\. .+?) \| (\d+) \| (\d+) \|$/gm)];
    const sections = new Map(list.split(/^## /m).map((part) => [part.split('\n')[0] ?? '', part]));
    const counted = rows.map(([, title = '']) => {
      const part = sections.get(title) ?? '';
      return [title, part.match(/^- \[x\]/gm)?.length ?? 0, part.match(/^- \[/gm)?.length ?? 0];
    });
    expect(counted).toEqual(rows.map(([, title, done, all]) => [title, Number(done), Number(all)]));
  });
});
