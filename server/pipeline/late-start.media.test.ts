import path from 'node:path';
import { expect, it } from 'vitest';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { corruptSamples } from '#server/test/broken-clips.ts';
import { makeTask, mustBeOk, testTools as tools } from '#server/test/media-job.ts';
import { encodeSource, sharedFolder } from '#server/test/rendered-clips.ts';
import { processVideo } from './process-video.ts';

const folder = sharedFolder();
const at = (name: string) => path.join(folder.path, name);

it('keeps the undamaged pictures of a clip without sound that starts late', async () => {
  const source = 'testsrc2=s=320x192:r=30:d=2';
  await encodeSource(source, at('made.mp4'), '-c:v libx264 -preset veryfast -bf 0 -g 30'.split(' '));
  // Times in milliseconds cannot express where the last picture ends.
  const late = '-c copy -video_track_timescale 15360'.split(' ');
  await runTool('move', tools.ffmpeg, [
    ...'-v error -itsoffset 0.033 -i'.split(' '),
    at('made.mp4'),
    ...late,
    at('late.mp4'),
  ]);
  await corruptSamples({
    tools,
    inputPath: at('late.mp4'),
    outputPath: at('torn.mp4'),
    frames: [40],
    fault: 'zero',
    amount: 200,
  });
  const answer = await processVideo(await makeTask(at('torn.mp4'), at('work')), {
    signal: new AbortController().signal,
    send: () => undefined,
  });
  const { report } = mustBeOk(answer);
  expect(report.video.treatment).toBe('smart_render');
  expect(report.video.unitsKept).toBeGreaterThanOrEqual(30);
  expect(report.checks.filter(({ passed }) => !passed)).toEqual([]);
});
