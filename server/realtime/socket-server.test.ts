import { Socket as NetSocket } from 'node:net';
import { io, type Socket } from 'socket.io-client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { authApi } from '#common/api/auth.ts';
import { ideasApi } from '#common/api/ideas.ts';
import { SOCKET_PATH } from '#common/realtime.ts';
import { User } from '#db/models/user.ts';
import { startTestApp, type TestApp } from '#server/test/test-app.ts';
import type { TestClient } from '#server/test/test-client.ts';

describe('push', () => {
  let app: TestApp;
  const open: Socket[] = [];
  beforeAll(async () => {
    app = await startTestApp({ engine: 'sqlite' });
  });
  afterEach(() => {
    for (const socket of open.splice(0)) socket.disconnect();
  });
  afterAll(() => app.stop());

  function dial(headers: Record<string, string>, transports: string[] = ['websocket']): Socket {
    const socket = io(app.baseUrl, {
      path: SOCKET_PATH,
      transports,
      extraHeaders: headers,
      reconnection: false,
      forceNew: true,
    });
    open.push(socket);
    return socket;
  }
  const headersOf = (client: TestClient) => ({ origin: app.baseUrl, cookie: client.cookies() });
  /** "connected", or the reason why not. */
  const outcome = (socket: Socket) =>
    new Promise<string>((resolve) => {
      socket.once('connect', () => resolve('connected'));
      socket.once('connect_error', (error) => resolve(error.message));
    });
  async function connected(client: TestClient): Promise<Socket> {
    const socket = dial(headersOf(client));
    expect(await outcome(socket)).toBe('connected');
    return socket;
  }
  const heard = (socket: Socket, name: string) =>
    new Promise<unknown>((resolve) => socket.once(name, resolve));
  const ended = (socket: Socket) =>
    new Promise<void>((resolve) => socket.once('disconnect', () => resolve()));

  it('admits our own pages with a session', async () => {
    const { client } = await app.signIn();
    await connected(client);
  });

  it.each([
    ['another site', { origin: 'https://evil.test' }],
    ['an opaque origin', { origin: 'null' }],
    ['another site by Sec-Fetch-Site', { 'sec-fetch-site': 'cross-site' }],
  ])('refuses %s, session or not', async (_name, headers) => {
    const { client } = await app.signIn();
    expect(await outcome(dial({ ...headersOf(client), ...headers }))).not.toBe('connected');
  });

  it('admits a program, which sends no origin, with the cookie alone', async () => {
    const { client } = await app.signIn();
    expect(await outcome(dial({ cookie: client.cookies() }))).toBe('connected');
  });

  it('refuses connections without a session and with an ended one', async () => {
    expect(await outcome(dial({ origin: app.baseUrl }))).not.toBe('connected');
    const { client } = await app.signIn();
    const headers = headersOf(client);
    await client.call(authApi.logout);
    expect(await outcome(dial(headers))).not.toBe('connected');
  });

  it.each([
    ['polling alone', ['polling'], 'polling'],
    ['polling first, as clients do by default', ['polling', 'websocket'], 'websocket'],
  ])(
    'admits %s by the same rules, tells of changes and ends it with its session',
    async (_name, ways, last) => {
      const { client, user } = await app.signIn();
      expect(await outcome(dial({ origin: 'https://evil.test', cookie: client.cookies() }, ways))).not.toBe(
        'connected',
      );
      expect(await outcome(dial({ origin: app.baseUrl }, ways))).not.toBe('connected');
      const socket = dial(headersOf(client), ways);
      expect(await outcome(socket)).toBe('connected');
      await expect.poll(() => socket.io.engine.transport.name).toBe(last);
      const arrival = heard(socket, 'drafts:changed');
      app.events.emit('draft.changed', { userId: user.id, draftId: 'd1' });
      expect(await arrival).toEqual({ id: 'd1' });
      const end = ended(socket);
      await client.call(authApi.logout);
      await end;
    },
  );

  it('tells users about their own things only', async () => {
    const [mine, other] = [await app.signIn(), await app.signIn()];
    const [mySocket, otherSocket] = [await connected(mine.client), await connected(other.client)];
    const names: string[] = [];
    otherSocket.onAny((name: string) => names.push(name));
    const arrival = heard(mySocket, 'drafts:changed');
    app.events.emit('draft.changed', { userId: mine.user.id, draftId: 'd1' });
    expect(await arrival).toEqual({ id: 'd1' });
    // An event for both proves that the earlier one did not reach the other user.
    const marker = heard(otherSocket, 'leaderboard:changed');
    app.events.emit('reputation.changed', { userId: mine.user.id });
    await marker;
    expect(names).toEqual(['leaderboard:changed']);
  });

  it('disconnects a client that sends anything', async () => {
    const { client } = await app.signIn();
    for (const send of [
      (socket: Socket) => socket.emit('join', 'user:somebody'),
      (socket: Socket) => socket.emit('x', Buffer.alloc(10)),
      (socket: Socket) => socket.emit('x', 'y'.repeat(17_000)),
    ]) {
      const socket = await connected(client);
      const end = ended(socket);
      send(socket);
      await end;
    }
  });

  it('ends with the session: logout, password change elsewhere, deleted account', async () => {
    const { client, user } = await app.signIn();
    const first = await connected(client);
    const afterLogout = ended(first);
    await client.call(authApi.logout);
    await afterLogout;

    const [here, there] = [await app.signIn(user), await app.signIn(user)];
    const [stays, goes] = [await connected(here.client), await connected(there.client)];
    const afterChange = ended(goes);
    const body = { password: 'Mended-Clip-42', newPassword: 'Another-Clip-43' };
    expect((await here.client.call(authApi.changePassword, { body })).status).toBe(200);
    await afterChange;
    expect(stays.connected).toBe(true);

    const afterDeletion = ended(stays);
    await User.query(app.db).deleteById(user.id);
    app.events.emit('user.changed', { userId: user.id });
    await afterDeletion;
  });

  it('keeps the ten newest connections of a user', async () => {
    const { client } = await app.signIn();
    const sockets: Socket[] = [];
    for (let index = 0; index < 11; index += 1) sockets.push(await connected(client));
    await expect
      .poll(() => sockets.map((socket) => socket.connected))
      .toEqual([false, ...Array(10).fill(true)]);
  });

  it('disconnects a stalled reader instead of keeping its messages in memory', async () => {
    const { client, user } = await app.signIn();
    const others = app.sockets.count();
    const socket = await connected(client);
    stall(socket);
    const news = { id: 'x'.repeat(20_000) };
    let sent = 0;
    const startedAt = performance.now();
    while (app.sockets.count() > others && performance.now() - startedAt < 15_000) {
      app.sockets.toUser(user.id, 'videos:changed', news);
      sent += 1;
      if (sent % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(app.sockets.count()).toBe(others);
    // 256 waiting packets plus what the two kernels buffer; without the limit there is no end to it.
    expect(sent).toBeLessThan(5000);
  });

  it('disconnects a client that began polling and never polls again', async () => {
    const { client, user } = await app.signIn();
    const others = app.sockets.count();
    const address = `${SOCKET_PATH}/?EIO=4&transport=polling`;
    const opened = await (await client.fetch(address)).text();
    const sid = /"sid":"([^"]+)"/.exec(opened)?.[1] ?? '';
    await client.fetch(`${address}&sid=${sid}`, { method: 'POST', body: '40' });
    await expect.poll(() => app.sockets.count()).toBe(others + 1);
    for (let sent = 0; sent < 300; sent += 1) app.sockets.toUser(user.id, 'videos:changed', { id: 'x' });
    await expect.poll(() => app.sockets.count()).toBe(others);
  });

  it('shows a vote of one browser in another within a second', async () => {
    const [author, watcher, voter] = [await app.signIn(), await app.signIn(), await app.signIn()];
    const made = await author.client.call(ideasApi.create, { body: { text: 'Live votes' } });
    const id = made.body?.id ?? '';
    const socket = await connected(watcher.client);
    const arrival = heard(socket, 'ideas:changed');
    const startedAt = performance.now();
    await voter.client.call(ideasApi.vote, { params: { id } });
    expect(await arrival).toEqual({ id });
    expect(performance.now() - startedAt).toBeLessThan(1000);
  });

  it('announces its stop and admits nobody afterwards', async () => {
    const stopping = await startTestApp({ engine: 'sqlite' });
    const { client } = await stopping.signIn();
    const headers = { origin: stopping.baseUrl, cookie: client.cookies() };
    const socket = io(stopping.baseUrl, {
      transports: ['websocket'],
      extraHeaders: headers,
      reconnection: false,
    });
    open.push(socket);
    await heard(socket, 'connect');
    const goodbye = heard(socket, 'server:bye');
    stopping.sockets.bye(10_000);
    expect(await goodbye).toEqual({ waitMs: 10_000 });
    const late = io(stopping.baseUrl, {
      transports: ['websocket'],
      extraHeaders: headers,
      reconnection: false,
      forceNew: true,
    });
    open.push(late);
    expect(await outcome(late)).not.toBe('connected');
    await stopping.stop();
  });
});

/** Stops reading from the connection, as a sleeping phone does. */
function stall(socket: Socket): void {
  const transport: unknown = Reflect.get(socket.io.engine, 'transport');
  const line: unknown = isObject(transport) ? Reflect.get(transport, 'ws') : null;
  const tcp: unknown = isObject(line) ? Reflect.get(line, '_socket') : null;
  if (!(tcp instanceof NetSocket)) throw new Error('The line of the client was not found.');
  tcp.pause();
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
