import path from 'node:path';
import { expect, it } from 'vitest';
import { corruptSamples } from '#server/test/broken-clips.ts';
import { makeTask, mustBeOk, testTools as tools } from '#server/test/media-job.ts';
import { encodeSource, sharedFolder } from '#server/test/rendered-clips.ts';
import { processVideo } from './process-video.ts';
import { verifyClaims } from './publish/verify-claims.ts';

const folder = sharedFolder();

// Decoders leave samples beyond ten bits in blocks that they do not write, and encoders must not get them.
it.each([
  ['4:2:2', 'yuv422p10le', 'high422'],
  ['4:2:0', 'yuv420p10le', 'high10'],
])('repairs damaged key pictures of H.264 with ten bits per sample (%s)', async (_, pixels, profile) => {
  const clean = path.join(folder.path, `${profile}.mp4`);
  const options = `-c:v libx264 -preset veryfast -pix_fmt ${pixels} -profile:v ${profile} -g 30`;
  await encodeSource(
    'mandelbrot=s=854x480:r=25:end_pts=400,trim=duration=2,noise=alls=6:allf=t',
    clean,
    options.split(' '),
  );
  const torn = path.join(folder.path, `${profile}-torn.mp4`);
  const fault = { fault: 'zero', amount: 512, place: 0.2 } as const;
  await corruptSamples({ tools, inputPath: clean, outputPath: torn, frames: [0, 30], ...fault });
  const task = await makeTask(torn, path.join(folder.path, `work-${profile}`));
  const io = { signal: new AbortController().signal, send: () => undefined };
  const { report, resultPath } = mustBeOk(await processVideo(task, io));
  const damage = report.defects.filter(({ kind }) => kind === 'corrupted_section');
  expect(damage.map(({ outcome }) => outcome)).toContain('repaired');
  const claims = await verifyClaims({ originalPath: torn, repairedPath: resultPath ?? '', report, tools });
  expect(claims.filter(({ confirmed }) => !confirmed)).toEqual([]);
});
