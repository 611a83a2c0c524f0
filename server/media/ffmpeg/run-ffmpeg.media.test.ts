import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EACH_PICTURE } from './ffmpeg-names.ts';
import { makeFolder, testTools as tools } from '#server/test/media-job.ts';
import { sumOf } from './ffmpeg-plan.ts';
import { findTools } from './find-tools.ts';
import { runFfmpeg } from './run-ffmpeg.ts';
import { runTool } from './tools.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
beforeAll(async () => {
  folder = await makeFolder();
});
afterAll(() => folder.remove());

/** Command lines of the children of this process that name a word. */
async function childrenWith(word: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '');
    const [program = ''] = line.split('\0');
    if (line.includes(word) && path.basename(program) === tools.ffmpeg) found.push(line);
  }
  return found;
}

/**
 * The binaries of the optional packages, which are taken where the system has none; null where they are not installed.
 */
const packaged = await findTools({ ffmpegPath: null, ffprobePath: null, searchPath: '' });

describe('runFfmpeg', () => {
  it.skipIf(packaged === null)('runs the packaged ffmpeg, which is years older', async () => {
    if (!packaged) throw new Error('no packages');
    const shares: (number | null)[] = [];
    await runFfmpeg(
      {
        label: 'make a clip',
        inputs: [{ path: 'testsrc2=s=64x64:r=25:d=1', lavfi: true }],
        outputs: [{ path: path.join(folder.path, 'old.mp4'), options: ['-c:v', 'libx264'] }],
        expectedDurationMs: 1000,
      },
      { tools: packaged.paths, onProgress: ({ share }) => shares.push(share) },
    );
    expect(shares.at(-1)).toBeCloseTo(1, 1);
  });

  it('leaves no child process when the input stream fails midway', async () => {
    const outputPath = path.join(folder.path, 'half-fed.mkv');
    const size = { width: 64, height: 64 };
    async function* pictures(): AsyncGenerator<Buffer> {
      yield Buffer.alloc(size.width * size.height);
      await expect.poll(() => childrenWith('half-fed.mkv')).toHaveLength(1);
      throw new Error('the source broke');
    }
    const run = runFfmpeg(
      {
        label: 'encode',
        inputs: [
          {
            path: 'pipe:0',
            format: 'rawvideo',
            options: ['-pixel_format', 'gray', '-video_size', '64x64', '-framerate', '25'],
          },
        ],
        outputs: [{ path: outputPath, options: ['-c:v', 'ffv1'] }],
        expectedDurationMs: null,
      },
      { tools, stdin: pictures() },
    );
    await expect(run).rejects.toThrow('the source broke');
    await expect.poll(() => childrenWith('half-fed.mkv')).toEqual([]);
  });

  it('returns what could be decoded from a mostly broken stream', async () => {
    const clean = path.join(folder.path, 'clean.mjpeg');
    const make = '-v error -y -f lavfi -i testsrc=size=64x64:rate=25:duration=1 -c:v mjpeg -f mjpeg'.split(
      ' ',
    );
    await runTool('make', tools.ffmpeg, [...make, clean]);
    const bytes = await readFile(clean);
    const start = Buffer.from([0xff, 0xd8]);
    const cut = bytes.indexOf(start, bytes.indexOf(start, 2) + 2);
    // Two whole pictures, then eight that are nothing but their first and last marks.
    const stumps = Buffer.concat(
      Array.from({ length: 8 }, () => Buffer.from([0xff, 0xd8, 0xff, 0xda, 0, 2, 1, 2, 3, 0xff, 0xd9])),
    );
    const broken = path.join(folder.path, 'broken.mjpeg');
    await writeFile(broken, Buffer.concat([bytes.subarray(0, cut), stumps]));
    let received = 0;
    await runFfmpeg(
      {
        label: 'decode',
        inputs: [{ path: broken, format: 'mjpeg' }],
        outputs: [{ path: 'pipe:1', options: [...EACH_PICTURE, '-f', 'rawvideo', '-pix_fmt', 'gray'] }],
        expectedDurationMs: null,
      },
      {
        tools,
        onStdout: (chunk) => {
          received += chunk.length;
        },
      },
    );
    expect(received).toBeGreaterThanOrEqual(2 * 64 * 64);
  });

  it('returns nothing when no picture is selected, and does not fail', async () => {
    let received = 0;
    await runFfmpeg(
      {
        label: 'pick none',
        inputs: [{ path: 'testsrc=size=16x16:rate=25:duration=1', lavfi: true }],
        filterComplex: "[0:v]select='0',format=gray[out]",
        outputs: [{ path: 'pipe:1', options: ['-map', '[out]', ...EACH_PICTURE, '-f', 'rawvideo'] }],
        expectedDurationMs: null,
      },
      { tools, onStdout: (chunk) => void (received += chunk.length) },
    );
    expect(received).toBe(0);
  });

  it('fails when a filter rejects the pictures, which yields nothing either', async () => {
    const clip = path.join(folder.path, 'refused.mkv');
    const source = '-v error -y -f lavfi -i testsrc=size=16x16:rate=25:duration=1 -c:v ffv1'.split(' ');
    await runTool('make', tools.ffmpeg, [...source, clip]);
    const run = runFfmpeg(
      {
        label: 'crop beyond the picture',
        inputs: [{ path: clip }],
        outputs: [{ path: 'pipe:1', options: ['-vf', 'crop=32:32', ...EACH_PICTURE, '-f', 'rawvideo'] }],
        expectedDurationMs: null,
      },
      { tools, onStdout: () => undefined },
    );
    await expect(run).rejects.toMatchObject({ code: 'tool_failed' });
  });

  it('selects hundreds of pictures by their numbers', async () => {
    const wanted = Array.from({ length: 300 }, (_, index) => index * 3);
    const chosen = sumOf(wanted.map((number) => `eq(n,${number})`));
    let received = 0;
    await runFfmpeg(
      {
        label: 'pick',
        inputs: [{ path: 'testsrc=size=16x16:rate=25', lavfi: true }],
        filterComplex: `[0:v]trim=end_frame=1000,select='${chosen}',format=gray,setpts=N/25/TB[out]`,
        outputs: [{ path: 'pipe:1', options: ['-map', '[out]', '-r', '25', '-f', 'rawvideo'] }],
        expectedDurationMs: null,
      },
      {
        tools,
        onStdout: (chunk) => {
          received += chunk.length;
        },
      },
    );
    expect(received).toBe(wanted.length * 16 * 16);
  });

  it('rejects a plan whose pipe is not its last output', async () => {
    const toPipe = { path: 'pipe:1', options: ['-f', 'rawvideo', '-frames:v', '1'] };
    const toFile = { path: path.join(folder.path, 'one.mkv'), options: ['-frames:v', '1'] };
    const run = runFfmpeg(
      {
        label: 'two outputs',
        inputs: [{ path: 'testsrc=size=16x16', lavfi: true }],
        outputs: [toPipe, toFile],
        expectedDurationMs: null,
      },
      { tools, onStdout: () => undefined },
    );
    await expect(run).rejects.toThrow('must be the last output');
  });
});
