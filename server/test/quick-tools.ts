import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { onPath } from '#server/media/ffmpeg/find-tools.ts';
import { copyBoundLate } from './late-binding.ts';

const exec = promisify(execFile);
const NAMES = ['ffmpeg', 'ffprobe'] as const;
/**
 * Libraries with thousands of tables of their own functions, in which each name is searched for in all libraries before
 * them. Their names bear a version or a prefix that no other library has, so that to search them first changes nothing
 * but the time: with Debian's ffmpeg 5.1 all 42 067 names are found where they were (`LD_DEBUG=bindings`), 5 ms sooner.
 */
const SEARCHED_FIRST = /^lib(?:crypto|epoxy)\.so/;

/** A folder to put in front of PATH. */
export interface QuickTools {
  readonly folder: string;
  readonly remove: () => Promise<void>;
}

/**
 * Makes copies of this machine's ffmpeg and ffprobe that need less processor time to start; they run the same code and
 * give the same files. Debian's builds have the loader look up 43 000 names in 215 libraries before they read a byte,
 * most of which are never called: more than half of their 65 to 70 ms. See `copyBoundLate`.
 * @param searchPath value of the PATH variable
 * @returns null where the tools are not of that kind, or their copies do not answer as they do
 * @throws Error of the file system, such as that the disk is full
 */
export async function makeQuickTools(searchPath: string): Promise<QuickTools | null> {
  if (process.platform !== 'linux') return null;
  const home = await mkdtemp(path.join(tmpdir(), 'reelmend-tools-'));
  const remove = () => rm(home, { recursive: true, force: true });
  const folder = path.join(home, 'bin');
  const libraries = path.join(home, 'lib');
  await Promise.all([folder, libraries].map((each) => mkdir(each)));
  for (const name of NAMES) {
    const tool = await onPath(name, searchPath);
    const isQuick = tool !== null && (await makeQuick({ name, tool, home, folder, libraries }));
    if (isQuick) continue;
    await remove();
    return null;
  }
  return { folder, remove };
}

interface Making {
  readonly name: string;
  readonly tool: string;
  readonly home: string;
  readonly folder: string;
  readonly libraries: string;
}

async function makeQuick({ name, tool, home, folder, libraries }: Making): Promise<boolean> {
  const program = path.join(home, name);
  if (!(await copyBoundLate(tool, program))) return false;
  const listed = await librariesOf(tool);
  for (const library of listed) {
    const copy = path.join(libraries, path.basename(library));
    if (!existsSync(copy)) await copyBoundLate(library, copy);
  }
  const script = path.join(folder, name);
  const first = listed.map((library) => path.basename(library)).filter((each) => SEARCHED_FIRST.test(each));
  const environment = `LD_LIBRARY_PATH='${libraries}' LD_PRELOAD='${first.join(' ')}'`;
  await writeFile(script, `#!/bin/sh\n${environment} exec '${program}' "$@"\n`);
  await chmod(script, 0o755);
  const [said, copySays] = await Promise.all([tool, script].map(versionOf));
  return said !== null && said === copySays;
}

/** The libraries that the loader finds for a program; none where it has no loader, or one that is not asked this way. */
async function librariesOf(program: string): Promise<string[]> {
  const listed = await exec('ldd', [program]).catch(() => null);
  return [...(listed?.stdout ?? '').matchAll(/ => (\/.+) \(0x[\da-f]+\)$/gm)].flatMap(
    ([, file]) => file ?? [],
  );
}

/** All that a tool says about its version, build and libraries; null when it cannot run. */
async function versionOf(tool: string): Promise<string | null> {
  const answer = await exec(tool, ['-version']).catch(() => null);
  return answer && answer.stdout;
}
