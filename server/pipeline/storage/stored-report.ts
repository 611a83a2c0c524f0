import { type RepairReport, repairReport } from '#common/report.ts';
import type { MediaStorage } from './media-storage.ts';

/**
 * The report of a version; null where there is none, as after a return to the original.
 * @throws Error when the storage does not have it, or it is none
 */
export async function readReport(
  storage: Pick<MediaStorage, 'read'>,
  sha256: string | null,
): Promise<RepairReport | null> {
  if (sha256 === null) return null;
  return repairReport.parse(JSON.parse((await storage.read(sha256)).toString('utf8')));
}
