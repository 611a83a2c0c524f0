// Lets Node itself load the TypeScript of the tests, each file once in a process, as close to what a server runs as can be: Vitest's
// own runner puts every call of an imported function behind two look-ups, and tsx keeps the names of inner functions, which makes
// loops over samples take up to twice as long. Given to Node by `--import`; threads that a test starts inherit it.
import { register } from 'node:module';

register('./native-sources-hooks.mjs', import.meta.url);
process.setSourceMapsEnabled(true);
