import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { rm } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { Server } from 'socket.io';
import { io } from 'socket.io-client';
import { User } from '#db/models/user.ts';
import { statusDto, type StatusDto } from '#common/api/videos.ts';
import { POLL_MS } from '#common/limits.ts';
import { Video } from '#db/models/video.ts';
import type { Services } from '#server/compose.ts';
import { createCookieKeys } from '#server/http/cookie-keys.ts';
import { sessionCookieName } from '#server/http/session.ts';
import { createUser } from '#server/test/factories.ts';
import { startPostgres } from '#server/test/postgres.ts';
import { startBenchServices } from './bench-services.ts';
import { seedVideos } from './seed-lists.ts';

const CHANGES = 60;
/** Longer than the spacing of pushes, so that each change is sent at once, and no divisor of the polling interval. */
const GAP_MS = 310;

/**
 * Changes the state of a video and measures, as a page would, how long after its commit each change is known: by push,
 * by polling at the specified 2 s in the same run, and from a bare Socket.IO server with the same payload. Prints
 * ratios; server and clients share this process, so all figures include the work of both sides.
 */
export async function run(): Promise<void> {
  console.log(`${CHANGES} changes, ${GAP_MS} ms apart; times in ms from the commit to the client's event`);
  console.log('engine      push p50    p95    max   bare socket.io p50   x bare   poll p50   x poll');
  await measureEngine('SQLite', null);
  const postgres = await startPostgres();
  if (!postgres) return;
  await measureEngine('Postgres', postgres.url);
  await postgres.stop();
}

async function measureEngine(engine: string, databaseUrl: string | null): Promise<void> {
  const { services, config, dataDir } = await startBenchServices('push', databaseUrl);
  try {
    const { id: userId } = await createUser(services.db);
    await seedVideos(services.db, userId, 1);
    const video = await Video.query(services.db).findOne({ userId });
    if (!video) throw new Error('No video was made.');
    const baseUrl = await listen(services);
    const cookie = await sessionCookie(services, userId, config.sessionKeys);
    print(engine, await measure(services, video, baseUrl, cookie));
  } finally {
    await services.sockets.close();
    services.httpServer.close();
    services.httpServer.closeAllConnections();
    await services.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

interface Delays {
  readonly push: number[];
  readonly poll: number[];
  readonly bare: number[];
}

async function measure(services: Services, video: Video, baseUrl: string, cookie: string): Promise<Delays> {
  const committedAt = new Map<number, number>();
  const push: number[] = [];
  const poll: number[] = [];
  let lastPayload: StatusDto | null = null;
  const socket = io(baseUrl, { transports: ['websocket'], extraHeaders: { origin: baseUrl, cookie } });
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  socket.on('video:status', (payload: unknown) => {
    const at = performance.now();
    const status = statusDto.parse(payload);
    lastPayload = status;
    const since = committedAt.get(status.version);
    if (since !== undefined) push.push(at - since);
  });

  const address = `${baseUrl}/api/videos/${video.id}/status`;
  let seen = video.version;
  const look = async () => {
    const answer = await fetch(address, { headers: { cookie } });
    const { version } = statusDto.parse(await answer.json());
    const at = performance.now();
    for (let known = seen + 1; known <= version; known += 1) {
      const since = committedAt.get(known);
      if (since !== undefined) poll.push(at - since);
    }
    seen = version;
  };
  const poller = setInterval(() => void look(), POLL_MS.status);
  for (let index = 1; index <= CHANGES; index += 1) {
    const version = video.version + index;
    await Video.query(services.db)
      .findById(video.id)
      .patch({ progress: index % 100, version, updatedAt: Date.now() });
    committedAt.set(version, performance.now());
    services.events.emit('video.changed', { userId: video.userId, videoId: video.id });
    await wait(GAP_MS);
  }
  await wait(POLL_MS.status);
  clearInterval(poller);
  await look();
  socket.disconnect();
  if (!lastPayload || push.length < CHANGES) throw new Error(`Only ${push.length} changes were pushed.`);
  return { push, poll, bare: await measureBare(lastPayload) };
}

/** Measures the same payload from a Socket.IO server that does nothing else. */
async function measureBare(payload: StatusDto): Promise<number[]> {
  const httpServer = createServer();
  const server = new Server(httpServer, { transports: ['websocket'], perMessageDeflate: false });
  httpServer.listen(0, '127.0.0.1');
  await once(httpServer, 'listening');
  const socket = io(addressOf(httpServer.address()), { transports: ['websocket'] });
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  const delays: number[] = [];
  for (let index = 0; index < CHANGES; index += 1) {
    const arrival = new Promise<void>((resolve) => socket.once('status', () => resolve()));
    const startedAt = performance.now();
    server.emit('status', payload);
    await arrival;
    delays.push(performance.now() - startedAt);
    await wait(20);
  }
  socket.disconnect();
  await server.close();
  return delays;
}

async function listen({ httpServer }: Services): Promise<string> {
  httpServer.listen(0, '127.0.0.1');
  await once(httpServer, 'listening');
  return addressOf(httpServer.address());
}

function addressOf(address: ReturnType<ReturnType<typeof createServer>['address']>): string {
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return `http://127.0.0.1:${address.port}`;
}

async function sessionCookie(services: Services, userId: string, keys: readonly string[]): Promise<string> {
  const sessionId = randomBytes(32).toString('base64url');
  const { passwordHash } = await User.query(services.db).findById(userId).throwIfNotFound();
  await services.sessions.open(sessionId, userId, passwordHash);
  const pair = `${sessionCookieName(false)}=${sessionId}`;
  return `${pair}; ${sessionCookieName(false)}.sig=${createCookieKeys(keys).sign(pair)}`;
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function print(engine: string, { push, poll, bare }: Delays): void {
  const [p50, p95, max] = [percentile(push, 0.5), percentile(push, 0.95), Math.max(...push)];
  const [bareP50, pollP50] = [percentile(bare, 0.5), percentile(poll, 0.5)];
  const cells = [
    engine.padEnd(10),
    p50.toFixed(1).padStart(9),
    p95.toFixed(1).padStart(6),
    max.toFixed(1).padStart(6),
    bareP50.toFixed(1).padStart(20),
    (p50 / bareP50).toFixed(1).padStart(8),
    pollP50.toFixed(0).padStart(10),
    (p50 / pollP50).toFixed(4).padStart(8),
  ];
  console.log(cells.join(' '));
}
