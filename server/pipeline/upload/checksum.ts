import { AsyncLocalStorage } from 'node:async_hooks';

/** Algorithms of the tus checksum extension that are offered. */
export const CHECKSUM_ALGORITHMS = ['sha1', 'sha256'] as const;
const DIGEST_BYTES = { sha1: 20, sha256: 32 } as const;

export interface Checksum {
  readonly algorithm: (typeof CHECKSUM_ALGORITHMS)[number];
  readonly digest: Buffer;
}

/**
 * Reads an `Upload-Checksum` header, `<algorithm> <base64 digest>` (tus 1.0, extension "Checksum").
 * @returns null when the header is absent, 'invalid' when it is malformed or names another algorithm
 */
export function parseChecksum(header: string | string[] | undefined): Checksum | null | 'invalid' {
  if (header === undefined) return null;
  if (typeof header !== 'string') return 'invalid';
  const [name, value, ...rest] = header.trim().split(/ +/);
  const algorithm = CHECKSUM_ALGORITHMS.find((known) => known === name);
  if (!algorithm || value === undefined || rest.length > 0) return 'invalid';
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(value)) return 'invalid';
  const digest = Buffer.from(value, 'base64');
  return digest.length === DIGEST_BYTES[algorithm] ? { algorithm, digest } : 'invalid';
}

/** Passes the checksum of a request to the store, whose interface has no parameter for it. */
export type ChecksumScope = AsyncLocalStorage<Checksum | null>;

export function createChecksumScope(): ChecksumScope {
  return new AsyncLocalStorage();
}
