import { stat, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { EACH_AT_ITS_TIME } from '#server/media/ffmpeg/ffmpeg-names.ts';
import { probe } from '#server/media/probe/probe.ts';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { testTools as tools } from '#server/test/media-job.ts';
import { decodeHashes, encodeSource, sharedFolder } from '#server/test/rendered-clips.ts';
import { shownTimes } from '#server/test/rendered-edits.ts';
import { codeInPieces, piecesOf, type PieceCut } from './code-in-pieces.ts';

const folder = sharedFolder();
const file = (name: string) => path.join(folder.path, name);

/** Encodes losslessly, so that every picture can be identified. */
async function code(inputPath: string, workDir: string, stopAfter = Infinity) {
  const info = await probe(tools, inputPath, 'mov');
  const stop = new AbortController();
  let pieces = 0;
  const shares: number[] = [];
  const plan = (cut: PieceCut, outputPath: string) => ({
    label: 'code',
    globalOptions: cut.globalOptions,
    inputs: [{ path: inputPath, format: 'mov', options: cut.inputOptions }],
    outputs: [
      {
        path: outputPath,
        options: [
          ...`-map 0:v:0 -vf ${cut.filter}`.split(' '),
          ...EACH_AT_ITS_TIME,
          ...'-c:v libx264 -preset veryfast -qp 0 -bf 2 -an -video_track_timescale'.split(' '),
          String(info.video[0]?.timeBase.den ?? 1),
          '-f',
          'mp4',
        ],
      },
    ],
    expectedDurationMs: null,
  });
  const clip = { inputPath, info, tools, signal: stop.signal };
  const planned = await piecesOf(clip);
  if (!planned) return { made: null, pieces, shares };
  const made = await codeInPieces({
    ...clip,
    pieces: planned,
    workDir,
    plan,
    onProgress: (share) => shares.push(share),
    onPiece() {
      pieces += 1;
      if (pieces >= stopAfter) stop.abort();
    },
  }).catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
    return 'stopped';
  });
  return { made, pieces, shares };
}

/** Long enough for three pieces. */
const PICTURE = 'testsrc2=s=160x90:r=10:d=16';
const X264 = '-c:v libx264 -preset veryfast -pix_fmt yuv420p -g 10 -bf 3';

describe('codeInPieces', () => {
  it.each([
    ['closed', `${X264}`],
    ['open', `${X264} -x264-params open-gop=1`],
    ['late', `${X264} -output_ts_offset 0.7`],
    ['deep', '-c:v libx265 -preset ultrafast -x265-params log-level=none:keyint=10 -tag:v hvc1'],
  ])(
    'gives every picture of a clip (%s) at its time, as it was',
    async (name, options) => {
      const clip = await encodeSource(PICTURE, file(`${name}.mp4`), options.split(' '));
      const { made, pieces, shares } = await code(clip, folder.path);
      expect(pieces).toBeGreaterThan(2);
      expect(await shownTimes(made ?? '')).toEqual(await shownTimes(clip));
      const [before, after] = [await decodeHashes(clip), await decodeHashes(made ?? '')];
      expect(after).toEqual(before);
      expect(shares).toEqual(shares.toSorted((a, b) => a - b));
      expect(shares.at(-1)).toBe(1);
    },
    60_000,
  );

  it('continues after the pieces that are finished and intact, with the same result', async () => {
    const clip = await encodeSource(PICTURE, file('stopped.mp4'), X264.split(' '));
    const whole = await code(clip, folder.path);
    const again = await code(clip, folder.path);
    expect(again).toMatchObject({ made: whole.made, pieces: 0 });

    const workDir = file('work');
    expect(await code(clip, workDir, 2)).toMatchObject({ made: 'stopped', pieces: 2 });
    const { stdout } = await runTool('list', 'ls', [workDir]);
    const kept = path.join(workDir, stdout.trim());
    const first = path.join(kept, 'piece-0.mp4');
    const { mtimeMs } = await stat(first);
    // Half a file, as a killed run leaves it, and one that the disk has truncated.
    await writeFile(path.join(kept, 'piece-2.mp4'), 'half');
    await truncate(path.join(kept, 'piece-1.mp4'), 100);
    const rest = await code(clip, workDir);
    expect(rest.pieces).toBe(whole.pieces - 1);
    expect((await stat(first)).mtimeMs).toBe(mtimeMs);
    expect(await decodeHashes(rest.made ?? '')).toEqual(await decodeHashes(whole.made ?? ''));
  }, 60_000);

  it('encodes a short clip in one piece, and none if its file does not state its times', async () => {
    const clip = await encodeSource('testsrc2=s=160x90:r=25:d=3', file('short.mp4'), X264.split(' '));
    const short = await code(clip, folder.path);
    expect(short.pieces).toBe(1);
    expect(await shownTimes(short.made ?? '')).toEqual(await shownTimes(clip));
    const hidden = file('hidden.mp4');
    const cut = `-v error -ss 0.5 -i ${clip} -c copy ${hidden}`.split(' ');
    await runTool('hide pictures behind an edit list', tools.ffmpeg, cut);
    expect(await code(hidden, folder.path)).toEqual({ made: null, pieces: 0, shares: [] });
  });
});
