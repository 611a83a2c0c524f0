// Bundles the server and its media thread for production; packages stay in node_modules.
import { build } from 'esbuild';

await build({
  entryPoints: { main: 'server/main.ts', worker: 'server/pipeline/worker.ts' },
  outdir: 'dist/server',
  bundle: true,
  splitting: true,
  chunkNames: 'chunk-[hash]',
  platform: 'node',
  format: 'esm',
  target: 'node20',
  packages: 'external',
  sourcemap: true,
  logLevel: 'warning',
});
