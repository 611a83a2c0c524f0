import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { makeMovingClip } from '#server/test/broken-clips.ts';
import { makeFolder, makeTask, mustBeOk, testTools as tools } from '#server/test/media-job.ts';
import { soundPacketsOf } from '#server/test/sound-packets.ts';
import { processVideo } from './process-video.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
const at = (name: string) => path.join(folder.path, name);
beforeAll(async () => {
  folder = await makeFolder();
  await makeMovingClip({ tools, outputPath: at('clean.mp4'), seconds: 3, width: 320, height: 192 });
});
afterAll(() => folder.remove());

/** Copies a clip and overwrites `count` sound packets in its middle with zeros. */
async function withZeroedSound(count: number, clean = at('clean.mp4')): Promise<string> {
  const args = '-v error -select_streams a:0 -show_entries packet=pos,size -of csv=p=0'.split(' ');
  const { stdout } = await runTool('list', tools.ffprobe, [...args, clean]);
  const packets = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(',').map(Number));
  const bytes = await readFile(clean);
  for (const [size = 0, pos = 0] of packets.slice(packets.length >> 1).slice(0, count)) {
    bytes.fill(0, pos, pos + size);
  }
  const broken = at(`broken-${count}.mp4`);
  await writeFile(broken, bytes);
  return broken;
}

async function mend(broken: string) {
  const io = { signal: new AbortController().signal, send: () => undefined };
  return mustBeOk(await processVideo(await makeTask(broken, `${broken}.work`), io));
}

const notIn = (some: readonly string[], others: readonly string[]) =>
  some.filter((one) => !others.includes(one)).length;

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
    [1, /21 ms in total\) was bridged from the sound on both sides/],
    [5, /107 ms in total\) was filled, the sound fading on both sides/],
  ])('are found and repaired, %i in a row, and no picture changes', async (count, says) => {
    const broken = await withZeroedSound(count);
    const { report, resultPath } = await mend(broken);
    const found = report.defects.find(({ kind }) => kind === 'audio_sync');
    expect(found).toMatchObject({ outcome: 'repaired', action: 'filled_audio' });
    expect(found?.explanation).toMatch(says);
    const result = resultPath ?? '';
    const coded = '-map 0:v -c copy -f hash -hash md5';
    expect(await hashOf(result, coded)).toBe(await hashOf(at('clean.mp4'), coded));
    // The sound after a hole is assembled from a lost half, so up to two frames beside it are new as well.
    const kept = await soundPacketsOf(at('clean.mp4'));
    expect(notIn(kept, await soundPacketsOf(result))).toBeLessThanOrEqual(count + 4);
    expect(report.audio).toMatchObject({ treatment: 'smart_render', unitsTotal: kept.length });
    expect(report.checks).toContainEqual(
      expect.objectContaining({ name: 'untouched sound bit-exact', passed: true }),
    );
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

  it('are repaired in a clip whose beginning an edit hides, and it stays hidden', async () => {
    const cut = at('cut.mp4');
    const options = `-ss 0.7 -i ${at('clean.mp4')} -c copy`.split(' ');
    await runTool('cut', tools.ffmpeg, ['-v', 'error', ...options, cut]);
    const { report, resultPath } = await mend(await withZeroedSound(2, cut));
    const result = resultPath ?? '';
    expect(report.audio.treatment).toBe('smart_render');
    expect(notIn(await soundPacketsOf(cut), await soundPacketsOf(result))).toBeLessThanOrEqual(6);
    const starts = '-v error -show_entries stream=start_time -of csv=p=0'.split(' ');
    const startsOf = async (file: string) =>
      (await runTool('starts', tools.ffprobe, [...starts, file])).stdout.trim().split('\n').map(Number);
    const [before, after] = [await startsOf(cut), await startsOf(result)];
    expect(Math.abs((after[1] ?? 0) - (after[0] ?? 0) - (before[1] ?? 0) + (before[0] ?? 0))).toBeLessThan(
      0.005,
    );
  });

  it('are repaired when recorders note when frames arrived, some samples early or late', async () => {
    const uneven = at('uneven.mp4');
    const times = 'setts=ts=TS+17*mod(N\\,3)-9*mod(N\\,7)+60';
    const copied = ['-map', '0', '-c', 'copy', '-bsf:a', times, uneven];
    await runTool('tell times', tools.ffmpeg, ['-v', 'error', '-i', at('clean.mp4'), ...copied]);
    const { report, resultPath } = await mend(await withZeroedSound(2, uneven));
    expect(report.audio.treatment).toBe('smart_render');
    expect(notIn(await soundPacketsOf(uneven), await soundPacketsOf(resultPath ?? ''))).toBeLessThanOrEqual(
      6,
    );
    const timesOf = async (file: string) =>
      (await hashOf(file, '-map 0:a:0 -c copy -f framehash'))
        .match(/^0.*$/gm)
        ?.map((line) => line.split(',')[1]);
    expect(await timesOf(resultPath ?? '')).toEqual(await timesOf(uneven));
  });

  it('are repaired between frames with replicated bands, which no available encoder makes', async () => {
    const [core, replicated] = [at('core.mp4'), at('replicated.mp4')];
    const encode = '-map 0:v -map 0:a -c:v copy -c:a aac -b:a 48k -ar 22050'.split(' ');
    await runTool('encode', tools.ffmpeg, ['-v', 'error', '-i', at('clean.mp4'), ...encode, core]);
    // ffmpeg's settings end with the flag that no bands are replicated (ISO/IEC 14496-3, 1.6.2.1); this sets it, to
    // 44.1 kHz.
    const bytes = await readFile(core);
    const sign = bytes.indexOf(Buffer.from([0x56, 0xe5, 0x00]));
    expect(sign).toBeGreaterThan(0);
    bytes[sign + 2] = 0x80 | (4 << 3);
    await writeFile(replicated, bytes);
    const { report, resultPath } = await mend(await withZeroedSound(2, replicated));
    expect(report.defects.filter(({ kind }) => kind === 'audio_sync')).toMatchObject([
      { kind: 'audio_sync', outcome: 'repaired', action: 'filled_audio' },
    ]);
    expect(report.audio.treatment).toBe('smart_render');
    const kept = await soundPacketsOf(replicated);
    expect(notIn(kept, await soundPacketsOf(resultPath ?? ''))).toBeLessThanOrEqual(6);
  });
});
