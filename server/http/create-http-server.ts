import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

interface HandlesRequests {
  callback(): (request: IncomingMessage, response: ServerResponse) => unknown;
}

/** The HTTP server of the application with its timeouts; not listening yet. */
export function createHttpServer(app: HandlesRequests): Server {
  const handle = app.callback();
  const options = { connectionsCheckingInterval: 5000 };
  const server = createServer(options, (request, response) => void handle(request, response));
  server.headersTimeout = 20_000;
  // A 2 GB upload on a slow line takes hours, so a connection is ended for silence and not for its age.
  server.requestTimeout = 0;
  server.timeout = 75_000;
  // Longer than a router keeps an idle connection, which would otherwise send a request into one that we just closed.
  server.keepAliveTimeout = 65_000;
  return server;
}
