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
  it('reads the version that the wrapped ffmpeg reports', async () => {
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

describe('createSandbox', () => {
  it('gives each thread of ffmpeg a small stack, and a speech engine the usual one', async () => {
    const shell = { ffmpeg: '/bin/sh', ffprobe: '/bin/sh', whisper: '/bin/sh' };
    const { tools } = await createSandbox({ tools: shell, folder, dataLimitMb: 300 });
    const stackOf = async (tool: string) => (await runTool('ask', tool, ['-c', 'ulimit -s'])).stdout.trim();
    expect([await stackOf(tools.ffmpeg), await stackOf(tools.ffprobe)]).toEqual(['2048', '2048']);
    expect(await stackOf(tools.whisper ?? '')).toBe(await stackOf('/bin/sh'));
  });
});
