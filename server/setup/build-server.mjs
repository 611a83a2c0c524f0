// Bundles the server, its media thread and the operator's commands for production; packages stay in node_modules.
import { build } from 'esbuild';

await build({
  entryPoints: {
    main: 'server/main.ts',
    worker: 'server/pipeline/worker.ts',
    'operate/set-plan': 'server/operate/set-plan.ts',
    'operate/set-idea-status': 'server/operate/set-idea-status.ts',
    'operate/verify': 'server/operate/verify.ts',
  },
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
