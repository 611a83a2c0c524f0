import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { memoryEntry, tarArchive, tarSizeBytes, type TarEntry } from './tar-archive.ts';

async function bytesOf(entries: readonly TarEntry[]): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of tarArchive(entries)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe('tarArchive', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'reelmend-tar-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('is read by tar with the same names, bytes and times', async () => {
    const files = new Map([
      ['data/account.json', Buffer.from('{"a":1}')],
      ['empty.txt', Buffer.alloc(0)],
      ['exactly-a-block.bin', randomBytes(512)],
      ['large.bin', randomBytes(200_001)],
      ['originals/Ferien am Meer – Tag 1 🌊.mp4', randomBytes(700)],
      [`originals/${'very-long-'.repeat(20)}name.mov`, randomBytes(3)],
    ]);
    const modifiedMs = Date.UTC(2026, 4, 1, 12, 30);
    const entries = [...files].map(([name, bytes]) => memoryEntry(name, bytes, modifiedMs));
    const archive = await bytesOf(entries);
    expect(archive.byteLength).toBe(tarSizeBytes(entries));
    const file = path.join(folder, 'archive.tar');
    writeFileSync(file, archive);
    execFileSync('tar', ['-xf', file, '-C', folder], { env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' } });
    for (const [name, bytes] of files) {
      expect(sha256(readFileSync(path.join(folder, name)))).toBe(sha256(bytes));
    }
    const listing = execFileSync('tar', ['-tvf', file, '--utc'], { encoding: 'utf8' });
    expect(listing.match(/2026-05-01 12:30/g)).toHaveLength(files.size);
  });

  it.each([
    ['shorter', 4],
    ['longer', 2],
  ])('breaks off when a file is %s than declared', async (_word, sizeBytes) => {
    const entry = { ...memoryEntry('a.bin', 'abc', 0), sizeBytes };
    await expect(bytesOf([entry])).rejects.toThrow(`a.bin does not have ${sizeBytes} bytes`);
  });

  it('opens a file only when the archive reaches it', async () => {
    const opened: string[] = [];
    const entry = (name: string): TarEntry => {
      const made = memoryEntry(name, 'x', 0);
      return { ...made, open: () => (opened.push(name), made.open()) };
    };
    const stream = tarArchive([entry('first'), entry('second')]);
    await stream.next();
    await stream.next();
    expect(opened).toEqual(['first']);
    await stream.return(undefined);
  });
});

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
