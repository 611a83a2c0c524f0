import path from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { makeTask, mustBeOk, testTools as tools } from '#server/test/media-job.ts';
import { sharedFolder } from '#server/test/rendered-clips.ts';
import { processVideo } from './process-video.ts';

const folder = sharedFolder();
const at = (name: string) => path.join(folder.path, name);
const words = (text: string) => text.split(' ');

beforeAll(async () => {
  const picture = words('-f lavfi -i testsrc2=s=320x180:r=30:d=6');
  const sound = ['-f', 'lavfi', '-i', "aevalsrc='0.4*sin(2*PI*300*t)*(1+sin(2*PI*3*t))/2':s=44100:d=6"];
  const coded = words('-c:v libx264 -preset veryfast -bf 2 -g 30 -pix_fmt yuv420p -c:a aac');
  await runTool('make', tools.ffmpeg, ['-v', 'error', ...picture, ...sound, ...coded, at('made.mp4')]);
});

/**
 * Writes the clip in fragments, whose writer has no edit lists: a late stream has its first sample at the beginning,
 * extended up to the second.
 */
async function inFragments(pictureLate: number, soundLate: number): Promise<string> {
  const name = at(`late-${pictureLate}-${soundLate}.mp4`);
  const input = (late: number) => ['-itsoffset', String(late), '-i', at('made.mp4')];
  const copied = words('-map 0:v -map 1:a -c copy -movflags frag_keyframe+empty_moov');
  await runTool('fragment', tools.ffmpeg, [
    '-v',
    'error',
    ...input(pictureLate),
    ...input(soundLate),
    ...copied,
    name,
  ]);
  return name;
}

async function mend(file: string) {
  const task = await makeTask(file, `${file}.work`);
  const job = { signal: new AbortController().signal, send: () => undefined };
  return mustBeOk(await processVideo(task, job)).report;
}

it.each([
  ['sound', 0, 0.4, 400],
  ['picture', 0.4, 0, -400],
])('a late %s is measured and repaired in fragments', async (_, pictureLate, soundLate, offsetMs) => {
  const { defects, checks, video } = await mend(await inFragments(pictureLate, soundLate));
  expect(defects).toHaveLength(1);
  expect(defects[0]).toMatchObject({ kind: 'audio_sync', outcome: 'repaired', action: 'shifted_audio' });
  expect(Math.abs((defects[0]?.measure.before ?? 0) - offsetMs)).toBeLessThan(5);
  expect(video.treatment).toBe('copied');
  expect(checks.filter(({ passed }) => !passed)).toEqual([]);
});

it('does not mistake the delay of reordered pictures, in which the priming of the sound plays, for an offset', async () => {
  const { outcome, defects } = await mend(await inFragments(0, 0));
  expect(defects).toEqual([]);
  expect(outcome).toBe('unchanged');
});
