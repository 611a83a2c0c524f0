import type { Server as HttpServer } from 'node:http';
import { createApp, type TokenIdentifier } from './app.ts';
import type { ComposedBase } from './compose-base.ts';
import type { AppRouter } from './http/context.ts';
import { createHttpServer } from './http/create-http-server.ts';
import { identifyBySession } from './http/session.ts';
import { serveWebFiles } from './http/web-files.ts';
import { createSocketServer, type SocketServer } from './realtime/socket-server.ts';

export interface ComposeHttpDeps extends ComposedBase {
  readonly routers: readonly AppRouter[];
  readonly identifyToken: TokenIdentifier;
  /** Folder of the built pages; null when something else serves them. */
  readonly webDir: string | null;
}

/** The part of `compose()` that browsers and programs talk to: requests and push on one port. */
export async function composeHttp(
  deps: ComposeHttpDeps,
): Promise<{ httpServer: HttpServer; sockets: SocketServer }> {
  const { config, db, sessions, events, logger, webDir } = deps;
  const { publicUrl } = config;
  const { app, sessionMiddleware } = createApp({
    config,
    logger,
    db,
    sessions,
    limits: deps.rateLimits,
    routers: deps.routers,
    identifyToken: deps.identifyToken,
    ...(webDir === null ? {} : { webFiles: await serveWebFiles(webDir, publicUrl) }),
  });
  const httpServer = createHttpServer(app);
  const sockets = createSocketServer({
    httpServer,
    app,
    sessionMiddleware,
    identify: (ctx) => identifyBySession(ctx, db),
    sessions,
    events,
    logger,
    publicUrl,
  });
  return { httpServer, sockets };
}
