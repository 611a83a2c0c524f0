import { spawn } from 'node:child_process';

/**
 * Runs npm with its output shown: the one that started this script, since Windows starts no `npm.cmd` without a shell.
 * @returns {Promise<number>} the exit code
 */
export function runNpm(args, env = process.env) {
  const own = process.env.npm_execpath;
  return own ? run(process.execPath, [own, ...args], env) : run('npm', args, env);
}

/**
 * Runs a command with its output shown.
 * @returns {Promise<number>} the exit code; 127 when the command does not exist
 */
export function run(command, args, env = process.env) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'], env });
    child.on('error', () => resolve(127));
    child.on('close', (code) => resolve(code ?? 1));
  });
}

/**
 * Runs a command for its output; used for quick questions such as `--version`.
 * @returns {Promise<string | null>} what it wrote; null when it failed or does not exist
 */
export function ask(command, args) {
  return new Promise((resolve) => {
    let out = '';
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] });
    child.stdout.on('data', (chunk) => (out += chunk));
    child.on('error', () => resolve(null));
    child.on('close', (code) => resolve(code === 0 ? out.trim() : null));
  });
}

/** True when Debian packages can be installed without asking for a password. */
export async function canInstallPackages() {
  return process.getuid?.() === 0 && (await ask('apt-get', ['--version'])) !== null;
}

/**
 * Installs Debian packages; the caller has checked `canInstallPackages`.
 * @returns {Promise<boolean>} whether they are there now
 */
export async function installPackages(names) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  if ((await run('apt-get', ['update', '-qq'], env)) !== 0) return false;
  return (await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...names], env)) === 0;
}
