import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { probe } from '#server/media/probe/probe.ts';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { changeAvi, startLater } from '#server/test/avi-clips.ts';
import { makeMovingClip } from '#server/test/broken-clips.ts';
import { replaceSound } from '#server/test/broken-sound.ts';
import { makeFolder, makeTask, mustBeOk, testTools as tools } from '#server/test/media-job.ts';
import { voiceLike } from '#server/test/synthetic-sound.ts';
import { processVideo } from './process-video.ts';

const SECONDS = 6;
const RATE = 48_000;
const HEARD_HZ = 8000;
/** Samples on each side of its position in which a sound is searched. */
const REACH = HEARD_HZ / 2;

let folder: Awaited<ReturnType<typeof makeFolder>>;
let wanted: Float32Array;
const at = (name: string) => path.join(folder.path, name);
const ffmpeg = (...args: string[]) => runTool('make', tools.ffmpeg, ['-v', 'error', ...args]);

beforeAll(async () => {
  folder = await makeFolder();
  await makeMovingClip({ tools, outputPath: at('silent.mp4'), seconds: SECONDS, width: 240, height: 136 });
  const sound = { tools, inputPath: at('silent.mp4'), rateHz: RATE };
  await replaceSound({
    ...sound,
    outputPath: at('clean.mp4'),
    channels: [voiceLike(SECONDS, RATE, 5)],
  });
  wanted = await heardFromStart(at('clean.mp4'));
});
afterAll(() => folder.remove());

/** Decodes what is heard from the first picture on, with silence where nothing is. */
async function heardFromStart(file: string): Promise<Float32Array> {
  const raw = `${file}.f32`;
  const fromStart = ['-af', 'aresample=async=1:first_pts=0', '-ac', '1', '-ar', String(HEARD_HZ)];
  await ffmpeg('-i', file, '-map', '0:a', ...fromStart, '-f', 'f32le', '-y', raw);
  const bytes = await readFile(raw);
  return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
}

/** By how many samples the second sound is later, searched from a position in the first. */
function bestLag(one: Float32Array, other: Float32Array, from: number): number {
  let [best, most] = [Number.NaN, 0];
  for (let lag = -REACH; lag <= REACH; lag += 1) {
    let sum = 0;
    // Every third sample of three seconds tells as well which lag it is.
    for (let i = from; i < from + 3 * HEARD_HZ; i += 3) sum += (one[i] ?? 0) * (other[i + lag] ?? 0);
    if (sum > most) [best, most] = [lag, sum];
  }
  return best;
}

it.each([
  ['pcm_s16le', 400, 'mov'],
  ['ac3', 400, 'mov'],
  ['pcm_s16le', -200, 'mov'],
  ['pcm_s16le', 400, 'avi'],
  ['ac3', 400, 'avi'],
])(
  'moves a sound in the format %s that comes %i ms late in %s, and browsers play it',
  async (codec, ms, form) => {
    const name = `${codec}${ms}.${form}`;
    // This AVI writer cannot store a delay, but the AVI header can.
    const isAvi = form === 'avi';
    const late = ['-itsoffset', isAvi ? '0' : String(ms / 1000), '-i', at('clean.mp4')];
    const tracks = ['-map', '0:v', '-map', '1:a', '-c:v', isAvi ? 'mpeg4' : 'copy', '-c:a', codec];
    await ffmpeg('-i', at('clean.mp4'), ...late, ...tracks, '-q:v', '3', at(name));
    if (isAvi) await changeAvi(at(name), at(name), (bytes, chunks) => startLater(bytes, chunks, 1, ms));
    const task = await makeTask(at(name), at(`${name}-work`));
    const io = { signal: new AbortController().signal, send: () => undefined };
    const { report, resultPath } = mustBeOk(await processVideo(task, io));
    expect(report.defects.filter(({ kind }) => kind === 'audio_sync')).toMatchObject([
      { outcome: 'repaired' },
    ]);
    expect(report.checks.filter(({ passed }) => !passed)).toEqual([]);
    expect(report.checks.map((check) => check.name)).toContain('sound moved as planned');
    expect(report.audio.treatment).toBe('full_encode');
    const { audio } = await probe(tools, resultPath ?? '', 'mov');
    expect(audio.map((stream) => stream.codec)).toEqual(['aac']);
    const heard = await heardFromStart(resultPath ?? '');
    // AC-3 is 256 samples late because of its own overlap, which no container states.
    const from = Math.max(0, -ms / 1000) * HEARD_HZ + REACH;
    expect(Math.abs(bestLag(wanted, heard, from))).toBeLessThan(0.006 * HEARD_HZ);
  },
);
