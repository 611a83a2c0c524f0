const SAMPLE_BYTES = 1024 ** 2;

/**
 * SHA-256 (hex) over the decimal size, the first and the last MiB of a file. The same file picked again, on any device,
 * gives the same value, so that the server finds its unfinished upload (N4).
 * @returns undefined when the page has no cryptography (plain http on a network address).
 * @throws DOMException when the file cannot be read any more.
 */
export async function fingerprintOf(file: Blob): Promise<string | undefined> {
  if (!hasDigest()) return undefined;
  const first = file.slice(0, SAMPLE_BYTES);
  const last = file.slice(Math.max(0, file.size - SAMPLE_BYTES));
  const sample = await new Blob([String(file.size), first, last]).arrayBuffer();
  return hex(await crypto.subtle.digest('SHA-256', new Uint8Array(sample)));
}

/** `Upload-Checksum` value of one chunk (tus checksum extension); undefined as above. */
export async function checksumHeader(chunk: Blob): Promise<string | undefined> {
  if (!hasDigest()) return undefined;
  const digest = await crypto.subtle.digest('SHA-256', new Uint8Array(await chunk.arrayBuffer()));
  return `sha256 ${btoa(String.fromCharCode(...new Uint8Array(digest)))}`;
}

function hasDigest(): boolean {
  return globalThis.isSecureContext !== false && 'crypto' in globalThis && 'subtle' in globalThis.crypto;
}

function hex(digest: ArrayBuffer): string {
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
