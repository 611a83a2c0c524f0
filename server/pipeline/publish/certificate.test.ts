import { createPrivateKey, randomBytes } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { certificatesApi } from '#common/api/certificates.ts';
import { readCertificate } from '#common/certificate.ts';
import { repairReport } from '#common/report.ts';
import { CertificateRow } from '#db/models/certificate.ts';
import { VideoVersion } from '#db/models/video-version.ts';
import { Video } from '#db/models/video.ts';
import { startClipServer, type ClipServer, type TestUser } from '#server/test/clip-server.ts';
import { fakeResult } from '#server/test/fake-result.ts';
import { hasEngine, ENGINES } from '#server/test/test-database.ts';
import { openSigningKey } from './signing-key.ts';
import { readPublicKey, verifyCertificate } from './verify-certificate.ts';

describe('openSigningKey', () => {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'reelmend-key-'));
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

  it('makes a key that only this user can read, and finds it again', () => {
    const first = openSigningKey(dataDir);
    expect(readdirSync(dataDir)).toEqual(['certificate-key.pem']);
    expect(statSync(path.join(dataDir, 'certificate-key.pem')).mode & 0o777).toBe(0o600);
    const again = openSigningKey(dataDir);
    expect(again.key).toEqual(first.key);
    expect(again.sign('a text')).toBe(first.sign('a text'));
  });

  it('gives a public key that other tools can read', () => {
    const { key } = openSigningKey(dataDir);
    expect(readPublicKey(key.pem)).toBe(key.publicKey);
    expect(readPublicKey(JSON.stringify(key))).toBe(key.publicKey);
    expect(readPublicKey(` ${key.publicKey.toUpperCase()}\n`)).toBe(key.publicKey);
    expect(readPublicKey('nothing of the kind')).toBeNull();
    expect(readPublicKey('{"publicKey": "00"}')).toBeNull();
  });

  it('uses a given key instead, in either form', () => {
    const pem = readFileSync(path.join(dataDir, 'certificate-key.pem'), 'utf8');
    const der = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' }).toString('base64');
    const elsewhere = path.join(dataDir, 'nowhere');
    for (const given of [pem, pem.replaceAll('\n', String.raw`\n`), der])
      expect(openSigningKey(elsewhere, given).key).toEqual(openSigningKey(dataDir).key);
    expect(() => openSigningKey(elsewhere, 'no key')).toThrow(/CERTIFICATE_KEY is no private key/);
  });

  it('does not accept another kind of file as a key', () => {
    const other = mkdtempSync(path.join(os.tmpdir(), 'reelmend-key-'));
    writeFileSync(path.join(other, 'certificate-key.pem'), 'no key');
    expect(() => openSigningKey(other)).toThrow();
    rmSync(other, { recursive: true });
  });
});

