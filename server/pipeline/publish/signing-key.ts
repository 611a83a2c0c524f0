import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { CertificateKey } from '#common/certificate.ts';
import { ConfigError } from '#server/config-error.ts';
import { writeOnce } from '#server/write-once.ts';

/** The key that certificates are signed with. */
export interface SigningKey {
  /** The public half, for everybody. */
  readonly key: CertificateKey;
  /** Ed25519 signature of the text's UTF-8 bytes, lower-case hexadecimal. */
  sign(text: string): string;
}

const FILE_NAME = 'certificate-key.pem';
/** An Ed25519 public key in DER is a fixed head and the 32 bytes of the key (RFC 8410, section 4). */
const KEY_BYTES = 32;

/**
 * Opens the server's Ed25519 key: the given one, else a PKCS #8 file in the data folder that only this user can read
 * and that is made at the first start. Two processes that start together end up with the same key.
 * @param given PKCS #8 as PEM, or as the base64 of DER, which fits into one line of an environment
 * @throws ConfigError when it is not an Ed25519 key
 */
export function openSigningKey(dataDir: string, given: string | null = null): SigningKey {
  if (given !== null) return toSigningKey(readGiven(given), 'CERTIFICATE_KEY');
  const file = path.join(dataDir, FILE_NAME);
  if (!exists(file)) makeKey(file);
  return toSigningKey(createPrivateKey(readFileSync(file)), file);
}

function toSigningKey(privateKey: KeyObject, file: string): SigningKey {
  if (privateKey.asymmetricKeyType !== 'ed25519') throw new ConfigError(`${file} is not an Ed25519 key.`);
  const publicKey = createPublicKey(privateKey);
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const der = publicKey.export({ type: 'spki', format: 'der' });
  return {
    key: { algorithm: 'Ed25519', publicKey: der.subarray(-KEY_BYTES).toString('hex'), pem },
    sign: (text) => sign(null, Buffer.from(text, 'utf8'), privateKey).toString('hex'),
  };
}

function readGiven(text: string): KeyObject {
  try {
    if (text.includes('-----BEGIN')) return createPrivateKey(text.replaceAll('\\n', '\n'));
    return createPrivateKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'pkcs8' });
  } catch {
    throw new ConfigError('CERTIFICATE_KEY is no private key. Make one: openssl genpkey -algorithm ed25519');
  }
}

function makeKey(file: string): void {
  const { privateKey } = generateKeyPairSync('ed25519');
  writeOnce(file, privateKey.export({ type: 'pkcs8', format: 'pem' }));
}

function exists(file: string): boolean {
  try {
    readFileSync(file);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}
