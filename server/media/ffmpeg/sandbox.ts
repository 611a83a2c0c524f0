import { execFile } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { ToolPaths } from './tools.ts';

const exec = promisify(execFile);

export interface SandboxOptions {
  /** Real ffmpeg and ffprobe, and the speech engine where there is one. */
  readonly tools: ToolPaths;
  /** Folder for the wrapper scripts; made when absent. */
  readonly folder: string;
  /** Limit of data memory for one child in megabytes; null for none. */
  readonly dataLimitMb: number | null;
}

export interface Sandbox {
  readonly tools: ToolPaths;
  /** What this machine could not give, in words for the log. */
  readonly missing: readonly string[];
}

/**
 * Stack of each thread of ffmpeg, kB. It counts as data of the child, and from version 7 on ffmpeg has twice as many threads: with
 * the usual 8 MB, coding 1080p took 440 MB with 7.1 and 8.0, with these 400 MB (5.1: 360 and 320 MB; steps of 40 MB). Threads of
 * macOS have a quarter of it.
 */
const STACK_KB = 2048;

/**
 * Writes wrapper scripts through which every media tool runs: the child dies with the thread that started
 * it (`setpriv --pdeathsig`), gains no privileges, leaves no core file, and yields the processor to the
 * server. Each layer is left out, and named in `missing`, where the machine does not have it.
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
