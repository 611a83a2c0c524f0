import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { makeMovingClip } from '#server/test/broken-clips.ts';
import { makeFolder, makeTask, mustBeOk, testTools as tools } from '#server/test/media-job.ts';
import { processVideo } from './process-video.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
const at = (name: string) => path.join(folder.path, name);
beforeAll(async () => {
  folder = await makeFolder();
  await makeMovingClip({ tools, outputPath: at('clean.mp4'), seconds: 3, width: 320, height: 192 });
});
afterAll(() => folder.remove());

/** A copy of the clip in which `count` sound packets in its middle are zeros. */
async function withZeroedSound(count: number): Promise<string> {
  const args = '-v error -select_streams a:0 -show_entries packet=pos,size -of csv=p=0'.split(' ');
  const { stdout } = await runTool('list', tools.ffprobe, [...args, at('clean.mp4')]);
  const packets = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(',').map(Number));
  const bytes = await readFile(at('clean.mp4'));
  for (const [size = 0, pos = 0] of packets.slice(packets.length >> 1).slice(0, count)) {
    bytes.fill(0, pos, pos + size);
  }
  const broken = at(`broken-${count}.mp4`);
  await writeFile(broken, bytes);
  return broken;
}

const hashOf = async (file: string, args: string) => {
  const { stdout } = await runTool('hash', tools.ffmpeg, [
    '-v',
    'quiet',
    '-i',
    file,
    ...args.split(' '),
    '-',
  ]);
  return stdout;
};

describe('damaged sound packets', () => {
  it.each([
    [1, /21 ms in all\) was bridged with the sound before/],
    [5, /107 ms in all\) was filled with silence/],
  ])('are found and mended, %i in a row, and no picture changes', async (count, says) => {
    const broken = await withZeroedSound(count);
    const io = { signal: new AbortController().signal, send: () => undefined };
    const { report, resultPath } = mustBeOk(
      await processVideo(await makeTask(broken, at(`work-${count}`)), io),
    );
    const found = report.defects.find(({ kind }) => kind === 'audio_sync');
    expect(found).toMatchObject({ outcome: 'repaired', action: 'filled_audio' });
    expect(found?.explanation).toMatch(says);
    const result = resultPath ?? '';
    const coded = '-map 0:v -c copy -f hash -hash md5';
    expect(await hashOf(result, coded)).toBe(await hashOf(at('clean.mp4'), coded));
    const strict = [
      '-v',
      'warning',
      '-err_detect',
      'aggressive',
      '-i',
      result,
      '-map',
      '0:a',
      '-f',
      'null',
      '-',
    ];
    expect((await runTool('decode', tools.ffmpeg, strict)).stderr).toBe('');
    const samples = async (file: string) => {
      const raw = at('raw.s16');
      await runTool('decode', tools.ffmpeg, [
        '-v',
        'quiet',
        '-y',
        '-i',
        file,
        '-ac',
        '1',
        '-f',
        's16le',
        raw,
      ]);
      return (await readFile(raw)).length / 2;
    };
    expect(Math.abs((await samples(result)) - (await samples(at('clean.mp4'))))).toBeLessThan(1024);
  });
});
