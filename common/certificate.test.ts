import { createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  canonicalJson,
  CERTIFICATE_SCHEMA,
  certificateText,
  readCertificate,
  type CertificateBody,
} from './certificate.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');

const body: CertificateBody = {
  schema: CERTIFICATE_SCHEMA,
  issuedAt: '2026-05-04T10:00:00.000Z',
  issuer: 'http://clips.test',
  outcome: 'repaired',
  original: { sha256: 'a1'.repeat(32), sizeBytes: 1000 },
  result: { sha256: 'b2'.repeat(32), sizeBytes: 990 },
  reportSha256: 'c3'.repeat(32),
  tools: { reelmend: '1.2.3', ffmpeg: '5.1.9' },
  video: { treatment: 'smart_render', unitsKept: 230, unitsTotal: 240 },
  audio: { treatment: 'copied', unitsKept: 100, unitsTotal: 100 },
  claims: [
    {
      id: 'dropped_frames-1',
      kind: 'dropped_frames',
      startMs: 1000.5,
      endMs: 1100,
      firstFrame: 30,
      lastFrame: 30,
      count: 3,
      outcome: 'repaired',
      action: 'rebuilt_frames',
      figure: { name: 'gap', unit: 'frames', threshold: 1.5, before: 4, after: 1 },
    },
  ],
  checks: [{ name: 'decodes in silence', passed: true }],
  key: {
    algorithm: 'Ed25519',
    publicKey: publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('hex'),
  },
};
const issued = certificateText({
  ...body,
  signature: sign(null, Buffer.from(certificateText(body)), privateKey).toString('hex'),
});

/** Whether the text is a certificate signed by the key inside it. */
function holds(text: string): boolean {
  const read = readCertificate(text);
  if (!read.ok) return false;
  const x = Buffer.from(read.certificate.key.publicKey, 'hex').toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, Buffer.from(read.signedText), key, Buffer.from(read.certificate.signature, 'hex'));
}

describe('canonicalJson', () => {
  it('writes equal values identically, whatever the order and layout of their text', () => {
    const one = JSON.parse('{"b": [1, {"z": null, "a": "é\\n"}], "a": 1.50}');
    const two = JSON.parse('{"a":1.5,"b":[1,{"a":"é\\n","z":null}]}');
    expect(canonicalJson(one)).toBe(canonicalJson(two));
    expect(canonicalJson(one)).toBe('{"a":1.5,"b":[1,{"a":"é\\n","z":null}]}');
  });

  it('distinguishes other values and another order of a list', () => {
    expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
    expect(canonicalJson({ a: 1 })).not.toBe(canonicalJson({ a: '1' }));
  });
});

describe('readCertificate', () => {
  it('returns what was signed', () => {
    const read = readCertificate(issued);
    expect(read).toMatchObject({ ok: true, signedText: certificateText(body) });
    expect(holds(issued)).toBe(true);
  });

  it('fails when any single byte of the file differs', () => {
    const bytes = Buffer.from(issued);
    const survivors: number[] = [];
    for (let place = 0; place < bytes.length; place += 1) {
      // The bit for upper and lower case, and the lowest bit: neighbours in the alphabet and among digits.
      for (const flip of [0x20, 0x01]) {
        const changed = Buffer.from(bytes);
        changed.writeUInt8(changed.readUInt8(place) ^ flip, place);
        if (holds(changed.toString('utf8'))) survivors.push(place);
      }
    }
    expect(survivors).toEqual([]);
  });

  it.each([
    ['a byte at the end', `${issued} `],
    ['the line end gone', issued.trimEnd()],
    ['other line ends', issued.replaceAll('\n', '\r\n')],
    ['another layout', JSON.stringify(JSON.parse(issued))],
    ['a name of its own', issued.replace('"issuer"', '"extra": 1,\n  "issuer"')],
    ['a name twice', issued.replace('  "issuer"', '  "issuer": "http://clips.test",\n  "issuer"')],
  ])('refuses %s', (_what, text) => {
    expect(text).not.toBe(issued);
    expect(readCertificate(text).ok).toBe(false);
  });

  it('distinguishes another kind of file from a changed certificate', () => {
    expect(readCertificate('{"hello": 1}')).toEqual({ ok: false, reason: 'not_a_certificate' });
    expect(readCertificate('no JSON')).toEqual({ ok: false, reason: 'not_a_certificate' });
    expect(readCertificate(`${issued}\n`)).toEqual({ ok: false, reason: 'changed' });
  });
});
