import type { TestProject } from 'vitest/node';
import { buildForTests } from './built-server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Folder with the bundled server; see `buildForTests`. */
    builtServer: string;
  }
}

/** Once for all tests: the server as it is deployed, for those that start it as a process of its own. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const built = await buildForTests();
  project.provide('builtServer', built.folder);
  return built.remove;
}
