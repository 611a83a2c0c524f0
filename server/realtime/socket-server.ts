import { ServerResponse, type IncomingMessage, type Server as HttpServer } from 'node:http';
import { Server, type Socket } from 'socket.io';
import {
  SOCKET_PATH,
  type ClientToServerEvents,
  type ServerEventName,
  type ServerToClientEvents,
} from '#common/realtime.ts';
import type { App } from '../app.ts';
import type { EventBus } from '../events.ts';
import type { AppMiddleware, Identity } from '../http/context.ts';
import { isOwnOrigin } from '../http/origin-check.ts';
import type { SessionStore } from '../http/session-store.ts';
import type { Logger } from '../logger.ts';

export interface SocketServerDeps {
  readonly httpServer: HttpServer;
  readonly app: App;
  readonly sessionMiddleware: AppMiddleware;
  /** Identifies the user of a context that passed the session middleware. */
  readonly identify: (ctx: Parameters<AppMiddleware>[0]) => Promise<Identity | null>;
  readonly sessions: SessionStore;
  readonly events: EventBus;
  readonly logger: Logger;
  readonly publicUrl: string;
}

export interface Push {
  /** Sends to all open pages of a user. `droppable`: skipped for a reader that falls behind. */
  toUser<Name extends ServerEventName>(
    userId: string,
    name: Name,
    payload: Parameters<ServerToClientEvents[Name]>[0],
    droppable?: boolean,
  ): void;
  /** Sends to everybody who is signed in and connected. */
  toAll<Name extends ServerEventName>(name: Name, payload: Parameters<ServerToClientEvents[Name]>[0]): void;
}

export interface SocketServer extends Push {
  /** Number of connected pages. */
  count(): number;
  /** Tells all pages to reconnect within a random time up to `waitMs`. */
  bye(waitMs: number): void;
  /** Ends all connections and accepts no more. */
  close(): Promise<void>;
}

const MAX_PER_USER = 10;
const RECHECK_MS = 60_000;
/**
 * Limits on packets waiting for a slow reader: above the first, droppable ones are dropped; above the second, the
 * reader is disconnected.
 */
const DROP_ABOVE = 64;
const CUT_ABOVE = 256;

type AppSocket = Socket<ClientToServerEvents, ServerToClientEvents>;

/**
 * Push by Socket.IO: by websocket, which our pages try first, or by polling, for proxies without websocket and for
 * clients that start with it. The handshake must come from our own pages and carry a live session. Only the server
 * assigns rooms, and a client that sends anything is disconnected. A connection ends with its session.
 */
