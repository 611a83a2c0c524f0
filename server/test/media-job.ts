import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readVersion } from '#server/media/ffmpeg/ffmpeg-names.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { hashFile } from '#server/pipeline/steps/step-store.ts';
import type { ProcessVideoResult, ProcessVideoTask } from '#server/pipeline/worker-protocol.ts';

/** The media tools of this machine; their version is read once per test file and not before each run. */
export const testTools: ToolPaths = { ffmpeg: 'ffmpeg', ffprobe: 'ffprobe', ...versionOfFfmpeg() };

/** Empty when there is no ffmpeg; tests that need it fail with their own message. */
function versionOfFfmpeg(): Pick<ToolPaths, 'version'> {
  const { stdout } = spawnSync('ffmpeg', ['-version'], { encoding: 'utf8' });
  const version = readVersion(stdout ?? '');
  return version === null ? {} : { version };
}

/**
 * Creates a temporary folder.
 * @returns its path and a function that removes it
 */
export async function makeFolder(): Promise<{ path: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'reelmend-media-'));
  return { path: folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** A task for one clip with ordinary limits. */
export async function makeTask(
  inputPath: string,
  workDir: string,
  overrides: Partial<ProcessVideoTask> = {},
): Promise<ProcessVideoTask> {
  return {
    kind: 'process-video',
    videoId: 'clip',
    inputPath,
    inputSha256: await hashFile(inputPath),
    workDir,
    tools: testTools,
    limits: {
      threads: 2,
      preset: 'veryfast',
      maxEncodePixels: 3840 * 2160,
      maxDurationMs: 60 * 60_000,
      maxPictures: 200_000,
    },
    reelmendVersion: 'test',
    referencePaths: [],
    ...overrides,
  };
}

/**
 * The value of a finished job.
 * @throws Error with the reason when it failed
 */
export function mustBeOk(result: ProcessVideoResult): Extract<ProcessVideoResult, { ok: true }> {
  if (!result.ok) throw new Error(`${result.code}: ${result.message} ${result.detail}`);
  return result;
}

/** Ids of running processes whose command line contains `folder`. */
export async function processesNaming(folder: string): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    const command = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    if (!command.includes(folder)) continue;
    const state = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    const isZombie = /\) Z /.test(state);
    if (!isZombie) found.push(Number(name));
  }
  return found;
}
