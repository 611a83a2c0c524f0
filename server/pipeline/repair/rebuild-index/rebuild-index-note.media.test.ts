import { existsSync } from 'node:fs';
import { open, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readMovie } from '#server/media/mp4/movie.ts';
import { readSamples } from '#server/media/mp4/sample-table.ts';
import { testTools } from '#server/test/media-job.ts';
import {
  decodeHashes,
  encodeSource,
  renderLimits,
  sharedFolder,
  soundHash,
} from '#server/test/rendered-clips.ts';
import { openOriginal } from '../../open/open-original.ts';

const SOUND = 'anoisesrc=c=pink:a=0.3:seed=4';

describe('a lost index of a clip by x264, without any other clip', () => {
  const folder = sharedFolder();
  const at = (name: string) => path.join(folder.path, name);

  const make = (name: string, source: string, options: string) =>
    encodeSource(source, at(name), `-c:v libx264 -pix_fmt yuv420p ${options}`.split(' '));

  /** Opens a clip whose index and last media are lost; `change` is applied to the rest. */
  async function openCut(clip: string, share: number, change: (bytes: Buffer) => Buffer = (bytes) => bytes) {
    const inputPath = `${clip}.cut`;
    const bytes = await readFile(clip);
    const media = bytes.subarray(0, bytes.lastIndexOf('moov', undefined, 'latin1') - 4);
    const kept = media.subarray(0, Math.floor(share * media.length));
    await writeFile(inputPath, change(Buffer.from(kept)));
    const rebuiltPath = `${clip}.rebuilt`;
    const input = { inputPath, rebuiltPath, referencePaths: [], limits: renderLimits, tools: testTools };
    return { opened: await openOriginal(input), keptBytes: kept.length };
  }

  async function picturesWithin(clip: string, bytes: number): Promise<number> {
    const file = await open(clip);
    const { tracks } = await readMovie(file);
    const [video] = tracks.filter(({ handler }) => handler === 'vide');
    const samples = video ? readSamples(video.stbl) : [];
    await file.close();
    return samples.filter(({ offset, sizeBytes }) => offset + sizeBytes <= bytes).length;
  }

  const NOTHING_SHOWN = 'color=black:s=640x360:r=30:d=2';

  interface Coded {
    readonly name: string;
    readonly source: string;
    readonly options: string;
    readonly size: readonly [width: number, height: number];
    readonly rate: number;
    readonly hz: number;
    /** How much of the coded data is left: all of them behind a lost index, or less. What the note says is the same. */
    readonly shares: readonly number[];
  }

  it.each<Coded>([
    {
      name: 'baseline.mp4',
      source: `testsrc2=s=640x360:r=30:d=2[out0];${SOUND}:r=44100:d=2[out1]`,
      options: '-preset ultrafast -c:a aac -ac 1',
      size: [640, 360],
      rate: 30,
      hz: 44_100,
      shares: [0.7, 1],
    },
    {
      name: 'portrait.mp4',
      source: `mandelbrot=s=270x480:r=25,trim=duration=1.4,scale=540:960[out0];${SOUND}:r=48000:d=1.4[out1]`,
      options: '-preset veryfast -g 25 -c:a aac -ac 2',
      size: [540, 960],
      rate: 25,
      hz: 48_000,
      shares: [1],
    },
    {
      name: 'full-hd.mp4',
      source: `mandelbrot=s=960x540:r=24,trim=duration=0.8,scale=1920:1080[out0];${SOUND}:r=48000:d=0.8[out1]`,
      options: '-preset ultrafast -profile:v main -b:v 6M -c:a aac',
      size: [1920, 1080],
      rate: 24,
      hz: 48_000,
      shares: [0.7],
    },
    {
      name: 'deep-slices.mov',
      source: `testsrc2=s=854x480:r=50:d=1[out0];${SOUND}:r=44100:d=1[out1]`,
      options: '-preset faster -pix_fmt yuv420p10le -slices 3 -crf 30 -c:a aac',
      size: [854, 480],
      rate: 50,
      hz: 44_100,
      shares: [1],
    },
    {
      name: 'odd-size.mp4',
      source: `testsrc2=s=500x298:r=15:d=2,noise=alls=12:allf=t[out0];${SOUND}:r=48000:d=2[out1]`,
      options: '-preset medium -qp 20 -c:a libmp3lame',
      size: [500, 298],
      rate: 15,
      hz: 48_000,
      shares: [0.7],
    },
  ])(
    'is derived from the encoder’s note: $name',
    async ({ name, source, options, size, rate, hz, shares }) => {
      const clip = await make(name, source, options);
      const before = await decodeHashes(clip);
      for (const share of shares) {
        const { opened, keptBytes } = await openCut(clip, share);
        const there = await picturesWithin(clip, keptBytes);
        const after = await decodeHashes(opened.path);
        // The last of them cannot be shown, because they come after lost ones.
        expect(there - after.hashes.length).toBeLessThanOrEqual(0);
        expect(before.hashes.slice(0, there - 3)).toEqual(after.hashes.slice(0, there - 3));
        const [video] = opened.info.video;
        expect([video?.width, video?.height]).toEqual(size);
        expect(video?.frameRate).toBeCloseTo(rate, 3);
        expect(opened.info.audio[0]?.sampleRateHz).toBe(hz);
        if (share === 1) expect(await soundHash(opened.path)).toBe(await soundHash(clip));
        expect(opened.rebuilt?.notes.join(' ')).toMatch(/encoder \(x264\) noted.*frames per second/);
      }
    },
  );

  it('is derived from a later key picture when the first one shows nothing', async () => {
    const source = `${NOTHING_SHOWN}[a];testsrc2=s=640x360:r=30:d=1.5[b];[a][b]concat`;
    const clip = await make('fade.mp4', source, '-preset veryfast -g 30');
    const { opened } = await openCut(clip, 1);
    expect((await decodeHashes(opened.path)).hashes).toEqual((await decodeHashes(clip)).hashes);
    expect(opened.info.video[0]).toMatchObject({ width: 640, height: 360 });
    expect(opened.rebuilt?.notes.join(' ')).not.toContain('sound');
  });

  it('is derived from the pictures when the note leaves open the QP that a second pass began with', async () => {
    const clip = at('passes.mp4');
    const source = 'testsrc2=s=640x360:r=30:d=3';
    const coded = `-c:v libx264 -pix_fmt yuv420p -preset veryfast -b:v 300k -passlogfile ${at('passes')}`;
    await encodeSource(source, at('first.mp4'), `${coded} -pass 1`.split(' '));
    await encodeSource(source, clip, `${coded} -pass 2`.split(' '));
    const { opened } = await openCut(clip, 1);
    expect((await decodeHashes(opened.path)).hashes).toEqual((await decodeHashes(clip)).hashes);
  });

  it('is not invented when no QP is stated and any would decode', async () => {
    const clip = await make('unsure.mp4', 'testsrc2=s=640x360:r=30:d=2', '-preset ultrafast -b:v 900k');
    const change = (bytes: Buffer) => {
      bytes.write('rc=2pass', bytes.indexOf('rc=abr ', 0, 'latin1'), 'latin1');
      return bytes;
    };
    await expect(openCut(clip, 1, change)).rejects.toThrow(/A healthy clip from the same device/);
  });

  it('is not invented when no picture shows anything, so that many sizes fit', async () => {
    const clip = await make('nothing.mp4', 'color=black:s=1280x720:r=30:d=2', '-preset ultrafast');
    const padded = (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc(16_384, 1)]);
    await expect(openCut(clip, 1, padded)).rejects.toThrow(/A healthy clip from the same device/);
  });

  it.each([
    ['is another encoder’s', 'x264 - core', 'y264 - core'],
    ['does not fit the pictures', 'cabac=1', 'cabac=0'],
    ['names fields', 'interlaced=0', 'interlaced=1'],
  ])('is not invented when the note %s', async (_, from, to) => {
    const clip = at('noted.mp4');
    if (!existsSync(clip)) await make('noted.mp4', 'testsrc2=s=320x180:r=30:d=1.5', '-preset veryfast');
    const change = (bytes: Buffer) => {
      bytes.write(to, bytes.indexOf(from, 0, 'latin1'), 'latin1');
      return bytes;
    };
    await expect(openCut(clip, 1, change)).rejects.toThrow(/A healthy clip from the same device/);
  });
});
