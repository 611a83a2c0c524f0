import type { Certificate } from '#common/certificate.ts';
import type { CheckedFile } from '../../data/certificate-check.ts';

/** `open`: undecided, because something is missing. */
export type Verdict = 'good' | 'bad' | 'open';

/** One line of the result; `name` is the file that it is about. */
export interface Finding {
  readonly what:
    | 'signature_valid'
    | 'signature_invalid'
    | 'signature_unsupported'
    | 'certificate_changed'
    | 'certificate_missing'
    | 'key_same'
    | 'key_other'
    | 'key_unknown'
    | 'original_same'
    | 'original_missing'
    | 'result_same'
    | 'result_missing'
    | 'unchanged_same'
    | 'report_same'
    | 'report_other'
    | 'clip_other'
    | 'waiting'
    | 'other_document'
    | 'unreadable';
  readonly verdict: Verdict;
  readonly name: string | null;
}

export interface Judgement {
  readonly verdict: Verdict;
  readonly findings: readonly Finding[];
  readonly certificate: Certificate | null;
}

/**
 * Judges the dropped files together. The verdict is good only when a valid signature of this server's key covers both
 * clips; one contradiction makes it bad.
 * @param serverKey public key of this server, null while it is unknown
 */
export function judgeFiles(files: readonly CheckedFile[], serverKey: string | null): Judgement {
  const issued = files.findLast((file) => file.kind === 'certificate') ?? null;
  const findings = [
    ...files.flatMap((file) => {
      if (file.kind === 'changed_certificate') return [bad('certificate_changed', file.name)];
      if (file.kind === 'other_document') return [open('other_document', file.name)];
      return file.kind === 'unreadable' ? [bad('unreadable', file.name)] : [];
    }),
    ...(issued === null ? withoutCertificate(files) : withCertificate(issued, files, serverKey)),
  ];
  // Files that do not belong to a repair do not affect the verdict.
  const worst = (verdict: Verdict) =>
    findings.some((finding) => finding.verdict === verdict && finding.what !== 'other_document');
  return {
    verdict: worst('bad') ? 'bad' : worst('open') ? 'open' : 'good',
    findings,
    certificate: issued?.signature === 'invalid' ? null : (issued?.certificate ?? null),
  };
}

function withoutCertificate(files: readonly CheckedFile[]): Finding[] {
  const wasChanged = files.some((file) => file.kind === 'changed_certificate');
  const waiting = files.filter(({ kind }) => kind === 'clip' || kind === 'report');
  const here = waiting.map(({ name }) => open('waiting', name));
  return wasChanged ? here : [...here, open('certificate_missing')];
}

type Issued = Extract<CheckedFile, { kind: 'certificate' }>;

function withCertificate(issued: Issued, files: readonly CheckedFile[], serverKey: string | null): Finding[] {
  const { certificate, signature, name } = issued;
  if (signature === 'invalid') return [bad('signature_invalid', name)];
  const findings: Finding[] = [
    signature === 'valid' ? good('signature_valid', name) : open('signature_unsupported', name),
  ];
  if (serverKey === null) findings.push(open('key_unknown'));
  else if (serverKey === certificate.key.publicKey) findings.push(good('key_same'));
  else findings.push(bad('key_other', name));
  return [...findings, ...clipFindings(certificate, files), ...reportFindings(certificate, files)];
}

function clipFindings(certificate: Certificate, files: readonly CheckedFile[]): Finding[] {
  const clips = files.filter((file) => file.kind === 'clip');
  const { original, result } = certificate;
  const isIt = (clip: (typeof clips)[number], said: typeof original) =>
    clip.sha256 === said.sha256 && clip.sizeBytes === said.sizeBytes;
  const findIt = (said: typeof original) => clips.find((clip) => isIt(clip, said));
  const others = clips.filter((clip) => !isIt(clip, original) && !isIt(clip, result));
  const asOriginal = findIt(original);
  const asResult = findIt(result);
  const findings: Finding[] = [];
  if (original.sha256 === result.sha256) {
    findings.push(asOriginal ? good('unchanged_same', asOriginal.name) : open('original_missing'));
  } else {
    findings.push(
      asOriginal ? good('original_same', asOriginal.name) : open('original_missing'),
      asResult ? good('result_same', asResult.name) : open('result_missing'),
    );
  }
  return [...findings, ...others.map((clip) => bad('clip_other', clip.name))];
}

function reportFindings(certificate: Certificate, files: readonly CheckedFile[]): Finding[] {
  return files
    .filter((file) => file.kind === 'report')
    .map(({ sha256, name }) => {
      return sha256 === certificate.reportSha256 ? good('report_same', name) : bad('report_other', name);
    });
}

function good(what: Finding['what'], name: string | null = null): Finding {
  return { what, verdict: 'good', name };
}
function bad(what: Finding['what'], name: string | null = null): Finding {
  return { what, verdict: 'bad', name };
}
function open(what: Finding['what'], name: string | null = null): Finding {
  return { what, verdict: 'open', name };
}
