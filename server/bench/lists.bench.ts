import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import { User } from '#db/models/user.ts';
import { cursorAfter } from '#common/api/paging.ts';
import { Video } from '#db/models/video.ts';
import type { Services } from '#server/compose.ts';
import { createCookieKeys } from '#server/http/cookie-keys.ts';
import { sessionCookieName } from '#server/http/session.ts';
import { createUser } from '#server/test/factories.ts';
import { startPostgres } from '#server/test/postgres.ts';
import { startBenchServices } from './bench-services.ts';
import { seedIdeas, seedVideos } from './seed-lists.ts';

/** A list call may take at most this long on the server. */
const LIMIT_MS = 50;
const VIDEOS = 5000;
const IDEAS = 10_000;
const PEOPLE = 40;
const PAGE = 50;
const WARM_UPS = 3;
const RUNS = 25;
/** A whole list takes as long as many pages, so fewer runs do. */
const RUNS_OF_WHOLE_LISTS = 5;

/** First pages of a searched, filtered or sorted library: name, query, SQL condition and order. */
const SEARCHES = [
  ['searched', 'search=take%204', "name_lower like '%take 4%'", 'created_at desc, v.id'],
  ['by defect', 'defect=windNoise', "defect_kinds like '% windNoise %'", 'created_at desc, v.id'],
  ['failed', 'status=failed', "status = 'failed'", 'created_at desc, v.id'],
  ['by name', 'sort=name', 'true', 'name_key, v.id'],
  ['largest', 'sort=size', 'true', 'file_size desc, v.id'],
] as const;

interface Call {
  readonly name: string;
  readonly address: string;
  /** SQL that reads the same rows directly from the database. */
  readonly sql: string;
  readonly values: readonly (string | number)[];
  /** Whether the limit applies: whole lists of this size are measured but not limited. */
  readonly limited: boolean;
}

/**
 * Fills a database with 5 000 videos of one account and 10 000 ideas, and calls the lists of the real server. For each
 * engine, prints the time from request to finished answer as ratios to the bare SQL query of the same rows and to the
 * limit of 50 ms. Exits with code 1 when the median of a limited call exceeds it; the 95th percentile shows how busy
 * the machine was otherwise.
 */
export async function run(): Promise<void> {
  const late = await measureEngine('SQLite', null);
  const postgres = await startPostgres();
  if (postgres) {
    late.push(...(await measureEngine('Postgres', postgres.url)));
    await postgres.stop();
  }
  if (late.length === 0) return;
  console.error(`over ${LIMIT_MS} ms: ${late.join(', ')}`);
  process.exitCode = 1;
}

