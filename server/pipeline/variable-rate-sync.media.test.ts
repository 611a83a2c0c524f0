import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inNamesOf } from '#server/media/ffmpeg/ffmpeg-names.ts';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { corruptSamples } from '#server/test/broken-clips.ts';
import { moveSound } from '#server/test/broken-sound.ts';
import { makeFolder, makeTask, mustBeOk, testTools as tools } from '#server/test/media-job.ts';
import { processVideo } from './process-video.ts';

/** Times at start, middle and end at which the picture flashes and the sound beeps, seconds. */
const EVENTS = [0.5, 4.5, 8.5] as const;
const SECONDS = 9;
const FLASH_SECONDS = 0.2;
const RATE_HZ = 48_000;

let folder: Awaited<ReturnType<typeof makeFolder>>;
const at = (name: string) => path.join(folder.path, name);
beforeAll(async () => {
  folder = await makeFolder();
});
afterAll(() => folder.remove());

const during = (pad: number) =>
  EVENTS.map((event) => `between(t,${event - pad},${event + FLASH_SECONDS + pad})`).join('+');

/** Like a phone in poor light: the camera skips pictures now and then throughout the clip. */
async function makeVariableClip(outputPath: string): Promise<void> {
  const picture =
    `testsrc2=s=320x180:r=30:d=${SECONDS},` +
    `drawbox=t=fill:c=white:enable='${during(0)}',` +
    `select='gt(${during(0.1)},0)+not(eq(mod(n,5),2)+eq(mod(n,7),4))'[out0]`;
  const sound = `aevalsrc='0.5*sin(2*PI*1000*t)*gt(${during(0)},0)':s=${RATE_HZ}:d=${SECONDS}[out1]`;
  const code = ['-fps_mode', 'vfr', '-c:v', 'libx264', '-preset', 'veryfast', '-g', '30', '-threads', '1'];
  const args = ['-v', 'error', '-y', '-f', 'lavfi', '-i', `${picture};${sound}`, ...code];
  const all = [...args, '-pix_fmt', 'yuv420p', '-c:a', 'aac', outputPath];
  await runTool('make', tools.ffmpeg, await inNamesOf(tools, all));
}

/** Times at which the picture turns white, ms. */
async function flashesMs(file: string): Promise<number[]> {
  const args = ['-v', 'info', '-i', file, '-map', '0:v', '-fps_mode', 'passthrough', '-vf', 'showinfo'];
  const { stderr } = await runTool(
    'look',
    tools.ffmpeg,
    await inNamesOf(tools, [...args, '-f', 'null', '-']),
  );
  let wasWhite = false;
  return [...stderr.matchAll(/pts_time:([\d.]+).*? mean:\[(\d+)/g)].flatMap(([, time, mean]) => {
    const isWhite = Number(mean) > 220;
    const begins = isWhite && !wasWhite;
    wasWhite = isWhite;
    return begins ? [Number(time) * 1000] : [];
  });
}

/** Times at which the beep begins after silence, ms, on the clip's own time axis. */
async function beepsMs(file: string): Promise<number[]> {
  const pcm = at('sound.pcm');
  const toPcm = ['-af', 'aresample=async=1:first_pts=0', '-ac', '1', '-ar', String(RATE_HZ), '-f', 's16le'];
  await runTool('hear', tools.ffmpeg, ['-v', 'error', '-y', '-i', file, '-map', '0:a', ...toPcm, pcm]);
  const bytes = await readFile(pcm);
  const found: number[] = [];
  let quietSince = Number.NEGATIVE_INFINITY;
  for (let sample = 0; sample * 2 < bytes.length; sample += 1) {
    if (Math.abs(bytes.readInt16LE(sample * 2)) < 3000) continue;
    if (sample - quietSince > RATE_HZ / 4) found.push((sample * 1000) / RATE_HZ);
    quietSince = sample;
  }
  return found;
}

async function offsetsMs(file: string): Promise<number[]> {
  const flashes = await flashesMs(file);
  const beeps = await beepsMs(file);
  expect(flashes.length).toBe(EVENTS.length);
  expect(beeps.length).toBe(EVENTS.length);
  return beeps.map((beep, index) => beep - (flashes[index] ?? Number.NaN));
}

it('moves late sound of a variable-rate clip to within 20 ms at start, middle and end', async () => {
  await makeVariableClip(at('clean.mp4'));
  await corruptSamples({
    tools,
    inputPath: at('clean.mp4'),
    outputPath: at('damaged.mp4'),
    frames: [60],
    fault: 'zero',
  });
  await moveSound({ tools, inputPath: at('damaged.mp4'), outputPath: at('broken.mp4'), offsetMs: 240 });
  for (const offset of await offsetsMs(at('broken.mp4'))) expect(offset).toBeGreaterThan(200);

  const task = await makeTask(at('broken.mp4'), at('work'));
  const io = { signal: new AbortController().signal, send: () => undefined };
  const { report, resultPath } = mustBeOk(await processVideo(task, io));
  expect(report.original.media.variableFrameRate).toBe(true);
  expect(report.video.treatment).toBe('smart_render');
  for (const offset of await offsetsMs(resultPath ?? '')) expect(Math.abs(offset)).toBeLessThan(20);
});
