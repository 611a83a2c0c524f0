import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readPackets } from '#server/pipeline/analyse/packets/read-packets.ts';
import { hashPictures } from '#server/pipeline/publish/packet-hashes.ts';
import { testTools as tools } from '#server/test/media-job.ts';
import { encodeSource, sharedFolder } from '#server/test/rendered-clips.ts';
import { probe } from '../probe/probe.ts';

const folder = sharedFolder();

describe('uploadedPictureOptions', () => {
  it('passes on all HEVC pictures that have data, though the key picture they refer to has none', async () => {
    const clip = await encodeSource(
      'testsrc2=s=160x96:r=25:d=3',
      path.join(folder.path, 'keyless.mp4'),
      '-c:v libx265 -preset ultrafast -tag:v hvc1 -x265-params keyint=25:min-keyint=25:bframes=0:log-level=error'.split(
        ' ',
      ),
    );
    const info = await probe(tools, clip, 'mov');
    const whole = await hashPictures({ path: clip, info, tools });
    const { video } = await readPackets({ inputPath: clip, info, tools });
    const key = video.findIndex(({ keyframe }, at) => keyframe && at > 0);
    const { offsetBytes, sizeBytes } = video[key] ?? {};
    const bytes = await readFile(clip);
    bytes.fill(0, offsetBytes ?? 0, (offsetBytes ?? 0) + (sizeBytes ?? 0));
    await writeFile(clip, bytes);

    const torn = await hashPictures({ path: clip, info, tools });
    expect(whole).toHaveLength(75);
    expect(key).toBe(25);
    // Every time but that of the lost picture itself; behind the next key picture all is as it was.
    expect(torn.map(({ ptsTicks }) => ptsTicks)).toEqual(
      whole.filter((_, at) => at !== key).map(({ ptsTicks }) => ptsTicks),
    );
    expect(torn.slice(49)).toEqual(whole.slice(50));
    expect(torn[30]?.hash).not.toBe(whole[31]?.hash);
  });
});
