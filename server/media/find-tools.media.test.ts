import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findTools } from './find-tools.ts';
import { createSandbox } from './sandbox.ts';
import { runTool } from './tools.ts';

const folder = await mkdtemp(path.join(tmpdir(), 'tools-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('findTools', () => {
  it('knows the version that the wrapped ffmpeg says it has', async () => {
    const found = await findTools({
      ffmpegPath: null,
      ffprobePath: null,
      searchPath: process.env['PATH'] ?? '',
    });
    if (!found) throw new Error('There is no ffmpeg here.');
    const { tools } = await createSandbox({ tools: found.paths, folder, dataLimitMb: null });
    const { stdout } = await runTool('ask', tools.ffmpeg, ['-version']);
    expect(tools.ffmpeg).not.toBe(found.paths.ffmpeg);
    expect(stdout.startsWith(`ffmpeg version ${tools.version} `)).toBe(true);
  });
});
