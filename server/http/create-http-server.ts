import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

interface HandlesRequests {
  callback(): (request: IncomingMessage, response: ServerResponse) => unknown;
}

/** The http server of the application with its waits; not listening yet. */
export function createHttpServer(app: HandlesRequests): Server {
  const handle = app.callback();
  const options = { connectionsCheckingInterval: 5000 };
  const server = createServer(options, (request, response) => void handle(request, response));
  server.headersTimeout = 20_000;
  // A 2 GB upload on a slow line takes hours: what ends a connection is silence, not its age.
  server.requestTimeout = 0;
  server.timeout = 75_000;
  // Longer than a router keeps an idle connection, else it would send a request into one we just closed.
  server.keepAliveTimeout = 65_000;
  return server;
}
