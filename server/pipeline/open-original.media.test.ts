import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { testTools } from '#server/test/media-job.ts';
import { encodeSource, renderLimits, sharedFolder } from '#server/test/rendered-clips.ts';
import type { MediaLimits } from './worker-protocol.ts';
import { openOriginal } from './open-original.ts';

describe('openOriginal', () => {
  const folder = sharedFolder();
  const open = async (limits: Partial<MediaLimits>) => {
    const inputPath = path.join(folder.path, 'clip.mp4');
    await encodeSource('testsrc=s=64x64:r=25:d=2', inputPath, ['-c:v', 'libx264']);
    return openOriginal({
      inputPath,
      rebuiltPath: path.join(folder.path, 'rebuilt.mp4'),
      referencePaths: [],
      limits: { ...renderLimits, ...limits },
      tools: testTools,
    });
  };

  it('takes a clip within the limits as it is', async () => {
    expect(await open({ maxPictures: 50, maxDurationMs: 2000 })).toMatchObject({ rebuilt: null });
  });

  it.each([
    [{ maxDurationMs: 1000 }, /longer than 0 minutes.*shorter parts/],
    [{ maxPictures: 49 }, /50 pictures; the memory of this server is enough for 49\. Cut it/],
  ])('refuses one beyond %j, saying what to do', async (limits, message) => {
    await expect(open(limits)).rejects.toMatchObject({
      code: 'too_long',
      message: expect.stringMatching(message),
    });
  });
});
