import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { access, constants } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { readVersion } from './ffmpeg-names.ts';
import { z } from 'zod';
import type { ToolPaths } from './tools.ts';

const exec = promisify(execFile);

export interface FoundTools {
  readonly paths: ToolPaths;
  /** First line of `ffmpeg -version` without the word ffmpeg, e.g. "5.1.9-0+deb12u1". */
  readonly version: string;
  readonly source: 'configured' | 'system' | 'package';
}

export interface ToolSearch {
  readonly ffmpegPath: string | null;
  readonly ffprobePath: string | null;
  /** Value of the PATH variable. */
  readonly searchPath: string;
}

const installed = z.object({ path: z.string() });

/**
 * Finds ffmpeg and ffprobe: the configured paths, else the system's, else the binaries of the optional
 * npm packages @ffmpeg-installer and @ffprobe-installer.
 * @returns null when there is none; the caller says so in words
 */
export async function findTools(search: ToolSearch): Promise<FoundTools | null> {
  const configured = search.ffmpegPath !== null || search.ffprobePath !== null;
  const own = {
    ffmpeg: search.ffmpegPath ?? (await onPath('ffmpeg', search.searchPath)),
    ffprobe: search.ffprobePath ?? (await onPath('ffprobe', search.searchPath)),
  };
  const packaged = {
    ffmpeg: fromPackage('@ffmpeg-installer/ffmpeg'),
    ffprobe: fromPackage('@ffprobe-installer/ffprobe'),
  };
  const system = await tryTools(own, configured ? 'configured' : 'system');
  return system ?? tryTools(packaged, 'package');
}

async function tryTools(
  tools: { ffmpeg: string | null; ffprobe: string | null },
  source: FoundTools['source'],
): Promise<FoundTools | null> {
  const { ffmpeg, ffprobe } = tools;
  if (ffmpeg === null || ffprobe === null) return null;
  try {
    await exec(ffprobe, ['-version']);
    const { stdout } = await exec(ffmpeg, ['-version']);
    const version = readVersion(stdout) ?? 'unknown';
    return { paths: { ffmpeg, ffprobe, version }, version, source };
  } catch {
    return null;
  }
}

/**
 * Finds a program as a shell would.
 * @param searchPath value of the PATH variable
 * @returns null when no folder of it has the program
 */
export async function onPath(name: string, searchPath: string): Promise<string | null> {
  for (const folder of searchPath.split(path.delimiter)) {
    if (!folder) continue;
    const file = path.resolve(folder, name);
    const usable = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (usable) return file;
  }
  return null;
}

function fromPackage(name: string): string | null {
  try {
    const require = createRequire(path.join(process.cwd(), 'package.json'));
    return installed.parse(require(name)).path;
  } catch {
    return null;
  }
}
