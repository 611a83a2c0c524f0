import type { TestProject } from 'vitest/node';
import { buildForTests } from './built-server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Folder with the bundled server; see `buildForTests`. */
    builtServer: string;
  }
}

/** Runs once for all media tests: bundles the server as deployed, for tests that start it as a process. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const built = await buildForTests();
  project.provide('builtServer', built.folder);
  return built.remove;
}