export function createSocketServer(deps: SocketServerDeps): SocketServer {
  const { app, sessions, events, logger } = deps;
  const publicOrigin = new URL(deps.publicUrl).origin;
  const identities = new WeakMap<IncomingMessage, Identity>();
  const ofUser = new Map<string, Set<AppSocket>>();
  let closing = false;

  const io = new Server<ClientToServerEvents, ServerToClientEvents>(deps.httpServer, {
    path: SOCKET_PATH,
    transports: ['websocket', 'polling'],
    serveClient: false,
    maxHttpBufferSize: 16_384,
    perMessageDeflate: false,
    pingInterval: 25_000,
    pingTimeout: 20_000,
    connectTimeout: 10_000,
    allowRequest(request, answer) {
      admit(request).then(
        (admitted) => answer(null, admitted),
        (error: unknown) => {
          logger.error({ err: error }, 'a socket could not be admitted');
          answer('unavailable', false);
        },
      );
    },
  });

  async function admit(request: IncomingMessage): Promise<boolean> {
    // A handshake is a GET, which browsers send with cookies from any site; only the origin distinguishes them.
    if (closing || !isOwnOrigin(request, publicOrigin)) return false;
    const ctx = app.createContext<{ requestId: string; logger: Logger; identify: () => Promise<null> }>(
      request,
      new ServerResponse(request),
    );
    Object.assign(ctx.state, { requestId: 'socket', logger, identify: async () => null });
    let identity: Identity | null = null;
    await deps.sessionMiddleware(ctx, async () => {
      identity = await deps.identify(ctx);
      if (identity) identities.set(request, identity);
    });
    return identity !== null;
  }

  io.on('connection', (socket) => {
    const identity = identities.get(socket.request);
    if (!identity?.sessionHash) {
      socket.disconnect(true);
      return;
    }
    const userId = identity.user.id;
    void socket.join(`session:${identity.sessionHash}`);
    const own = ofUser.get(userId) ?? new Set();
    ofUser.set(userId, own);
    own.add(socket);
    const [oldest] = own;
    if (own.size > MAX_PER_USER && oldest) oldest.disconnect(true);
    socket.onAny(() => socket.disconnect(true));
    socket.on('disconnect', () => {
      own.delete(socket);
      if (own.size === 0 && ofUser.get(userId) === own) ofUser.delete(userId);
    });
    // The session may have ended between handshake and connection.
    void endDeadSessions([identity.sessionHash]);
  });

  async function endDeadSessions(hashes: Iterable<string>): Promise<void> {
    for (const hash of hashes) {
      const lives = await sessions.lives(hash).catch(() => true);
      if (!lives) io.in(`session:${hash}`).disconnectSockets(true);
    }
  }

  function hashesOf(sockets: Iterable<AppSocket>): Set<string> {
    const hashes = new Set<string>();
    for (const socket of sockets) {
      const hash = identities.get(socket.request)?.sessionHash;
      if (hash) hashes.add(hash);
    }
    return hashes;
  }

  const recheck = setInterval(() => void endDeadSessions(hashesOf(io.sockets.sockets.values())), RECHECK_MS);
  recheck.unref();
  const stops = [
    events.on('session.ended', ({ sessionHash }) => {
      io.in(`session:${sessionHash}`).disconnectSockets(true);
    }),
    events.on('user.changed', ({ userId }) => void endDeadSessions(hashesOf(ofUser.get(userId) ?? []))),
  ];

  function send<Name extends ServerEventName>(
    socket: AppSocket,
    name: Name,
    payload: Parameters<ServerToClientEvents[Name]>[0],
    droppable: boolean,
  ): void {
    const waiting = waitingPackets(socket);
    if (waiting > CUT_ABOVE) cut(socket);
    else if (!droppable || waiting <= DROP_ABOVE) emit(socket, name, payload);
  }

  return {
    toUser(userId, name, payload, droppable = false) {
      for (const socket of ofUser.get(userId) ?? []) send(socket, name, payload, droppable);
    },
    toAll(name, payload) {
      for (const socket of io.sockets.sockets.values()) send(socket, name, payload, true);
    },
    count: () => io.sockets.sockets.size,
    bye(waitMs) {
      closing = true;
      for (const socket of io.sockets.sockets.values()) emit(socket, 'server:bye', { waitMs });
    },
    async close() {
      closing = true;
      clearInterval(recheck);
      for (const stop of stops) stop();
      io.disconnectSockets(true);
      // Closes only the engine, because the HTTP server still has answers to finish.
      io.engine.close();
    },
  };
}

/**
 * An orderly close would wait behind everything unread, so the TCP connection is destroyed where it is that of the
 * handshake.
 */
function cut({ conn, request }: AppSocket): void {
  if (conn.transport.name === 'websocket' && !conn.upgraded) request.socket.destroy();
  else conn.close(true);
}

/** Number of packets that the transport has not taken yet; the library does not expose this list. */
function waitingPackets(socket: AppSocket): number {
  const buffer: unknown = Reflect.get(socket.conn, 'writeBuffer');
  return Array.isArray(buffer) ? buffer.length : 0;
}

/** The one untyped step: the callers' signatures check the map of events. */
function emit(
  socket: { emit(name: string, payload: unknown): unknown },
  name: string,
  payload: unknown,
): void {
  socket.emit(name, payload);
}
