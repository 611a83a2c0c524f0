/** A token is 32 random bytes in base64url. */
export const UPLOAD_TOKEN = /^[A-Za-z0-9_-]{43}$/;
const UPLOAD_PATH = /^\/uploads\/([A-Za-z0-9_-]{43})$/;
const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/i;

export interface RequestOrigin {
  /** `Origin` header; browsers send it with every POST. */
  readonly origin: string | undefined;
  /** `Host` header. */
  readonly host: string | undefined;
  /** `http` or `https` as far as the server can tell. */
  readonly protocol: string;
}

/**
 * The origin for the upload URL in an answer: the one that the caller used. Any fixed name would be another site for
 * people who reach the server by another of its names. `PUBLIC_URL` is used when it names the same host, and the
 * browser's `Origin` shows https behind a proxy that terminates it.
 * @returns '' when the request names no usable host; the answer is then only a path
 */
export function callerOrigin(request: RequestOrigin, publicUrl: string | null): string {
  const { host, origin } = request;
  if (host === undefined || !HOST.test(host)) return '';
  for (const known of [publicUrl, origin]) {
    const url = known ? parseUrl(known) : null;
    if (url && url.host === host.toLowerCase()) return url.origin;
  }
  return `${request.protocol === 'https' ? 'https' : 'http'}://${host.toLowerCase()}`;
}

/** The address of an upload: where its bytes are sent. */
export function uploadUrl(token: string, origin = ''): string {
  return `${origin}/uploads/${token}`;
}

/**
 * Reads the token from an address that a client sends back. The address is never fetched: only a path of our own form
 * is accepted, alone or behind one of `hosts`.
 * @param hosts `host[:port]` values that mean this server, lower case
 * @returns null for anything else: other sites, other schemes, traversal, queries
 */
export function readUploadUrl(address: string, hosts: readonly string[]): string | null {
  if (address.startsWith('/')) return UPLOAD_PATH.exec(address)?.[1] ?? null;
  const url = parseUrl(address);
  if (!url || !['http:', 'https:'].includes(url.protocol)) return null;
  if (url.username || url.password || url.search || url.hash || !hosts.includes(url.host)) return null;
  // URL() resolves "..", so the path is read as written.
  const written = address.slice(address.indexOf('/', url.protocol.length + '//'.length));
  return UPLOAD_PATH.exec(written)?.[1] ?? null;
}

function parseUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}
