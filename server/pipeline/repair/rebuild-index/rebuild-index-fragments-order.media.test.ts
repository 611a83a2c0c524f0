import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { DEFAULT_ENCODE, makeMovingClip } from '#server/test/broken-clips.ts';
import { decodeHashes } from '#server/test/rendered-clips.ts';
import { rebuildIndex } from './rebuild-index.ts';
import { testTools as tools } from '#server/test/media-job.ts';

let folder = '';
const at = (name: string) => path.join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'fragments-order-'));
  const encode = [...DEFAULT_ENCODE, '-g', '30', '-bf', '2', '-x264-params', 'scenecut=0'];
  await makeMovingClip({ tools, outputPath: at('whole.mp4'), seconds: 3, width: 320, height: 192, encode });
  const flags = '-c copy -movflags frag_keyframe+empty_moov+default_base_moof'.split(' ');
  await runTool('fragment', tools.ffmpeg, ['-v', 'error', '-i', at('whole.mp4'), ...flags, at('pieces.mp4')]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Flags of a track run for its fields (ISO/IEC 14496-12, 8.8.8). */
const [DATA_OFFSET, FIRST_FLAGS, COMPOSITION] = [0x1, 0x4, 0x800];
const EACH = [0x100, 0x200, 0x400];

/** Removes the composition times, as a writer does that lists only decode times. */
function withoutComposition(bytes: Buffer): Buffer {
  const changed = Buffer.from(bytes);
  for (let found = changed.indexOf('trun'); found >= 0; found = changed.indexOf('trun', found + 4)) {
    const flags = changed.readUInt32BE(found + 4) & 0xff_ff_ff;
    if ((flags & COMPOSITION) === 0) continue;
    const count = changed.readUInt32BE(found + 8);
    const before = 4 * EACH.filter((flag) => (flags & flag) !== 0).length;
    const first = found + 12 + 4 * [DATA_OFFSET, FIRST_FLAGS].filter((flag) => (flags & flag) !== 0).length;
    for (let entry = 0; entry < count; entry += 1)
      changed.writeInt32BE(0, first + entry * (before + 4) + before);
  }
  return changed;
}

async function rebuild(name: string, bytes: Buffer) {
  await writeFile(at(name), bytes);
  const outputPath = at(`mended-${name}`);
  const input = { inputPath: at(name), outputPath, referencePaths: [], tools };
  return { result: await rebuildIndex(input), outputPath };
}

describe('rebuildIndex on movies made of fragments whose times contradict the order of the pictures', () => {
  it('shows all pictures of a whole chain in their order', async () => {
    const { result, outputPath } = await rebuild(
      'turned.mp4',
      withoutComposition(await readFile(at('pieces.mp4'))),
    );
    expect(result).toMatchObject({
      rebuilt: true,
      notes: [expect.stringMatching(/listed \d+ of 90 frames/)],
    });
    expect((await decodeHashes(outputPath)).hashes).toEqual((await decodeHashes(at('whole.mp4'))).hashes);
  });

  it('also shows them in their order when the chain is broken', async () => {
    const turned = withoutComposition(await readFile(at('pieces.mp4')));
    const second = turned.indexOf('moof', turned.indexOf('moof') + 4);
    turned.write('xxxx', second, 'latin1');
    const { result, outputPath } = await rebuild('both.mp4', turned);
    expect(result).toMatchObject({ rebuilt: true });
    expect((await decodeHashes(outputPath)).hashes).toEqual((await decodeHashes(at('whole.mp4'))).hashes);
  });

  it('leaves a chain with right times alone', async () => {
    expect((await rebuild('right.mp4', await readFile(at('pieces.mp4')))).result.rebuilt).toBe(false);
  });
});
