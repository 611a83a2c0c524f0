import { availableParallelism } from 'node:os';
import path from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './server/test/longest-first.ts';

// vitest by itself leaves a core to its own process, which is idle most of the time.
const maxWorkers = Math.max(2, availableParallelism() - 1);
// Node loads the sources of these tests itself (see the file), and the test files that one process runs share what is
// loaded: code that many of them use is read, and made fast, once.
const node = {
  environment: 'node' as const,
  pool: 'forks' as const,
  maxWorkers,
  isolate: false,
  execArgv: ['--import', path.join(import.meta.dirname, 'server/test/native-sources.mjs')],
  experimental: { viteModuleRunner: false, nodeLoader: false },
};
// Media tests spend part of their time waiting for ffmpeg to start or to end.
const mediaWorkers = maxWorkers + 1;
// A busy machine makes things late, not wrong: what a test waits for may take long.
const patient = { testTimeout: 120_000, expect: { poll: { timeout: 45_000 } } } as const;
// These tests replace a module (`vi.mock`), which must not have been loaded by another file before.
const REPLACING = ['web/data/uploads/uploads.test.ts', 'web/pages/videos/video-grid.test.tsx'];
// Node 25 and newer have a `localStorage` of their own, which jsdom's does not replace and which is undefined without a
// file.
const NO_WEB_STORAGE = '--no-experimental-webstorage';
const web = {
  root: import.meta.dirname,
  environment: 'jsdom',
  maxWorkers,
  execArgv: process.allowedNodeEnvironmentFlags.has(NO_WEB_STORAGE) ? [NO_WEB_STORAGE] : [],
  include: ['web/**/*.test.{ts,tsx}'],
  setupFiles: ['web/test/setup.ts'],
  ...patient,
};

export default defineConfig({
  root: 'web',
  cacheDir: '../node_modules/.vite',
  plugins: [react()],
  build: { outDir: '../dist/web', emptyOutDir: true, sourcemap: false, target: 'es2022' },
  server: {
    port: 5173,
    proxy: {
      '/api': 'http://127.0.0.1:3000',
      '/uploads': 'http://127.0.0.1:3000',
      '/socket.io': { target: 'http://127.0.0.1:3000', ws: true },
    },
  },
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: { ...node, name: 'common', root: import.meta.dirname, include: ['common/**/*.test.ts'] },
      },
      {
        test: {
          ...node,
          name: 'server',
          root: import.meta.dirname,
          include: ['server/**/*.test.ts', 'db/**/*.test.ts'],
          exclude: ['**/*.media.test.ts'],
          globalSetup: ['server/test/global-setup.mjs'],
          ...patient,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          ...node,
          name: 'media',
          root: import.meta.dirname,
          include: ['server/**/*.media.test.ts'],
          globalSetup: ['server/test/media-setup.mjs'],
          ...patient,
          testTimeout: 180_000,
          hookTimeout: 180_000,
          maxWorkers: mediaWorkers,
        },
      },
      { plugins: [react()], test: { ...web, name: 'web', exclude: REPLACING, isolate: false } },
      { plugins: [react()], test: { ...web, name: 'web-alone', include: REPLACING } },
    ],
  },
});
