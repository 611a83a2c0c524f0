import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import type { Transaction } from 'objection';
import {
  canonicalJson,
  certificateText,
  toCertificateBody,
  type CertificateKey,
} from '#common/certificate.ts';
import { repairReport, type RepairReport } from '#common/report.ts';
import { CertificateRow } from '#db/models/certificate.ts';
import type { VideoVersion } from '#db/models/video-version.ts';
import { AppError } from '#server/errors.ts';
import { readReport } from '#server/pipeline/storage/stored-report.ts';
import type { MediaStorage } from '#server/pipeline/storage/media-storage.ts';
import type { SigningKey } from './signing-key.ts';

export interface CertificateService {
  /**
   * Signs the report's claims and keeps the certificate with the version for good, inside the version's transaction.
   */
  issue(trx: Transaction, versionId: string, report: RepairReport): Promise<void>;
  /** The same for a version that names the report of another one: this report is kept beside the certificate. */
  issueWithReport(trx: Transaction, versionId: string, report: RepairReport): Promise<void>;
  /**
   * The certificate of a version, the same bytes at each call. A version from before certificates gets its own now.
   * @throws AppError `not_ready` when the version has no report of its own
   */
  read(version: CertifiedVersion | null): Promise<string>;
  /**
   * The report that a version's certificate is about: of what was done to make this very file.
   * @throws AppError `not_ready` when the version has none of its own
   */
  reportOf(version: CertifiedVersion): Promise<RepairReport>;
  readonly key: CertificateKey;
}

export type CertifiedVersion = Pick<VideoVersion, 'id' | 'sha256' | 'reportSha256'>;

export interface CertificateDeps {
  readonly db: Knex;
  readonly storage: Pick<MediaStorage, 'read'>;
  readonly signer: SigningKey;
  /** Address at which people reach this server. */
  readonly issuer: string;
  readonly now: () => number;
}

const NONE = 'There is no certificate for this version, because no repair made it.';

/** See `CertificateService`. */
export function createCertificateService(deps: CertificateDeps): CertificateService {
  const { db, storage, signer, issuer, now } = deps;

  function certify(report: RepairReport): string {
    const body = toCertificateBody({
      report,
      reportSha256: createHash('sha256').update(canonicalJson(report)).digest('hex'),
      issuedAt: new Date(now()),
      issuer,
      publicKey: signer.key.publicKey,
    });
    return certificateText({ ...body, signature: signer.sign(certificateText(body)) });
  }

  async function keep(
    at: Knex | Transaction,
    versionId: string,
    report: RepairReport,
    kept: string | null = null,
  ): Promise<void> {
    // If two issue at the same time, the first one counts.
    await CertificateRow.query(at)
      .insert({ versionId, document: certify(report), report: kept, createdAt: now() })
      .onConflict('versionId')
      .ignore();
  }

  async function storedReport({ sha256, reportSha256 }: CertifiedVersion): Promise<RepairReport> {
    const report = await readReport(storage, reportSha256);
    // A report about other bytes proves nothing about this version.
    if (report?.result.sha256 !== sha256) throw new AppError('not_ready', NONE);
    return report;
  }

  return {
    key: signer.key,
    issue: (trx, versionId, report) => keep(trx, versionId, report),
    issueWithReport: (trx, versionId, report) => keep(trx, versionId, report, JSON.stringify(report)),
    async read(version) {
      if (version === null) throw new AppError('not_ready');
      const kept = await CertificateRow.query(db).findById(version.id);
      if (kept) return kept.document;
      await keep(db, version.id, await storedReport(version));
      return (await CertificateRow.query(db).findById(version.id).throwIfNotFound()).document;
    },
    async reportOf(version) {
      const kept = await CertificateRow.query(db).findById(version.id).select('report');
      return kept?.report ? repairReport.parse(JSON.parse(kept.report)) : storedReport(version);
    },
  };
}
