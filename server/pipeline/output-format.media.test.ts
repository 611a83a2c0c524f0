import { open } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { scanTopLevel } from '#server/media/mp4/top-level.ts';
import { probe } from '#server/media/probe/probe.ts';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { injectTimestampGaps, makeMovingClip } from '#server/test/broken-clips.ts';
import { moveSound } from '#server/test/broken-sound.ts';
import { makeFolder, makeTask, mustBeOk, testTools as tools } from '#server/test/media-job.ts';
import { processVideo } from './process-video.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
const at = (name: string) => path.join(folder.path, name);
beforeAll(async () => {
  folder = await makeFolder();
  await makeMovingClip({ tools, outputPath: at('clean.mp4'), seconds: 3, width: 240, height: 136 });
  const from = (name: string) => ({ tools, inputPath: at('clean.mp4'), outputPath: at(name) });
  await injectTimestampGaps({ ...from('gap.mp4'), holes: [{ frame: 40, count: 3 }] });
  await moveSound({ ...from('late.mp4'), offsetMs: 240 });
  const old = ['-v', 'error', '-i', at('gap.mp4'), '-c:v', 'mpeg4', '-q:v', '2', '-c:a', 'pcm_s16le'];
  await runTool('make', tools.ffmpeg, [...old, at('old.avi')]);
  const web = [
    '-v',
    'error',
    '-i',
    at('clean.mp4'),
    '-c:v',
    'libx264',
    '-preset',
    'veryfast',
    '-c:a',
    'pcm_s16le',
  ];
  await runTool('make', tools.ffmpeg, [...web, at('wav-sound.mkv')]);
  await runTool('make', tools.ffmpeg, [...web, '-ar', '192000', at('studio-rate.mov')]);
  const edited = ['-vf', 'scale=256:144', '-c:v', 'dnxhd', '-profile:v', 'dnxhr_sq', '-pix_fmt', 'yuv422p'];
  const gap = ['-v', 'error', '-i', at('gap.mp4')];
  await runTool('make', tools.ffmpeg, [...gap, ...edited, '-c:a', 'pcm_s24le', at('edited.mov')]);
  const tones = Array.from({ length: 10 }, (_, at) => `0.1*sin(${300 + 40 * at}*t)`).join('|');
  const sounds = ['-f', 'lavfi', '-i', `aevalsrc=exprs=${tones}:s=48000:d=2`, '-map', '0:v', '-map', '1:a'];
  const ten = [
    '-v',
    'error',
    '-i',
    at('clean.mp4'),
    ...sounds,
    '-c:v',
    'copy',
    '-c:a',
    'pcm_s16le',
    '-shortest',
  ];
  await runTool('make', tools.ffmpeg, [...ten, at('ten-microphones.mov')]);
});
afterAll(() => folder.remove());

/** Names of the top-level boxes of an MP4 file, in file order (ISO/IEC 14496-12). */
async function boxesOf(filePath: string): Promise<string[]> {
  const file = await open(filePath, 'r');
  try {
    const { boxes, brokenAt } = await scanTopLevel(file, (await file.stat()).size);
    expect(brokenAt).toBeNull();
    return boxes.map(({ type }) => type);
  } finally {
    await file.close();
  }
}

it.each([
  ['gap.mp4', 'smart_render'],
  ['late.mp4', 'copied'],
  ['old.avi', 'full_encode'],
  ['edited.mov', 'full_encode'],
  ['wav-sound.mkv', 'copied'],
  ['studio-rate.mov', 'copied'],
  ['ten-microphones.mov', 'copied'],
])('writes %s (%s) as H.264 and AAC in MP4 with the index at the front', async (name, treatment) => {
  const task = await makeTask(at(name), at(`work-${name}`));
  const io = { signal: new AbortController().signal, send: () => undefined };
  const { report, resultPath } = mustBeOk(await processVideo(task, io));
  expect(report.video.treatment).toBe(treatment);
  const boxes = await boxesOf(resultPath ?? '');
  expect(boxes[0]).toBe('ftyp');
  expect(boxes.indexOf('moov')).toBeGreaterThan(0);
  expect(boxes.indexOf('moov')).toBeLessThan(boxes.indexOf('mdat'));
  const info = await probe(tools, resultPath ?? '', 'mov');
  expect(info.video.map(({ codec }) => codec)).toEqual(['h264']);
  expect(info.audio.map(({ codec }) => codec)).toEqual(['aac']);
});
