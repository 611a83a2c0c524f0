import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { authApi } from '#common/api/auth.ts';
import { uploadsApi } from '#common/api/uploads.ts';
import { statusDto } from '#common/api/videos.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { injectRepeats, injectTimestampGaps, makeMovingClip } from '#server/test/broken-clips.ts';
import { replaceSound } from '#server/test/broken-sound.ts';
import { gustingWind, mixAtSnr, voiceLike } from '#server/test/synthetic-sound.ts';
import { createServerProcess, type ServerProcess } from '#web/e2e/server-process.ts';
import { BenchInputError, benchTools } from './bench-options.ts';
import { serverPid, treeMegabytes } from './process-tree.ts';

const LIMIT_MB = 512;
const SAMPLE_MS = 50;
const CLIP = { seconds: 10, fps: 30, width: 1920, height: 1080 } as const;
/** Sample rate of the windy sound. */
const RATE_HZ = 48_000;
const ACCOUNT = {
  username: 'memory-bench',
  email: 'memory@example.test',
  password: 'Mended-Clip-42',
} as const;

/**
 * Repairs damaged and windy 1080p clips on the built server, configured for a limit of 512 MB. Prints the peak of all
 * its processes together (proportional set size, sampled every 50 ms) as a share of that limit.
 */
export async function run(): Promise<void> {
  if (!existsSync('/proc/self/smaps_rollup'))
    throw new BenchInputError('This benchmark reads /proc and needs Linux.');
  const tools = await benchTools();
  const folder = await mkdtemp(path.join(tmpdir(), 'reelmend-memory-'));
  const server = await createServerProcess({
    EMAIL_VERIFICATION: 'off',
    MEMORY_LIMIT_MB: String(LIMIT_MB),
    DEFAULT_PLAN: 'business',
  });
  try {
    const clips = await makeClips(tools, folder);
    await server.start();
    const pid = await serverPid(server.dataDir);
    const cookie = await signIn(server);
    process.stdout.write(`peak of all processes, share of ${LIMIT_MB} MB (1080p30, ${CLIP.seconds} s)\n`);
    for (const [name, file] of clips) {
      const { peakMb, outcome } = await repairWatched(server, cookie, file, pid);
      process.stdout.write(
        `${name.padEnd(28)} ${(peakMb / LIMIT_MB).toFixed(2)} (${peakMb.toFixed(0)} MB, ${outcome})\n`,
      );
    }
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function makeClips(tools: ToolPaths, folder: string): Promise<[string, string][]> {
  const clean = path.join(folder, 'clean.mp4');
  const gaps = path.join(folder, 'gaps.mp4');
  const repeats = path.join(folder, 'repeats.mp4');
  await makeMovingClip({ tools, outputPath: clean, ...CLIP });
  await injectTimestampGaps({
    tools,
    inputPath: clean,
    outputPath: gaps,
    holes: [
      { frame: 100, count: 3 },
      { frame: 200, count: 2 },
    ],
  });
  await injectRepeats({
    tools,
    inputPath: clean,
    outputPath: repeats,
    history: 'held',
    runs: [{ frame: 120, count: 4 }],
  });
  const windy = path.join(folder, 'windy.mp4');
  const voice = voiceLike(CLIP.seconds, RATE_HZ, 1);
  const channels = [1, 2].map((seed) => mixAtSnr(voice, gustingWind(CLIP.seconds, RATE_HZ, seed), 0));
  await replaceSound({ tools, inputPath: clean, outputPath: windy, channels, rateHz: RATE_HZ });
  return [
    ['clean', clean],
    ['gaps in the timestamps', gaps],
    ['held pictures', repeats],
    ['a wind in each channel', windy],
  ];
}

async function signIn(server: ServerProcess): Promise<string> {
  const call = (path: string, body: unknown) =>
    fetch(server.baseUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: server.baseUrl },
      body: JSON.stringify(body),
    });
  await call(authApi.register.path, ACCOUNT);
  const login = await call(authApi.login.path, { username: ACCOUNT.username, password: ACCOUNT.password });
  return login.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
}

async function repairWatched(server: ServerProcess, cookie: string, file: string, pid: number) {
  const headers = { cookie, origin: server.baseUrl };
  const json = { ...headers, 'content-type': 'application/json' };
  const issued = await fetch(server.baseUrl + uploadsApi.uploadUrl.path, { method: 'POST', headers });
  const { uploadUrl } = uploadsApi.uploadUrl.response.parse(await issued.json());
  await fetch(new URL(uploadUrl, server.baseUrl), {
    method: 'PUT',
    headers: { ...headers, 'content-type': 'video/mp4' },
    body: await readFile(file),
  });
  const fileSize = String((await stat(file)).size);
  const body = JSON.stringify({ fileName: path.basename(file), fileSize, uploadUrl });
  const completed = await fetch(server.baseUrl + uploadsApi.uploadComplete.path, {
    method: 'POST',
    headers: json,
    body,
  });
  const { videoId } = z.object({ videoId: z.string() }).parse(await completed.json());
  let peakMb = 0;
  let reads = 0;
  for (;;) {
    peakMb = Math.max(peakMb, await treeMegabytes(pid));
    reads += 1;
    if (reads % 10 === 0) {
      const answer = await fetch(`${server.baseUrl}/api/videos/${videoId}/status`, { headers });
      const status = statusDto.parse(await answer.json());
      if (status.status !== 'processing') return { peakMb, outcome: status.errorMessage ?? status.status };
    }
    await wait(SAMPLE_MS);
  }
}