describe.each(ENGINES.filter(hasEngine))('the certificate of a video on %s', (engine) => {
  const mended = randomBytes(5000);
  const original = randomBytes(6000);
  let server: ClipServer;
  let owner: TestUser;
  let videoId: string;

  beforeAll(async () => {
    server = await startClipServer({ engine, process: (task) => fakeResult(task, mended) });
    owner = await server.newUser();
    const { uploadUrl } = await server.uploads.issue(owner, undefined, '');
    const uploadId = uploadUrl.slice(-43);
    await writeFile(server.files.path(uploadId), original);
    const upload = { uploadId, fileName: 'clip.mp4', fileSizeBytes: original.length };
    ({ videoId } = await server.complete(owner, upload));
    await vi.waitFor(async () => {
      expect(await Video.query(server.db).findById(videoId)).toMatchObject({ status: 'completed' });
    }, 45_000);
  });
  afterAll(async () => server.close());

  const get = (route: string, user: TestUser | null = owner) =>
    fetch(server.url + route, { headers: user?.headers ?? {} });
  const certificateOf = async () => (await get(`/api/videos/${videoId}/certificate`)).text();
  const reportOf = async (): Promise<unknown> => (await get(`/api/videos/${videoId}/report`)).json();
  const publicKey = async () =>
    certificatesApi.key.response.parse(await (await get('/api/certificate-key', null)).json()).publicKey;

  async function files(change: Partial<{ original: Buffer; mended: Buffer }> = {}) {
    const originalPath = path.join(server.dataDir, 'original.mp4');
    const repairedPath = path.join(server.dataDir, 'repaired.mp4');
    await writeFile(originalPath, change.original ?? original);
    await writeFile(repairedPath, change.mended ?? mended);
    return { originalPath, repairedPath };
  }
  const refuted = (claims: Awaited<ReturnType<typeof verifyCertificate>>) =>
    claims.filter(({ confirmed }) => !confirmed).map(({ claim }) => claim);

  it('is confirmed by the files, the report and the key of the server', async () => {
    const claims = await verifyCertificate({
      text: await certificateOf(),
      ...(await files()),
      report: await reportOf(),
      trustedKey: await publicKey(),
    });
    expect(claims.length).toBe(5);
    expect(refuted(claims)).toEqual([]);
  });

  it('is refuted when one byte of either file, of the report or of itself differs', async () => {
    const text = await certificateOf();
    const report = await reportOf();
    const trustedKey = await publicKey();
    const flipped = (data: Buffer, at: number) => {
      const copy = Buffer.from(data);
      copy.writeUInt8(copy.readUInt8(at) ^ 1, at);
      return copy;
    };
    const rest = { text, report, trustedKey };
    const otherResult = await verifyCertificate({
      ...rest,
      ...(await files({ mended: flipped(mended, 0) })),
    });
    expect(refuted(otherResult)).toEqual(['certified SHA-256 and size of the result']);
    const otherOriginal = { original: flipped(original, original.length - 1) };
    expect(refuted(await verifyCertificate({ ...rest, ...(await files(otherOriginal)) }))).toEqual([
      'certified SHA-256 and size of the original',
    ]);
    const paths = await files();
    const otherReport = { ...repairReport.parse(report), outcome: 'unchanged' };
    expect(refuted(await verifyCertificate({ ...rest, ...paths, report: otherReport }))).toEqual([
      'the report is the certified one',
    ]);
    const otherText = text.replace('"outcome": "repaired"', '"outcome": "unchanged"');
    expect(otherText).not.toBe(text);
    expect(refuted(await verifyCertificate({ ...rest, ...paths, text: otherText }))).toEqual([
      'the signature of the certificate',
    ]);
    const spaced = text.replace('": ', '" : ');
    expect(refuted(await verifyCertificate({ ...rest, ...paths, text: spaced }))).toEqual([
      'the certificate is whole',
    ]);
  });

  it('is not accepted as the server’s own when another key signed it', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'reelmend-key-'));
    const { key } = openSigningKey(folder);
    rmSync(folder, { recursive: true });
    const claims = await verifyCertificate({
      text: await certificateOf(),
      ...(await files()),
      report: null,
      trustedKey: key.publicKey,
    });
    expect(refuted(claims)).toEqual(['the key of the certificate']);
  });

  it('is the same bytes at every call, made with the version', async () => {
    const first = await certificateOf();
    server.clock.offsetMs += 60_000;
    expect(await certificateOf()).toBe(first);
    const video = await Video.query(server.db).findById(videoId);
    const row = await CertificateRow.query(server.db).findById(video?.currentVersionId ?? '');
    expect(row?.document).toBe(first);
    expect(row?.createdAt).toBeLessThan((video?.completedAt ?? 0) + 10_000);
    const read = readCertificate(first);
    expect(read.ok && read.certificate.issuer).toBe('http://clips.test');
  });

  it('is made once for an older version, even for parallel calls', async () => {
    await CertificateRow.query(server.db).delete();
    const texts = await Promise.all(Array.from({ length: 8 }, certificateOf));
    expect(new Set(texts).size).toBe(1);
    expect(await CertificateRow.query(server.db).resultSize()).toBe(1);
    const key = await publicKey();
    const [text = ''] = texts;
    const claims = await verifyCertificate({ text, ...(await files()), report: null, trustedKey: key });
    expect(refuted(claims)).toEqual([]);
  });

  it('is only for its owner and is sent as a file', async () => {
    const route = `/api/videos/${videoId}/certificate`;
    expect((await get(route, null)).status).toBe(401);
    expect((await get(route, await server.newUser())).status).toBe(404);
    const answer = await get(route);
    expect(answer.headers.get('content-disposition')).toBe(
      `attachment; filename="certificate-${videoId}.json"`,
    );
    expect(answer.headers.get('content-type')).toContain('application/json');
  });

  it('and the report that it is about are told of each version, which can be downloaded', async () => {
    const version = await VideoVersion.query(server.db)
      .findOne({ videoId, kind: 'repair' })
      .throwIfNotFound();
    const route = `/api/videos/${videoId}/versions/${version.id}`;
    expect(await (await get(`${route}/certificate`)).text()).toBe(await certificateOf());
    expect(await (await get(`${route}/report`)).json()).toEqual(await reportOf());
    expect(Buffer.from(await (await get(`${route}/download`)).arrayBuffer())).toEqual(mended);
    const stranger = await server.newUser();
    for (const what of ['certificate', 'report', 'download']) {
      expect((await get(`${route}/${what}`, null)).status).toBe(401);
      expect((await get(`${route}/${what}`, stranger)).status).toBe(404);
      expect((await get(`/api/videos/${videoId}/versions/another/${what}`)).status).toBe(404);
    }
    // A version with quick fixes names the report of the repair, which is not about it.
    const fixedId = 'f'.repeat(32);
    await server.db('video_versions').insert({
      id: fixedId,
      video_id: videoId,
      kind: 'fixes',
      sha256: version.reportSha256,
      size_bytes: 1,
      report_sha256: version.reportSha256,
      created_at: 1,
    });
    for (const what of ['certificate', 'report'])
      expect((await get(`/api/videos/${videoId}/versions/${fixedId}/${what}`)).status).toBe(409);
    await VideoVersion.query(server.db).deleteById(fixedId);
  });

  it('is confirmed by the command line without a media tool, and its exit code says so', async () => {
    const { originalPath, repairedPath } = await files();
    const certificatePath = path.join(server.dataDir, 'certificate.json');
    await writeFile(certificatePath, await certificateOf());
    const key = await publicKey();
    const verify = (...args: string[]) =>
      spawnSync(process.execPath, [path.join(inject('builtServer'), 'operate/verify.js'), ...args], {
        encoding: 'utf8',
        env: { PATH: '' },
      });
    const files3 = [originalPath, repairedPath, '--certificate', certificatePath, '--key', key];
    const good = verify(...files3);
    expect(good.stdout).toContain('4 of 4 claims confirmed.');
    expect(good.status).toBe(0);
    await writeFile(repairedPath, Buffer.concat([mended, Buffer.from([0])]));
    const bad = verify(...files3);
    expect(bad.stdout).toContain('NOT CONFIRMED  certified SHA-256 and size of the result');
    expect(bad.status).toBe(1);
    expect(verify(originalPath, repairedPath).status).toBe(2);
    expect(verify(originalPath, repairedPath, '--certificate', '/nowhere').status).toBe(2);
    const missing = verify('/nowhere.mp4', repairedPath, '--certificate', certificatePath);
    expect(missing.stderr).toContain('/nowhere.mp4 is not there');
    expect(missing.status).toBe(2);
  });

  it('does not exist for a version that no repair made, and is deleted with its video', async () => {
    const version = await VideoVersion.query(server.db).findOne({ videoId });
    await CertificateRow.query(server.db).delete();
    await VideoVersion.query(server.db)
      .findById(version?.id ?? '')
      .patch({ reportSha256: null });
    expect((await get(`/api/videos/${videoId}/certificate`)).status).toBe(409);
    await VideoVersion.query(server.db)
      .findById(version?.id ?? '')
      .patch({ reportSha256: version?.reportSha256 ?? null });
    await certificateOf();
    await server.videos.remove(owner, videoId);
    expect(await CertificateRow.query(server.db).resultSize()).toBe(0);
  });
});
