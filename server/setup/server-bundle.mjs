/**
 * How the server, its media thread and the operator's commands are bundled, for esbuild; packages stay in node_modules.
 * @param {string} outdir a folder two below the one that holds `package.json`
 */
export const serverBundle = (outdir) => ({
  entryPoints: {
    main: 'server/main.ts',
    worker: 'server/pipeline/worker.ts',
    'operate/set-plan': 'server/operate/set-plan.ts',
    'operate/set-idea-status': 'server/operate/set-idea-status.ts',
    'operate/verify': 'server/operate/verify.ts',
  },
  outdir,
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
