import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openOriginal } from '#server/pipeline/open/open-original.ts';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { testTools as tools } from '#server/test/media-job.ts';
import { decodeHashes, encodeSource, renderLimits, sharedFolder } from '#server/test/rendered-clips.ts';

const FPS = 25;

describe('an index with single damaged entries', () => {
  const folder = sharedFolder();
  const at = (name: string) => path.join(folder.path, name);

  /** A clip of 49 pictures with one left out, so that its table of times has several entries, and with B pictures. */
  async function makeClip(): Promise<{ clean: string; bytes: Buffer }> {
    const clean = at('clean.mp4');
    const source = `testsrc2=s=160x96:r=${FPS}:d=2,select='not(eq(n\\,20))'`;
    const options = '-c:v libx264 -preset veryfast -bf 2 -fps_mode vfr -an';
    await encodeSource(source, clean, options.split(' '));
    return { clean, bytes: await readFile(clean) };
  }

  async function openBroken(bytes: Buffer) {
    const inputPath = at('broken.mp4');
    await writeFile(inputPath, bytes);
    const rebuiltPath = at('rebuilt.mp4');
    return openOriginal({ inputPath, rebuiltPath, referencePaths: [], limits: renderLimits, tools });
  }

  async function timesOf(file: string): Promise<number[]> {
    const args = '-v error -select_streams v:0 -show_entries packet=pts_time -of csv=p=0'.split(' ');
    const { stdout } = await runTool('times', tools.ffprobe, [...args, file]);
    return stdout.split('\n').filter(Boolean).map(Number);
  }

  async function expectAsClean(clean: string, opened: string) {
    const { hashes, warnings } = await decodeHashes(opened);
    expect(warnings).toBe('');
    expect(hashes).toEqual((await decodeHashes(clean)).hashes);
    const [before, now] = [await timesOf(clean), await timesOf(opened)];
    const largest = now.reduce(
      (most, time, place) => Math.max(most, Math.abs(time - (before[place] ?? 0))),
      0,
    );
    expect(largest).toBeLessThanOrEqual(2 / FPS);
  }

  it('with one picture longer than the clip gives that picture the time that the others leave', async () => {
    const { clean, bytes } = await makeClip();
    const table = bytes.indexOf('stts', 0, 'latin1');
    expect(bytes.readUInt32BE(table + 8)).toBeGreaterThan(1);
    // Duration in the second entry.
    bytes.writeUInt32BE(0x0040_0000, table + 12 + 8 + 4);
    const { path: opened, rebuilt } = await openBroken(bytes);
    expect(rebuilt?.notes.join(' ')).toContain('longer than the whole clip');
    await expectAsClean(clean, opened);
  });

  it('with one picture minutes later shows all pictures in the order of their data', async () => {
    const { clean, bytes } = await makeClip();
    const table = bytes.indexOf('ctts', 0, 'latin1');
    bytes.writeUInt32BE(0x0040_0000, table + 12 + 4 * 8 + 4);
    const { path: opened, rebuilt } = await openBroken(bytes);
    expect(rebuilt?.notes.join(' ')).toContain('in the order that their data tell');
    await expectAsClean(clean, opened);
  });

  it('that is unreadable because of a lost name gets its settings repaired too', async () => {
    const { clean, bytes } = await makeClip();
    bytes.write('mdhX', bytes.indexOf('mdhd', 0, 'latin1'), 'latin1');
    const settings = bytes.indexOf('avcC', 0, 'latin1') + 4;
    // A byte of the sequence parameter set, after profile and level.
    const place = settings + 8 + 5;
    bytes[place] = (bytes[place] ?? 0) ^ 0x40;
    const { path: opened, rebuilt } = await openBroken(bytes);
    expect(rebuilt?.notes.join(' ')).toMatch(/settings.*names/);
    await expectAsClean(clean, opened);
  });
});
