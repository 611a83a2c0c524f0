import { execFile } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { ToolPaths } from './tools.ts';

const exec = promisify(execFile);

export interface SandboxOptions {
  /** Real ffmpeg and ffprobe, and the speech engine where there is one. */
  readonly tools: ToolPaths;
  /** Folder for the wrapper scripts; created when absent. */
  readonly folder: string;
  /** Limit on the data memory of one child, megabytes; null for none. */
  readonly dataLimitMb: number | null;
}

export interface Sandbox {
  readonly tools: ToolPaths;
  /** The protections that this machine lacks, in words for the log. */
  readonly missing: readonly string[];
}

/**
 * Stack of each ffmpeg thread, kB. It counts as the child's data memory, and from version 7 on ffmpeg has twice as many
 * threads. Coding 1080p took 440 MB with the usual 8 MB stack in 7.1 and 8.0, and 400 MB with this one (5.1: 360 and
 * 320 MB; measured in steps of 40 MB). Threads of macOS have a quarter of it.
 */
const STACK_KB = 2048;

/**
 * Writes wrapper scripts through which every media tool runs: the child dies with the thread that started it (`setpriv
 * --pdeathsig`), gains no privileges, leaves no core file, and gives the server priority on the processor. A layer that
 * the machine does not have is left out and named in `missing`.
 */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  await mkdir(options.folder, { recursive: true });
  const missing: string[] = [];
  const layers: string[] = [];
  const works = async (words: string[]) => {
    const [command, ...args] = [...words, 'true'];
    if (command === undefined) return false;
    return exec(command, args).then(
      () => true,
      () => false,
    );
  };
  const limits = ['prlimit', '--core=0', '--nofile=256'];
  if (options.dataLimitMb !== null) limits.push(`--data=${options.dataLimitMb * 1024 * 1024}`);
  limits.push('--');
  if (await works(limits)) layers.push(...limits);
  else missing.push('prlimit (resource limits of media tools)');
  const dieWithParent = ['setpriv', '--pdeathsig', 'KILL', '--no-new-privs', '--'];
  if (await works(dieWithParent)) layers.push(...dieWithParent);
  else missing.push('setpriv (media tools end together with the server)');
  const polite = ['nice', '-n', '10'];
  if (await works(polite)) layers.push(...polite);
  const write = async (name: 'ffmpeg' | 'ffprobe' | 'whisper', tool: string) => {
    const file = path.join(options.folder, name);
    const target = tool.replaceAll("'", `'\\''`);
    const stack = name === 'whisper' ? '' : `ulimit -S -s ${STACK_KB} 2>/dev/null\n`;
    await writeFile(file, `#!/bin/sh\n${stack}exec ${layers.join(' ')} '${target}' "$@"\n`);
    await chmod(file, 0o755);
    return file;
  };
  const { ffmpeg, ffprobe, whisper } = options.tools;
  const tools = {
    ...options.tools,
    ffmpeg: await write('ffmpeg', ffmpeg),
    ffprobe: await write('ffprobe', ffprobe),
    ...(whisper === undefined ? {} : { whisper: await write('whisper', whisper) }),
  };
  return { tools, missing };
}
