import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { makeMovingClip } from '#server/test/broken-clips.ts';
import { makeFolder, makeTask, mustBeOk, testTools as tools } from '#server/test/media-job.ts';
import { processVideo } from './process-video.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
const at = (name: string) => path.join(folder.path, name);

beforeAll(async () => {
  folder = await makeFolder();
  await makeMovingClip({ tools, outputPath: at('clean.mp4'), seconds: 4, width: 240, height: 136 });
  await writeFile(
    at('said.srt'),
    '1\n00:00:00,500 --> 00:00:01,500\nHello\n\n2\n00:00:02,000 --> 00:00:03,000\nAgain\n',
  );
  await writeFile(
    at('chapters.txt'),
    ';FFMETADATA1\ntitle=Two parts\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=2000\ntitle=one\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=2000\nEND=4000\ntitle=two\n',
  );
});
afterAll(() => folder.remove());

/** What ffprobe reports about streams other than picture and sound, the chapters and the title. */
async function beside(file: string): Promise<string[]> {
  const streams = 'stream=codec_type,codec_tag_string:stream_tags=timecode,language';
  const { stdout } = await runTool('tracks', tools.ffprobe, [
    ...'-v error -show_chapters -show_entries'.split(' '),
    `${streams}:chapter=start_time,end_time:chapter_tags=title:format_tags=title`,
    '-of',
    'csv=p=0',
    file,
  ]);
  return stdout.split('\n').filter((line) => line && !/^(video|audio)/.test(line));
}

/** Times, sizes and hashes of the packets of one stream. */
async function packets(file: string, stream: string): Promise<string> {
  const entries = 'packet=pts_time,size,data_hash';
  const { stdout } = await runTool('packets', tools.ffprobe, [
    ...`-v error -select_streams ${stream} -show_data_hash md5 -show_entries ${entries} -of csv=p=0`.split(
      ' ',
    ),
    file,
  ]);
  return stdout.trim();
}

it.each([
  ['copied', '-c:v copy'],
  ['full_encode', '-c:v mpeg4 -q:v 2'],
])(
  'carries subtitles, chapters, time code and title where the sound is converted (%s)',
  async (treatment, pictures) => {
    const file = at(`${treatment}.mov`);
    const inputs = ['-v', 'error', '-i', at('clean.mp4'), '-i', at('said.srt'), '-i', at('chapters.txt')];
    const streams = `-map 0 -map 1 -map_metadata 2 -map_chapters 2 ${pictures} -c:a pcm_s16le -c:s mov_text`;
    const named = '-metadata:s:s:0 language=ger -timecode 01:02:03:04'.split(' ');
    await runTool('make', tools.ffmpeg, [...inputs, ...streams.split(' '), ...named, file]);
    const task = await makeTask(file, at(`work-${treatment}`));
    const io = { signal: new AbortController().signal, send: () => undefined };
    const { report, resultPath } = mustBeOk(await processVideo(task, io));
    expect(report.video.treatment).toBe(treatment);
    expect(report.checks.filter(({ passed }) => !passed)).toEqual([]);
    const before = await beside(file);
    expect(before.join()).toMatch(/ger/);
    expect(before.join()).toMatch(/01:02:03:04/);
    expect(before.join()).toMatch(/two/);
    expect(await beside(resultPath ?? '')).toEqual(before);
    expect(await packets(resultPath ?? '', 's:0')).toBe(await packets(file, 's:0'));
  },
);

/** One small picture, as players and editors add it to a file. */
async function makeCover(kind: string): Promise<string> {
  const file = at(`cover.${kind}`);
  await runTool('cover', tools.ffmpeg, [
    ...'-v error -f lavfi -i color=c=teal:s=64x64 -frames:v 1'.split(' '),
    file,
  ]);
  return file;
}

it.each(['png', 'bmp'])('does not reject a clip because of its cover in %s', async (kind) => {
  const file = at(`with-${kind}.mp4`);
  const inputs = ['-v', 'error', '-i', at('clean.mp4'), '-i', await makeCover(kind)];
  const streams = '-map 0 -map 1 -c copy -disposition:v:1 attached_pic'.split(' ');
  await runTool('make', tools.ffmpeg, [...inputs, ...streams, file]);
  const task = await makeTask(file, at(`work-${kind}`));
  const io = { signal: new AbortController().signal, send: () => undefined };
  expect(mustBeOk(await processVideo(task, io)).report.outcome).toBe('unchanged');
});

it.each(['srt', 'ass'])('does not reject a clip because of subtitles in %s', async (kind) => {
  const file = at(`with-${kind}.mkv`);
  const inputs = ['-v', 'error', '-i', at('clean.mp4'), '-i', at('said.srt')];
  const streams = ['-map', '0', '-map', '1', '-c', 'copy', '-c:s', kind];
  await runTool('make', tools.ffmpeg, [...inputs, ...streams, file]);
  const task = await makeTask(file, at(`work-${kind}`));
  const io = { signal: new AbortController().signal, send: () => undefined };
  const { report } = mustBeOk(await processVideo(task, io));
  expect(report.video.treatment).toBe('copied');
  expect(report.notes.join(' ')).toMatch(/subtitles are not in the result/);
  expect(report.checks.filter(({ passed }) => !passed)).toEqual([]);
});
