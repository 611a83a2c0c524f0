import { createHash, createPublicKey, verify } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { canonicalJson, certificateKey, publicKeyHex, readCertificate } from '#common/certificate.ts';
import { hashFile } from '../steps/step-store.ts';
import type { Claim } from './verify-claims.ts';

export interface CertificateInput {
  /** Text of the certificate's file. */
  readonly text: string;
  readonly originalPath: string;
  readonly repairedPath: string;
  /** The report's JSON value; null if only the certificate is available. */
  readonly report: unknown;
  /** Public key of the trusted server (64 hexadecimal digits); null if unknown. */
  readonly trustedKey: string | null;
}

/**
 * Checks a certificate against its signature, the two files, the report and the key of a trusted server. Without that
 * key, a valid signature only proves that nobody changed the certificate since somebody signed it.
 */
export async function verifyCertificate(input: CertificateInput): Promise<Claim[]> {
  const read = readCertificate(input.text);
  if (!read.ok) {
    const detail =
      read.reason === 'changed' ? 'Its bytes are not those that were issued.' : 'It is not a certificate.';
    return [{ claim: 'the certificate is whole', confirmed: false, detail }];
  }
  const { certificate, signedText } = read;
  const { publicKey } = certificate.key;
  const claims: Claim[] = [
    {
      claim: 'the signature of the certificate',
      confirmed: isSignedBy(publicKey, signedText, certificate.signature),
      detail: `Ed25519, key ${publicKey.slice(0, 16)}..., issued ${certificate.issuedAt} by ${certificate.issuer}.`,
    },
  ];
  if (input.trustedKey !== null) {
    const same = input.trustedKey === publicKey;
    const detail = same ? 'It is the key that was given.' : `The given one is ${input.trustedKey}.`;
    claims.push({ claim: 'the key of the certificate', confirmed: same, detail });
  }
  claims.push(
    await fileClaim('original', input.originalPath, certificate.original),
    await fileClaim('result', input.repairedPath, certificate.result),
  );
  if (input.report !== null) {
    const same = sha256(canonicalJson(input.report)) === certificate.reportSha256;
    const detail = same ? 'Each of its values is the signed one.' : 'Its values are not the signed ones.';
    claims.push({ claim: 'the report is the certified one', confirmed: same, detail });
  }
  return claims;
}

/**
 * Reads a raw public key from hexadecimal digits, a PEM file, or the answer of `/api/certificate-key`.
 * @returns null for anything else
 */
export function readPublicKey(text: string): string | null {
  const trimmed = text.trim();
  const hex = publicKeyHex.safeParse(trimmed.toLowerCase());
  if (hex.success) return hex.data;
  try {
    if (!trimmed.startsWith('{')) return toHex(trimmed);
    const answer = certificateKey.safeParse(JSON.parse(trimmed));
    return answer.success ? answer.data.publicKey : null;
  } catch {
    return null;
  }
}

function toHex(pem: string): string | null {
  const key = createPublicKey(pem);
  const { x } = key.export({ format: 'jwk' });
  return key.asymmetricKeyType === 'ed25519' && x ? Buffer.from(x, 'base64url').toString('hex') : null;
}

function isSignedBy(publicKey: string, text: string, signature: string): boolean {
  const x = Buffer.from(publicKey, 'hex').toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, Buffer.from(text, 'utf8'), key, Buffer.from(signature, 'hex'));
}

async function fileClaim(
  what: string,
  path: string,
  said: { readonly sha256: string; readonly sizeBytes: number },
): Promise<Claim> {
  const { size } = await stat(path);
  const actual = await hashFile(path);
  return {
    claim: `certified SHA-256 and size of the ${what}`,
    confirmed: actual === said.sha256 && size === said.sizeBytes,
    detail: `${actual.slice(0, 16)}..., ${size} bytes.`,
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
