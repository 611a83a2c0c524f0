import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildForTests } from './built-server.ts';
import { makeQuickTools } from './quick-tools.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Folder with the bundled server; see `buildForTests`. */
    builtServer: string;
    /** The value of PATH before quick tools were put in front of it; null where there are none. */
    pathBehindQuickTools: string | null;
  }
}

/**
 * Runs once for all media tests: bundles the server as deployed, for tests that start it as a process, and puts tools
 * that start with less processor time in front of PATH.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const searchPath = process.env['PATH'] ?? '';
  const [removeBuilt, quick] = await Promise.all([provideBuiltServer(project), makeQuickTools(searchPath)]);
  project.provide('pathBehindQuickTools', quick && searchPath);
  // Handed on to the processes that run the tests.
  if (quick) process.env['PATH'] = [quick.folder, searchPath].join(path.delimiter);
  return async () => {
    process.env['PATH'] = searchPath;
    await quick?.remove();
    await removeBuilt();
  };
}

/**
 * Bundles the server and tells the tests where it is.
 * @returns a function that removes it
 */
export async function provideBuiltServer(project: TestProject): Promise<() => Promise<void>> {
  const built = await buildForTests();
  project.provide('builtServer', built.folder);
  return built.remove;
}
