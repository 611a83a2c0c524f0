import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse } from 'msw';
import { describe, expect, it, vi } from 'vitest';
import { certificatesApi } from '#common/api/certificates.ts';
import { canonicalJson, certificateText, toCertificateBody } from '#common/certificate.ts';
import { REPORT_SCHEMA, type RepairReport } from '#common/report.ts';
import { renderAt } from '../../test/render.tsx';
import { on, refusal, server } from '../../test/server.ts';
import { VerifyPage } from './verify-page.tsx';

const person = userEvent.setup({ delay: null });
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const keyHex = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('hex');
const sha256 = (data: Buffer | string) => createHash('sha256').update(data).digest('hex');

const original = Buffer.from('the bytes of the original'.repeat(100));
const mended = Buffer.from('the bytes of the mended clip'.repeat(100));
const media: RepairReport['original']['media'] = {
  container: 'mov',
  durationMs: 12_000,
  videoCodec: 'h264',
  width: 1280,
  height: 720,
  rotation: 0,
  frameCount: 360,
  frameRate: 30,
  variableFrameRate: false,
  audioCodec: null,
  sampleRateHz: null,
  channels: null,
};
const report: RepairReport = {
  schema: REPORT_SCHEMA,
  createdAt: '2026-05-04T10:00:00.000Z',
  outcome: 'repaired',
  original: { sha256: sha256(original), sizeBytes: original.length, media },
  result: { sha256: sha256(mended), sizeBytes: mended.length, media },
  tools: { reelmend: '1.0.0', ffmpeg: '5.1' },
  video: { treatment: 'smart_render', reason: null, unitsKept: 350, unitsTotal: 360 },
  audio: { treatment: 'absent', reason: null, unitsKept: null, unitsTotal: null },
  steps: [],
  defects: [
    {
      id: 'dropped_frames-1',
      kind: 'dropped_frames',
      startMs: 4000,
      endMs: 4200,
      firstFrame: 120,
      lastFrame: 125,
      count: 5,
      confidence: 0.93,
      detector: 'timestamp-gaps',
      measure: { name: 'missing pictures', unit: 'frames', threshold: 1, before: 5, after: 0 },
      action: 'rebuilt_frames',
      outcome: 'repaired',
      explanation: 'Five pictures were rebuilt from their neighbours.',
    },
  ],
  checks: [],
  captions: [],
  notes: [],
};
const body = toCertificateBody({
  report,
  reportSha256: sha256(canonicalJson(report)),
  issuedAt: new Date('2026-05-04T10:00:00Z'),
  issuer: 'http://clips.test',
  publicKey: keyHex,
});
const signature = sign(null, Buffer.from(certificateText(body)), privateKey).toString('hex');
const certificate = certificateText({ ...body, signature });

const asFile = (content: Buffer | string, name: string) =>
  new File([new Uint8Array(Buffer.from(content))], name);
const files = {
  certificate: asFile(certificate, 'certificate.json'),
  original: asFile(original, 'harbour.mp4'),
  mended: asFile(mended, 'video-1.mp4'),
  report: asFile(JSON.stringify(report, null, 3), 'report.json'),
};

async function check(...dropped: File[]) {
  server.use(
    on(certificatesApi.key, () => HttpResponse.json({ algorithm: 'Ed25519', publicKey: keyHex, pem: '' })),
  );
  renderAt('/verify', <VerifyPage />);
  await person.upload(screen.getByLabelText('Certificate, clips and report'), dropped);
}
const GENUINE = 'Genuine: certificate and clips are as they were issued.';
const NOT_GENUINE = 'Not genuine: something here was changed or does not belong together.';

