import { useQuery } from '@tanstack/react-query';
import { certificatesApi } from '#common/api/certificates.ts';
import { canonicalJson, readCertificate, type Certificate } from '#common/certificate.ts';
import { REPORT_SCHEMA, repairReport } from '#common/report.ts';
import { callApi } from './api-client.ts';
import { queryKeyOf } from './query-client.ts';
import { createSha256 } from './sha256.ts';

/** `unsupported`: this browser has no Ed25519, or the page was loaded over plain http. */
export type SignatureState = 'valid' | 'invalid' | 'unsupported';

/** The result of examining one dropped file. */
export type CheckedFile = { readonly name: string } & (
  | { readonly kind: 'certificate'; readonly certificate: Certificate; readonly signature: SignatureState }
  /** A certificate that is not in the form in which it was issued. */
  | { readonly kind: 'changed_certificate' }
  /** `sha256` of the report's values, as certificates state it. */
  | { readonly kind: 'report'; readonly sha256: string }
  | { readonly kind: 'clip'; readonly sha256: string; readonly sizeBytes: number }
  /** A document that is neither certificate nor report, such as the public key of a server. */
  | { readonly kind: 'other_document' }
  | { readonly kind: 'unreadable' }
);

/** Documents are smaller: the report of a clip with a thousand defects has about 600 kB. */
const MAX_DOCUMENT_BYTES = 16 * 1024 ** 2;
const SLICE_BYTES = 2 * 1024 ** 2;

/**
 * Detects what a file is and hashes it, all in this browser.
 * @param onProgress share of the file that was read, 0 to 1
 */
export async function examineFile(file: File, onProgress: (share: number) => void): Promise<CheckedFile> {
  const { name } = file;
  try {
    const document = await readDocument(file);
    return document ?? { name, kind: 'clip', sha256: await sumFile(file, onProgress), sizeBytes: file.size };
  } catch {
    return { name, kind: 'unreadable' };
  }
}

/** A certificate or report; null for everything else. */
async function readDocument(file: File): Promise<CheckedFile | null> {
  const { name } = file;
  if (file.size > MAX_DOCUMENT_BYTES || (await file.slice(0, 1).text()) !== '{') return null;
  // `text()` would drop a byte-order mark and hide invalid bytes; a certificate with either is not the issued one.
  const text = decode(await file.arrayBuffer());
  if (text === null) return null;
  const read = readCertificate(text);
  if (read.ok) {
    const { certificate, signedText } = read;
    return {
      name,
      kind: 'certificate',
      certificate,
      signature: await checkSignature(certificate, signedText),
    };
  }
  if (read.reason === 'changed' || text.includes('"reelmend.certificate/')) {
    return { name, kind: 'changed_certificate' };
  }
  const value: unknown = parseJson(text);
  // A truncated document: nobody can tell which kind it was.
  if (value === undefined) return { name, kind: 'unreadable' };
  // A damaged report is a changed report, whose hash differs from the certified one.
  if (!repairReport.safeParse(value).success && !text.includes(REPORT_SCHEMA))
    return { name, kind: 'other_document' };
  const hash = createSha256();
  hash.update(new TextEncoder().encode(canonicalJson(value)));
  return { name, kind: 'report', sha256: hash.digest() };
}

function decode(bytes: ArrayBuffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Checks the signature against the key in the certificate itself. */
async function checkSignature(certificate: Certificate, signedText: string): Promise<SignatureState> {
  if (globalThis.isSecureContext === false || !('subtle' in globalThis.crypto)) return 'unsupported';
  const { subtle } = globalThis.crypto;
  const algorithm = { name: 'Ed25519' };
  let key: CryptoKey;
  try {
    key = await subtle.importKey('raw', bytesOf(certificate.key.publicKey), algorithm, false, ['verify']);
  } catch (error) {
    return error instanceof DOMException && error.name === 'DataError' ? 'invalid' : 'unsupported';
  }
  const signed = new TextEncoder().encode(signedText);
  return (await subtle.verify(algorithm, key, bytesOf(certificate.signature), signed)) ? 'valid' : 'invalid';
}

function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

async function sumFile(file: Blob, onProgress: (share: number) => void): Promise<string> {
  const hash = createSha256();
  for (let at = 0; at < file.size; at += SLICE_BYTES) {
    hash.update(new Uint8Array(await file.slice(at, at + SLICE_BYTES).arrayBuffer()));
    onProgress(Math.min(1, (at + SLICE_BYTES) / file.size));
  }
  return hash.digest();
}

/** The public key of this server; `data` is undefined while it is unknown (no connection). */
export function useServerKey() {
  return useQuery({
    queryKey: queryKeyOf(certificatesApi.key),
    queryFn: ({ signal }) => callApi(certificatesApi.key, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}
