// Bundles the server for production.
import { build } from 'esbuild';
import { serverBundle } from './server-bundle.mjs';

await build(serverBundle('dist/server'));
