import { createHmac, timingSafeEqual } from 'node:crypto';

/** Signs and checks cookies; the form that Koa's cookies expect of `app.keys`. */
export interface CookieKeys {
  sign(data: string): string;
  verify(data: string, digest: string): boolean;
  /** Index of the key that made this signature, -1 when none did; above 0, Koa signs anew. */
  index(data: string, digest: string): number;
}

/** HMAC-SHA256 in base64url over each key, newest first (the library's own choice would be SHA-1). */
export function createCookieKeys(keys: readonly string[]): CookieKeys {
  const first = keys[0];
  if (first === undefined) throw new Error('At least one session key is needed.');
  const signWith = (key: string, data: string) => createHmac('sha256', key).update(data).digest('base64url');
  const index = (data: string, digest: string) =>
    keys.findIndex((key) => isEqual(Buffer.from(signWith(key, data)), Buffer.from(digest)));
  return {
    sign: (data) => signWith(first, data),
    verify: (data, digest) => index(data, digest) >= 0,
    index,
  };
}

function isEqual(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
