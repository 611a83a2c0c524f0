import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import path from 'node:path';
import { probe } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { DEFAULT_ENCODE, makeMovingClip } from '#server/test/broken-clips.ts';
import { makeFolder, testTools as tools } from '#server/test/media-job.ts';
import { hashPackets, hashPacketsByTool } from './packet-hashes.ts';

describe('hashPackets', () => {
  let folder: Awaited<ReturnType<typeof makeFolder>>;
  let plain = '';

  beforeAll(async () => {
    folder = await makeFolder();
    plain = path.join(folder.path, 'plain.mp4');
    await makeMovingClip({ tools, outputPath: plain, seconds: 2, width: 320, height: 180 });
  });
  afterAll(() => folder.remove());

  async function copy(name: string, before: string[], after: string[]): Promise<string> {
    const outputPath = path.join(folder.path, name);
    const options = ['-c', 'copy', ...after];
    await runFfmpeg(
      {
        label: 'copy',
        inputs: [{ path: plain, options: before }],
        outputs: [{ path: outputPath, options }],
        expectedDurationMs: null,
      },
      { tools },
    );
    return outputPath;
  }

  it.each([
    ['plain', [], []],
    ['cut behind a key frame', ['-ss', '0.7'], []],
    ['cut between two pictures', ['-ss', '0.715'], []],
    ['late', ['-itsoffset', '0.3'], []],
    ['fragmented', [], ['-movflags', '+frag_keyframe+empty_moov']],
  ])('lists what ffmpeg lists (%s)', async (name, before, after) => {
    const file = name === 'plain' ? plain : await copy(`${name}.mp4`, before, after);
    const input = { path: file, info: await probe(tools, file, 'mov'), tools };
    for (const stream of ['v', 'a'] as const) {
      const own = await hashPackets(input, stream);
      const theirs = await hashPacketsByTool(input, stream);
      expect(own.length).toBeGreaterThan(20);
      expect(own.map(({ hash, ptsTicks }) => ({ hash, ptsTicks }))).toEqual(
        theirs.map(({ hash, ptsTicks }) => ({ hash, ptsTicks })),
      );
    }
  });

  it('lists no pictures before the last key picture before a trimmed start, but all of them in the file', async () => {
    const file = path.join(folder.path, 'two-keys-before.mp4');
    const encode = [...DEFAULT_ENCODE, '-x264-params', 'keyint=15:scenecut=0:bframes=2'];
    await makeMovingClip({ tools, outputPath: file, seconds: 2, width: 320, height: 180, encode });
    const bytes = await readFile(file);
    // 1.21 s into the media, on the clock of its 30 pictures a second
    const start = bytes.indexOf('elst') + 16;
    bytes.writeInt32BE(Math.round(1.21 * 15360), start);
    await writeFile(file, bytes);
    const input = { path: file, info: await probe(tools, file, 'mov'), tools };
    const times = (list: readonly { readonly ptsTicks: number }[]) => list.map(({ ptsTicks }) => ptsTicks);
    expect(times(await hashPackets(input, 'v'))).toEqual(times(await hashPacketsByTool(input, 'v')));
    expect((await hashPackets(input, 'v')).length).toBeLessThan(40);
    expect((await hashPackets(input, 'v', 'file')).length).toBe(60);
  });
});