/** @returns names of the limited calls that were too slow */
async function measureEngine(engine: string, databaseUrl: string | null): Promise<string[]> {
  const { services, config, dataDir } = await startBenchServices('lists', databaseUrl);
  try {
    const people: string[] = [];
    for (let index = 0; index < PEOPLE; index += 1)
      people.push((await createUser(services.db, { reputation: index * 5 })).id);
    const reader = people[0] ?? '';
    await seedVideos(services.db, reader, VIDEOS);
    await seedIdeas(services.db, people, IDEAS);
    if (databaseUrl !== null) await services.db.raw('analyze');
    const ask = await serve(services, reader, config.sessionKeys);
    console.log(`\n${engine}: ${VIDEOS} videos of one account, ${IDEAS} ideas`);
    console.log('call                          rows   kB    p50 ms  p95 ms   x SQL   of 50 ms');
    const late: string[] = [];
    for (const call of await callsFor(services, reader)) {
      const medianMs = await measure(services, call, ask);
      if (call.limited && medianMs > LIMIT_MS) late.push(`${engine} ${call.name}`);
    }
    return late;
  } finally {
    await services.sockets.close();
    services.httpServer.closeAllConnections();
    services.httpServer.close();
    await services.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

type Ask = (address: string) => Promise<{ tookMs: number; text: string }>;

/** Starts the server and opens a session. Times run from the request's arrival to the last byte of the answer. */
async function serve(
  { httpServer, sessions, db }: Services,
  userId: string,
  keys: readonly string[],
): Promise<Ask> {
  let tookMs = 0;
  httpServer.prependListener('request', (_request, response) => {
    const from = performance.now();
    response.once('finish', () => {
      tookMs = performance.now() - from;
    });
  });
  httpServer.listen(0, '127.0.0.1');
  await once(httpServer, 'listening');
  const address = httpServer.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  const sessionId = randomBytes(32).toString('base64url');
  const { passwordHash } = await User.query(db).findById(userId).throwIfNotFound();
  await sessions.open(sessionId, userId, passwordHash);
  const name = sessionCookieName(false);
  const signature = createCookieKeys(keys).sign(`${name}=${sessionId}`);
  const headers = { cookie: `${name}=${sessionId}; ${name}.sig=${signature}` };
  return async (target) => {
    const response = await fetch(`http://127.0.0.1:${address.port}${target}`, { headers });
    const text = await response.text();
    if (!response.ok) throw new Error(`${target} answered ${response.status}: ${text}`);
    return { tookMs, text };
  };
}

async function callsFor({ db }: Services, userId: string): Promise<Call[]> {
  const deep = await Video.query(db)
    .where({ userId })
    .orderBy([{ column: 'createdAt', order: 'desc' }, { column: 'id' }])
    .offset(VIDEOS - 2 * PAGE)
    .first();
  if (!deep) throw new Error('The videos are missing.');
  const cursor = encodeURIComponent(
    cursorAfter({ id: deep.id, createdAt: new Date(deep.createdAt).toISOString() }),
  );
  const videosSql =
    'select v.*, r.sha256, r.size_bytes, r.report_sha256, r.captions_sha256, r.poster_sha256 ' +
    'from videos v left join video_versions r on r.id = v.current_version_id where v.user_id = ?';
  const newest = 'order by v.created_at desc, v.id';
  const ideasSql =
    'select i.*, u.username, u.reputation, m.created_at as voted_at from ideas i ' +
    'join users u on u.id = i.user_id left join idea_votes m on m.idea_id = i.id and m.user_id = ? ' +
    'where i.hidden = false';
  const wanted = 'order by i.votes desc, i.created_at desc, i.id';
  return [
    {
      name: 'videos, first page',
      address: `/api/videos?limit=${PAGE}`,
      sql: `${videosSql} ${newest} limit ${PAGE}`,
      values: [userId],
      limited: true,
    },
    {
      name: 'videos, last page',
      address: `/api/videos?limit=${PAGE}&cursor=${cursor}`,
      sql: `${videosSql} and v.created_at < ? ${newest} limit ${PAGE}`,
      values: [userId, deep.createdAt],
      limited: true,
    },
    ...SEARCHES.map(([name, query, condition, order]) => ({
      name: `videos, ${name}`,
      address: `/api/videos?limit=${PAGE}&${query}`,
      sql: `${videosSql} and ${condition} order by v.${order} limit ${PAGE}`,
      values: [userId],
      limited: true,
    })),
    {
      name: 'stats',
      address: '/api/stats',
      sql: 'select status, count(*), sum(fixes_count) from videos where user_id = ? group by status',
      values: [userId],
      limited: true,
    },
    {
      name: 'ideas, counts',
      address: '/api/ideas/counts',
      sql: 'select status, count(*) from ideas where hidden = (1 = ?) group by status',
      values: [0],
      limited: true,
    },
    {
      name: 'ideas, similar',
      address: `/api/ideas/similar?text=${encodeURIComponent('mend the music under my cuts')}`,
      sql: "select * from ideas where lower(text) like '%mus%' order by created_at desc limit ?",
      values: [300],
      limited: true,
    },
    {
      name: 'ideas, most wanted',
      address: `/api/ideas?limit=${PAGE}`,
      sql: `${ideasSql} ${wanted} limit ${PAGE}`,
      values: [userId],
      limited: true,
    },
    {
      name: 'ideas, newest',
      address: `/api/ideas?sort=newest&limit=${PAGE}`,
      sql: `${ideasSql} order by i.created_at desc, i.id limit ${PAGE}`,
      values: [userId],
      limited: true,
    },
    {
      name: 'ideas, planned',
      address: `/api/ideas?status=planned&limit=${PAGE}`,
      sql: `${ideasSql} and i.status = ? ${wanted} limit ${PAGE}`,
      values: [userId, 'planned'],
      limited: true,
    },
    {
      name: 'ideas, mine',
      address: `/api/ideas?mine=1&limit=${PAGE}`,
      sql: `${ideasSql} and i.user_id = ? ${wanted} limit ${PAGE}`,
      values: [userId, userId],
      limited: true,
    },
    {
      name: 'ideas, last page',
      address: `/api/ideas?limit=${PAGE}&offset=${IDEAS - PAGE}`,
      sql: `${ideasSql} ${wanted} limit ${PAGE} offset ${IDEAS - PAGE}`,
      values: [userId],
      limited: true,
    },
    {
      name: 'leaderboard',
      address: '/api/users/leaderboard',
      sql: 'select id, username, reputation from users where reputation > ? order by reputation desc, created_at limit 50',
      values: [0],
      limited: true,
    },
    {
      name: 'videos, whole list',
      address: '/api/videos',
      sql: `${videosSql} ${newest}`,
      values: [userId],
      limited: false,
    },
    {
      name: 'ideas, whole list',
      address: '/api/ideas',
      sql: `${ideasSql} ${wanted}`,
      values: [userId],
      limited: false,
    },
  ];
}

/**
 * Measures one call and prints its line.
 * @returns the median, milliseconds
 */
async function measure({ db }: Services, call: Call, ask: Ask): Promise<number> {
  const [server, bare]: [number[], number[]] = [[], []];
  let text = '';
  const runs = WARM_UPS + (call.limited ? RUNS : RUNS_OF_WHOLE_LISTS);
  for (let run = 0; run < runs; run += 1) {
    // The two alternate, so that other load on the machine affects both equally.
    const answer = await ask(call.address);
    const from = performance.now();
    await db.raw(call.sql, [...call.values]);
    const bareMs = performance.now() - from;
    text = answer.text;
    if (run < WARM_UPS) continue;
    server.push(answer.tookMs);
    bare.push(bareMs);
  }
  const parsed: unknown = JSON.parse(text);
  const rows = Array.isArray(parsed) ? parsed.length : 0;
  const [p50, p95] = [percentile(server, 0.5), percentile(server, 0.95)];
  const figures = [
    String(rows).padStart(6),
    (Buffer.byteLength(text) / 1024).toFixed(0).padStart(5),
    p50.toFixed(1).padStart(9),
    p95.toFixed(1).padStart(7),
    (p50 / percentile(bare, 0.5)).toFixed(2).padStart(7),
    (p50 / LIMIT_MS).toFixed(2).padStart(9),
  ];
  console.log(call.name.padEnd(26), figures.join(' '), call.limited ? '' : '  (not limited)');
  return p50;
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
