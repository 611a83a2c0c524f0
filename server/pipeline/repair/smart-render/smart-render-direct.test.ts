import { describe, expect, it } from 'vitest';
import { H264Error } from '#server/media/h264/h264-error.ts';
import { MediaToolError } from '#server/media/ffmpeg/tools.ts';
import type { PixelSource } from '../picture-edit.ts';
import { encodeEither, planDirect } from './smart-render-direct.ts';
import type { GroupDecoder } from './smart-render-originals.ts';

const TARGET = { width: 320, height: 180, pixelFormat: 'yuv420p', frameRate: 29.97 };

/** Pictures 100 ticks apart from place 10 on. */
const decoder: GroupDecoder = {
  firstFrame: 10,
  group: (places) => (places.length > 0 ? [[...places]] : []),
  run: () => {
    throw new Error('not asked for');
  },
  part: () =>
    Promise.resolve({
      input: { path: '/work/part.mp4', format: 'mov' },
      ticksOf: (place) => (place >= 10 ? (place - 10) * 100 : undefined),
    }),
};
const original = (frame: number): PixelSource => ({ kind: 'original', frame });
const raw = (path: string, index: number): PixelSource => ({ kind: 'raw', path, index });

describe('planDirect', () => {
  it('puts new pictures from two files between originals', async () => {
    const wanted = [original(10), original(11), raw('/a', 0), raw('/a', 1), original(14), raw('/b', 0)];
    const plan = await planDirect(TARGET, decoder, wanted, 'part');
    expect(plan?.inputs.map(({ path }) => path)).toEqual(['/work/part.mp4', '/a', '/b']);
    expect(plan?.filterComplex.split(';')).toEqual([
      "[0:v:0]select='(between(pts,0,100)+between(pts,400,400))',setsar=0,settb=1/25,setpts='(N+2*gte(N,2))'[p0]",
      "[1:v:0]trim=end_frame=2,setsar=0,settb=1/25,setpts='(N+2)'[p1]",
      "[2:v:0]trim=end_frame=1,setsar=0,settb=1/25,setpts='(N+5)'[p2]",
      expect.stringMatching(
        /^\[p0\]\[p1\]\[p2\]interleave=nb_inputs=3,settb=1000\/29970,setpts=N,fps=29970\/1000:eof_action=pass\[out\]$/,
      ),
    ]);
  });

  it('decodes originals of several groups in the run that starts at the first', async () => {
    const groups = { ...decoder, group: (places: readonly number[]) => places.map((place) => [place]) };
    const plan = await planDirect(TARGET, groups, [original(11), raw('/a', 0), original(42)], 'part');
    expect(plan?.inputs.map(({ path }) => path)).toEqual(['/work/part.mp4', '/a']);
    expect(plan?.filterComplex).toContain("select='(between(pts,100,100)+between(pts,3200,3200))'");
  });

  it('reads only one file when no original is wanted', async () => {
    const plan = await planDirect(TARGET, decoder, [raw('/a', 0)], 'part');
    expect(plan?.inputs).toHaveLength(1);
    expect(plan?.filterComplex).toMatch(
      /;\[p0\]settb=1000\/29970,setpts=N,fps=29970\/1000:eof_action=pass\[out\]$/,
    );
  });

  it.each([
    ['an original is wanted twice', [original(12), original(12)]],
    ['originals are wanted out of order', [original(13), original(12)]],
    ['an original lies before the group', [original(9), original(12)]],
    ['a file is not read from its first picture on', [raw('/a', 1)]],
  ])('plans nothing when %s', async (_, wanted) => {
    expect(await planDirect(TARGET, decoder, wanted, 'part')).toBeNull();
  });
});

describe('encodeEither', () => {
  const direct = { inputs: [], filterComplex: '[out]' };
  const piped = async function* () {
    yield await Promise.resolve(Buffer.alloc(1));
  };
  const coded = (count: number) => ({
    pictures: Array.from({ length: count }, () => ({
      bytes: { file: Object.create(null), offset: 0, sizeBytes: 1 },
      sync: true,
    })),
  });

  it.each([
    ['gives too few pictures', () => coded(1)],
    ['fails', () => Promise.reject(new MediaToolError('tool_failed', 'no such filter'))],
    ['gives a stream that cannot be moved', () => Promise.reject(new H264Error('too many'))],
  ])('passes the pictures on when the run on the files %s', async (_, first) => {
    const seen: boolean[] = [];
    const result = await encodeEither(direct, piped, 2, async (pictures) => {
      seen.push('filterComplex' in pictures);
      return 'filterComplex' in pictures ? first() : coded(2);
    });
    expect(seen).toEqual([true, false]);
    expect(result.pictures).toHaveLength(2);
  });

  it('does not continue when the run is cancelled', async () => {
    const cancelled = new MediaToolError('cancelled', 'stop');
    await expect(encodeEither(direct, piped, 2, () => Promise.reject(cancelled))).rejects.toBe(cancelled);
  });
});
