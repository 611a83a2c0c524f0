import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probe } from '#server/media/probe/probe.ts';
import { injectRepeats, makeMovingClip } from '#server/test/broken-clips.ts';
import { bakeOffset, moveSound } from '#server/test/broken-sound.ts';
import { makeFolder, makeTask, mustBeOk, testTools as tools } from '#server/test/media-job.ts';
import { packetTimes } from '#server/test/rendered-edits.ts';
import { processVideo } from './process-video.ts';

const SECONDS = 6;
const FPS = 30;
const COPIES = [
  { frame: 50, count: 4 },
  { frame: 110, count: 5 },
];

let folder: Awaited<ReturnType<typeof makeFolder>>;
const at = (name: string) => path.join(folder.path, name);

async function soundStartMs(filePath: string): Promise<number> {
  const info = await probe(tools, filePath, 'mov');
  return (info.audio[0]?.startMs ?? Number.NaN) - (info.video[0]?.startMs ?? 0);
}

beforeAll(async () => {
  folder = await makeFolder();
  await makeMovingClip({
    tools,
    outputPath: at('clean.mp4'),
    seconds: SECONDS,
    width: 320,
    height: 180,
    fps: FPS,
  });
  await injectRepeats({
    tools,
    inputPath: at('clean.mp4'),
    outputPath: at('copies.mp4'),
    history: 'inserted',
    runs: COPIES,
  });
});
afterAll(() => folder.remove());

/**
 * Repairs a clip with faults in both copies and sound.
 * @returns path of the result
 */
async function mendBoth(broken: string): Promise<string> {
  const { report, resultPath } = mustBeOk(
    await processVideo(await makeTask(broken, `${broken}.work`), {
      signal: new AbortController().signal,
      send: () => undefined,
    }),
  );
  expect(report.checks.filter(({ passed }) => !passed)).toEqual([]);
  const mended = report.defects.filter(({ outcome }) => outcome === 'repaired');
  expect(mended.map(({ kind }) => kind).sort()).toEqual(['audio_sync', 'stuttered_cut', 'stuttered_cut']);
  expect((await packetTimes(resultPath ?? '')).length).toBe(SECONDS * FPS);
  return resultPath ?? '';
}

describe('processVideo on copies in the picture beside a moved sound', () => {
  it.each([350, -200])('repairs both at once when the sound was muxed %i ms off', async (offsetMs) => {
    const broken = at(`moved${offsetMs}.mp4`);
    await moveSound({ tools, inputPath: at('copies.mp4'), outputPath: broken, offsetMs });
    const resultPath = await mendBoth(broken);
    // An early sound has lost its beginning; what is left belongs that much later.
    const startMs = Math.max(0, -offsetMs);
    expect(Math.abs((await soundStartMs(resultPath)) - startMs)).toBeLessThan(20);
  });

  it('repairs both at once when silence was added before the sound', async () => {
    const broken = at('silence.mp4');
    await bakeOffset({ tools, inputPath: at('copies.mp4'), outputPath: broken, offsetMs: 400 });
    await mendBoth(broken);
  });
});
