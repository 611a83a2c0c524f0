import { existsSync } from 'node:fs';
import { chmod, copyFile, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { onPath } from '#server/media/ffmpeg/find-tools.ts';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { copyBoundLate } from './late-binding.ts';
import { sharedFolder } from './rendered-clips.ts';

const behind = inject('pathBehindQuickTools');
const folder = sharedFolder();

/** Bytes that differ between two files of one size. */
const differing = (a: Buffer, b: Buffer) => a.reduce((sum, byte, at) => sum + Number(byte !== b[at]), 0);

describe.skipIf(behind === null)('quick tools (skipped where the tools are of another kind)', () => {
  const find = async (searchPath: string, name: string) => (await onPath(name, searchPath)) ?? '';
  const [quick, installed] = [process.env['PATH'] ?? '', behind ?? ''];

  it('stand in front of the installed ones and differ from them in flags for the loader only', async () => {
    for (const name of ['ffmpeg', 'ffprobe']) {
      const [script, tool] = [await find(quick, name), await find(installed, name)];
      expect(script).not.toBe(tool);
      const [, program = ''] = /exec '(.+)'/.exec(await readFile(script, 'utf8')) ?? [];
      const [copy, own] = [await readFile(program), await readFile(tool)];
      expect(copy.length).toBe(own.length);
      expect(differing(copy, own)).toBeGreaterThan(0);
      expect(differing(copy, own)).toBeLessThanOrEqual(6);
    }
  });

  it('write the same bytes as the installed ones', async () => {
    const write = async (searchPath: string, name: string) => {
      const output = path.join(folder.path, name);
      const source = 'testsrc2=s=320x192:d=1[out0];sine=d=1[out1]'.split(' ');
      const coding = '-c:v libx264 -threads 1 -c:a aac -flags +bitexact -fflags +bitexact'.split(' ');
      const args = ['-v', 'error', '-f', 'lavfi', '-i', ...source, ...coding, output];
      await runTool('make a clip', await find(searchPath, 'ffmpeg'), args);
      return readFile(output);
    };
    expect(await write(quick, 'quick.mp4')).toEqual(await write(installed, 'installed.mp4'));
  });
});

describe('copyBoundLate', () => {
  it('copies nothing that does not ask to be bound at the start, such as a script', async () => {
    const [script, copy] = [path.join(folder.path, 'script'), path.join(folder.path, 'copy')];
    await copyFile(import.meta.filename, script);
    await chmod(script, 0o755);
    expect(await copyBoundLate(script, copy)).toBe(false);
    expect(existsSync(copy)).toBe(false);
  });
});
