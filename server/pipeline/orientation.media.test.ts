import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probe } from '#server/media/probe/probe.ts';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { injectRepeats, makeMovingClip } from '#server/test/broken-clips.ts';
import { makeFolder, makeTask, mustBeOk, testTools as tools } from '#server/test/media-job.ts';
import { turnClip } from '#server/test/turned-clips.ts';
import { processVideo } from './process-video.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
const at = (name: string) => path.join(folder.path, name);
beforeAll(async () => {
  folder = await makeFolder();
  for (const [name, width, height] of [
    ['wide', 240, 136],
    ['tall', 136, 240],
  ] as const) {
    await makeMovingClip({ tools, outputPath: at(`${name}-clean.mp4`), seconds: 3, width, height });
    const plan = { tools, inputPath: at(`${name}-clean.mp4`), outputPath: at(`${name}.mp4`) };
    await injectRepeats({ ...plan, history: 'held', runs: [{ frame: 40, count: 3 }] });
  }
  // Coded in a way that browsers do not play, so that all of it is re-encoded.
  const old = ['-v', 'error', '-i', at('wide.mp4'), '-c:v', 'mpeg4', '-q:v', '2', '-c:a', 'copy'];
  await runTool('make', tools.ffmpeg, [...old, at('old.mp4')]);
});
afterAll(() => folder.remove());

/** The first picture as a player shows it, small and grey. */
async function shown(file: string): Promise<Buffer> {
  const raw = at('shown.gray');
  const small = ['-frames:v', '1', '-vf', 'scale=32:32,format=gray', '-f', 'rawvideo', raw];
  await runTool('look', tools.ffmpeg, ['-v', 'error', '-y', '-i', file, ...small]);
  return readFile(raw);
}

function meanDifference(a: Buffer, b: Buffer): number {
  return a.reduce((sum, value, index) => sum + Math.abs(value - (b[index] ?? 0)), 0) / a.length;
}

describe.each([
  {
    what: 'only the damaged part coded anew',
    name: 'wide',
    treatment: 'smart_render',
    turns: [90, 180, 270],
  },
  { what: 'a portrait clip', name: 'tall', treatment: 'smart_render', turns: [90] },
  { what: 'all of it coded anew', name: 'old', treatment: 'full_encode', turns: [90, 180] },
] as const)('$what', ({ name, treatment, turns }) => {
  it.each(turns)('keeps its rotation, by %i degrees', async (degrees) => {
    const turned = at(`${name}-${degrees}.mp4`);
    await turnClip(at(`${name}.mp4`), turned, degrees);
    const before = (await probe(tools, turned, 'mov')).video[0];

    const task = await makeTask(turned, at(`work-${name}-${degrees}`));
    const io = { signal: new AbortController().signal, send: () => undefined };
    const { report, resultPath } = mustBeOk(await processVideo(task, io));
    expect(report.video.treatment).toBe(treatment);
    const after = (await probe(tools, resultPath ?? '', 'mov')).video[0];
    expect(before?.rotation).toBe(degrees);
    expect(after).toMatchObject({
      rotation: before?.rotation,
      width: before?.width,
      height: before?.height,
    });
    expect(meanDifference(await shown(turned), await shown(resultPath ?? ''))).toBeLessThan(4);
  });

  it('would be noticed if it changed', async () => {
    const turned = at(`${name}-over.mp4`);
    await turnClip(at(`${name}.mp4`), turned, 180);
    const [upright, upsideDown] = [await shown(at(`${name}.mp4`)), await shown(turned)];
    expect(meanDifference(upright, upsideDown)).toBeGreaterThan(8);
  });
});