describe('VerifyPage', () => {
  it('confirms certificate, clips and report, dropped in any order', async () => {
    await check(files.mended, files.report, files.original, files.certificate);
    expect(await screen.findByText(GENUINE)).toBeInTheDocument();
    expect(screen.getByText('video-1.mp4 is the mended clip, byte for byte.')).toBeInTheDocument();
    expect(screen.getByText('harbour.mp4 is the original, byte for byte.')).toBeInTheDocument();
    expect(screen.getByText('report.json is the report that was certified.')).toBeInTheDocument();
    expect(screen.getByText('It was signed with the key of this server.')).toBeInTheDocument();
    expect(screen.getByText('http://clips.test')).toBeInTheDocument();
    expect(screen.getByText(/^Dropped frames/)).toHaveTextContent('Dropped frames, 0:04.000: mended');
  });

  it('detects one changed byte in a clip', async () => {
    const changed = Buffer.from(mended);
    changed.writeUInt8(changed.readUInt8(7) ^ 1, 7);
    await check(files.certificate, files.original, asFile(changed, 'changed.mp4'));
    expect(await screen.findByText(NOT_GENUINE)).toBeInTheDocument();
    expect(screen.getByText(/^changed.mp4 is neither the original nor the mended clip/)).toBeInTheDocument();
  });

  it.each([
    ['a value', certificate.replace('"count": 5', '"count": 6'), /signature of .* does not fit/],
    ['white space', certificate.replace('": ', '":  '), /not in the form in which certificates are issued/],
    [
      'a digit of the signature',
      certificate.replace(
        signature,
        signature.replace(/^./, (c) => (c === '0' ? '1' : '0')),
      ),
      /does not fit/,
    ],
    ['a letter that ends its JSON', `${certificate}x`, /not in the form/],
    ['a byte-order mark', `\ufeff${certificate}`, /Drop the certificate:|not in the form/],
  ])('does not accept a certificate with another byte: %s', async (_what, text, reason) => {
    expect(text).not.toBe(certificate);
    await check(asFile(text, 'certificate.json'), files.original, files.mended);
    expect(await screen.findByText(reason)).toBeInTheDocument();
    await waitFor(() => expect(screen.queryByText(/^Reading/)).toBeNull());
    expect(screen.queryByText(GENUINE)).toBeNull();
  });

  it('does not accept the signature of another server as this one’s', async () => {
    const other = generateKeyPairSync('ed25519');
    const otherHex = other.publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('hex');
    const forged = { ...body, key: { ...body.key, publicKey: otherHex } };
    const theirs = sign(null, Buffer.from(certificateText(forged)), other.privateKey).toString('hex');
    await check(
      asFile(certificateText({ ...forged, signature: theirs }), 'forged.json'),
      files.original,
      files.mended,
    );
    expect(await screen.findByText(/^forged.json was not signed by this server/)).toBeInTheDocument();
    expect(screen.getByText(NOT_GENUINE)).toBeInTheDocument();
  });

  it('says what is still missing and what does not belong', async () => {
    await check(files.certificate, asFile(JSON.stringify({ ...report, notes: ['more'] }), 'other.json'));
    expect(await screen.findByText('Drop the original to compare it.')).toBeInTheDocument();
    expect(await screen.findByText('other.json is not the report that was certified.')).toBeInTheDocument();
    await person.click(screen.getByRole('button', { name: 'Start again' }));
    expect(screen.queryByRole('region', { name: 'Result' })).toBeNull();
    await person.upload(screen.getByLabelText('Certificate, clips and report'), files.original);
    expect(await screen.findByText(/^Drop the certificate:/)).toBeInTheDocument();
  });

  it('says which files do not belong to a repair, without doubting the rest', async () => {
    const key = asFile(JSON.stringify({ algorithm: 'Ed25519', publicKey: keyHex }), 'key.json');
    await check(files.certificate, files.original, files.mended, key);
    expect(
      await screen.findByText(/^key.json is neither a certificate nor a repair report/),
    ).toBeInTheDocument();
    expect(screen.getByText(GENUINE)).toBeInTheDocument();
  });

  it('treats a report that lost a part as a changed one', async () => {
    const { outcome, ...rest } = report;
    await check(files.certificate, files.original, files.mended, asFile(JSON.stringify(rest), 'less.json'));
    expect(await screen.findByText('less.json is not the report that was certified.')).toBeInTheDocument();
    expect(screen.getByText(NOT_GENUINE), outcome).toBeInTheDocument();
  });

  it('says that a document was truncated, and what needs its certificate', async () => {
    await check(files.mended, asFile(certificate.slice(0, 200), 'cut.json'));
    expect(await screen.findByText(/^cut.json could not be read: it was cut short/)).toBeInTheDocument();
    expect(screen.getByText('video-1.mp4 is here and waits for its certificate.')).toBeInTheDocument();
  });

  it('is never sure without the key of the server', async () => {
    server.use(on(certificatesApi.key, () => refusal('unavailable')));
    renderAt('/verify', <VerifyPage />);
    const picked = [files.certificate, files.original, files.mended];
    await person.upload(screen.getByLabelText('Certificate, clips and report'), picked);
    expect(
      await screen.findByText(/could not be fetched, so it is not known who signed/),
    ).toBeInTheDocument();
    await screen.findByText('video-1.mp4 is the mended clip, byte for byte.');
    expect(screen.queryByText(GENUINE)).toBeNull();
  });

  it('says so in a browser without support for these signatures, and names the command', async () => {
    vi.spyOn(crypto.subtle, 'importKey').mockRejectedValue(new DOMException('no', 'NotSupportedError'));
    await check(files.certificate, files.original, files.mended);
    expect(await screen.findByText(/^This browser cannot check signatures \(Ed25519\)/)).toBeInTheDocument();
    expect(screen.getByText(/^npm run verify -- original.mp4/)).toBeInTheDocument();
    await screen.findByText('video-1.mp4 is the mended clip, byte for byte.');
    expect(screen.queryByText(GENUINE)).toBeNull();
    vi.restoreAllMocks();
  });
});
