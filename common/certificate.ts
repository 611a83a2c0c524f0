import { z } from 'zod';
import {
  defectKind,
  defectOutcome,
  measure,
  repairAction,
  streamTreatment,
  type RepairReport,
} from './report.ts';
import { SHA256_HEX } from './sha256.ts';

/**
 * The repair certificate: what was done to a clip, signed by the server that did it. With the certificate, the two
 * files and the server's public key anybody can check, without the server, that none of them was changed.
 *
 * The signature is Ed25519 (RFC 8032) over the UTF-8 bytes of `certificateText` of everything except the signature. A
 * certificate is valid only in exactly that form, so that no byte of the file can change unnoticed.
 */
export const CERTIFICATE_SCHEMA = 'reelmend.certificate/1';

/** Lower-case hexadecimal, because base64 writes some values in more than one way. */
const hexOf = (bytes: number) => z.string().regex(new RegExp(`^[0-9a-f]{${bytes * 2}}$`));
export const sha256Hex = z.string().regex(SHA256_HEX);

/** Raw Ed25519 public key of 32 bytes. */
export const publicKeyHex = hexOf(32);

const certifiedFile = z.strictObject({ sha256: sha256Hex, sizeBytes: z.number().int().nonnegative() });

/** The certified part of one defect in the report: where it was and what became of it. */
export const certifiedClaim = z.strictObject({
  id: z.string(),
  kind: defectKind,
  startMs: z.number(),
  endMs: z.number(),
  firstFrame: z.number().int().nullable(),
  lastFrame: z.number().int().nullable(),
  count: z.number().int(),
  outcome: defectOutcome,
  action: repairAction,
  figure: z.strictObject(measure.shape),
});

const certifiedStream = z.strictObject(streamTreatment.omit({ reason: true }).shape);

export const certificateBody = z.strictObject({
  schema: z.literal(CERTIFICATE_SCHEMA),
  /** Time of the signature, ISO 8601 in UTC. */
  issuedAt: z.iso.datetime(),
  /** Address of the server that signed; its public key is at `/api/certificate-key` there. */
  issuer: z.string(),
  outcome: z.enum(['unchanged', 'repaired']),
  original: certifiedFile,
  result: certifiedFile,
  /** SHA-256 of `canonicalJson` of the repair report, independent of the file's layout. */
  reportSha256: sha256Hex,
  tools: z.strictObject({ reelmend: z.string(), ffmpeg: z.string() }),
  video: certifiedStream,
  audio: certifiedStream,
  claims: z.array(certifiedClaim),
  checks: z.array(z.strictObject({ name: z.string(), passed: z.boolean() })),
  key: z.strictObject({ algorithm: z.literal('Ed25519'), publicKey: publicKeyHex }),
});
export type CertificateBody = z.infer<typeof certificateBody>;

export const certificate = certificateBody.extend({ signature: hexOf(64) });
export type Certificate = z.infer<typeof certificate>;

/** The answer of the server's key address. */
export const certificateKey = z.object({
  algorithm: z.literal('Ed25519'),
  /** Raw key, as in each certificate. */
  publicKey: publicKeyHex,
  /** The same key for other tools (SubjectPublicKeyInfo). */
  pem: z.string(),
});
export type CertificateKey = z.infer<typeof certificateKey>;

/**
 * Builds the part of a certificate that is signed, from a report.
 * @param reportSha256 SHA-256 of `canonicalJson(report)`
 */
export function toCertificateBody(input: {
  readonly report: RepairReport;
  readonly reportSha256: string;
  readonly issuedAt: Date;
  readonly issuer: string;
  readonly publicKey: string;
}): CertificateBody {
  const { report } = input;
  const file = ({ sha256, sizeBytes }: RepairReport['result']) => ({ sha256, sizeBytes });
  const stream = ({ treatment, unitsKept, unitsTotal }: RepairReport['video']) => {
    return { treatment, unitsKept, unitsTotal };
  };
  return {
    schema: CERTIFICATE_SCHEMA,
    issuedAt: input.issuedAt.toISOString(),
    issuer: input.issuer,
    outcome: report.outcome,
    original: file(report.original),
    result: file(report.result),
    reportSha256: input.reportSha256,
    tools: { ...report.tools },
    video: stream(report.video),
    audio: stream(report.audio),
    claims: report.defects.map((defect) => ({
      id: defect.id,
      kind: defect.kind,
      startMs: defect.startMs,
      endMs: defect.endMs,
      firstFrame: defect.firstFrame,
      lastFrame: defect.lastFrame,
      count: defect.count,
      outcome: defect.outcome,
      action: defect.action,
      figure: { ...defect.measure },
    })),
    checks: report.checks.map(({ name, passed }) => ({ name, passed })),
    key: { algorithm: 'Ed25519', publicKey: input.publicKey },
  };
}

/** A JSON value as text: names ordered by code units, no white space (the form of RFC 8785). */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sortNames(value));
}

/** The only valid form of a certificate or of its signed part: ordered names, two spaces of indentation, a line end. */
export function certificateText(value: Certificate | CertificateBody): string {
  return `${JSON.stringify(sortNames(value), null, 2)}\n`;
}

function sortNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortNames);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, part]) => [name, sortNames(part)]));
}

export type ReadCertificate =
  | { readonly ok: true; readonly certificate: Certificate; readonly signedText: string }
  /** `changed`: the content is that of a certificate, but not in the form in which it was issued. */
  | { readonly ok: false; readonly reason: 'not_a_certificate' | 'changed' };

/** Parses a certificate's file and returns the text that its signature must match. Does not check the signature. */
export function readCertificate(text: string): ReadCertificate {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, reason: 'not_a_certificate' };
  }
  const parsed = certificate.safeParse(value);
  if (!parsed.success) return { ok: false, reason: 'not_a_certificate' };
  if (certificateText(parsed.data) !== text) return { ok: false, reason: 'changed' };
  const { signature: _signature, ...body } = parsed.data;
  return { ok: true, certificate: parsed.data, signedText: certificateText(body) };
}
