import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { injectHiddenDrops, injectRepeats, makeMovingClip } from '#server/test/broken-clips.ts';
import { makeFolder, makeTask, mustBeOk, testTools as tools } from '#server/test/media-job.ts';
import { lumaPsnr } from '#server/test/psnr.ts';
import { packetTimes } from '#server/test/rendered-edits.ts';
import { processVideo } from './process-video.ts';

const SECONDS = 6;
const FPS = 30;
const COPIED = 60;
const COUNT = 4;

let folder: Awaited<ReturnType<typeof makeFolder>>;
const at = (name: string) => path.join(folder.path, name);

beforeAll(async () => {
  folder = await makeFolder();
  const made = { tools, seconds: SECONDS, width: 320, height: 180, fps: FPS };
  await makeMovingClip({ ...made, outputPath: at('heard.mp4') });
  await makeMovingClip({ ...made, outputPath: at('mute.mp4'), sound: false });
});
afterAll(() => folder.remove());

describe('processVideo on a recorder that stalled', () => {
  it.each([
    ['heard', 'skipped as many pictures two pictures later', COPIED + 3],
    ['mute', 'skipped as many pictures one picture later', COPIED + 2],
    ['mute', 'had skipped as many pictures three pictures before', COPIED - 2 - COUNT],
  ])(
    'in a %s clip puts the pictures back where it %s, and moves nothing behind',
    async (sound, _, firstLost) => {
      const clean = at(`${sound}.mp4`);
      const lost = at(`lost-${firstLost}.mp4`);
      const stalled = at(`stalled-${firstLost}.mp4`);
      const holes = [{ frame: firstLost, count: COUNT }];
      await injectHiddenDrops({ tools, inputPath: clean, outputPath: lost, holes });
      const frame = firstLost < COPIED ? COPIED - COUNT : COPIED;
      const runs = [{ frame, count: COUNT }];
      await injectRepeats({ tools, inputPath: lost, outputPath: stalled, history: 'inserted', runs });
      const { report, resultPath } = mustBeOk(
        await processVideo(await makeTask(stalled, at(`work-${firstLost}`)), {
          signal: new AbortController().signal,
          send: () => undefined,
        }),
      );
      expect(report.checks.filter(({ passed }) => !passed)).toEqual([]);
      const mended = report.defects.filter(({ outcome }) => outcome !== 'flagged');
      expect(mended.map(({ kind, count, outcome }) => `${count} ${kind} ${outcome}`).sort()).toEqual([
        `${COUNT} dropped_frames repaired`,
        `${COUNT} stuttered_cut repaired`,
      ]);
      expect(await packetTimes(resultPath ?? '')).toHaveLength(SECONDS * FPS);
      for (const [frame, least] of [
        [firstLost, 25],
        [firstLost + COUNT + 4, 32],
        [SECONDS * FPS - 5, 32],
      ] as const) {
        expect(await lumaPsnr(resultPath ?? '', clean, frame)).toBeGreaterThan(least);
      }
    },
  );
});
