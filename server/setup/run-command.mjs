// Runs a command of the operator, `server/operate/<name>.ts`: from the sources where the tools of development are
// installed, else from the build, because a deployed server has nothing that reads TypeScript.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { run } from './commands.mjs';
import { stop } from './say.mjs';

const [name, ...words] = process.argv.slice(2);
const sources = path.resolve(`server/operate/${name}.ts`);
const built = path.resolve(`dist/server/operate/${name}.js`);

if (canReadSources()) process.exit(await run(process.execPath, ['--import', 'tsx', sources, ...words]));
if (!existsSync(built)) stop('This command is not built. Run "npm run build" where the server is built.');
process.exit(await run(process.execPath, ['--enable-source-maps', built, ...words]));

function canReadSources() {
  try {
    createRequire(sources).resolve('tsx');
    return existsSync(sources);
  } catch {
    return false;
  }
}
