import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { probe } from '#server/media/probe/probe.ts';
import { corruptSamples } from '#server/test/broken-clips.ts';
import { testTools as tools } from '#server/test/media-job.ts';
import { encodeSource, sharedFolder } from '#server/test/rendered-clips.ts';
import { checkHevcEnds } from './check-hevc-ends.ts';
import { readPackets } from '../packets/read-packets.ts';

const folder = sharedFolder();
const SOURCE = 'testsrc2=s=176x144:r=25:d=1.6,noise=alls=12:allf=t';
const CODED = '-c:v libx265 -preset veryfast -crf 24 -bf 0 -tag:v hvc1 -x265-params';

/** Numbers of the pictures that are found. Without B pictures, display and decode order are the same. */
async function astrayIn(file: string): Promise<number[]> {
  const info = await probe(tools, file, 'mov');
  const { video } = await readPackets({ inputPath: file, info, tools });
  const suspects = video.map((_, place) => place);
  return checkHevcEnds({ inputPath: file, info, packets: video, suspects, tools });
}

describe('checkHevcEnds', () => {
  for (const [rows, runs] of [
    ['wpp=1', 3],
    ['wpp=0', 2],
    ['slices=2:ctu=32', 2],
  ] as const) {
    it(`names only damaged pictures, identically in ${runs} runs, and none of an intact clip (${rows})`, async () => {
      const options = `${CODED} keyint=25:bframes=0:log-level=error:${rows}`.split(' ');
      const clip = await encodeSource(
        SOURCE,
        path.join(folder.path, `${rows.replaceAll(':', '-')}.mp4`),
        options,
      );
      expect(await astrayIn(clip)).toEqual([]);
      const broken = path.join(folder.path, 'broken.mp4');
      const frames = [6, 11, 17, 30, 36];
      const damage = { fault: 'random', amount: 40, place: 0.4, seed: 4 } as const;
      await corruptSamples({ inputPath: clip, outputPath: broken, frames, tools, ...damage });
      const found = await astrayIn(broken);
      expect(frames).toEqual(expect.arrayContaining(found));
      // Data that get back into step end where they should, so not all are found.
      expect(found.length).toBeGreaterThanOrEqual(3);
      for (let run = 1; run < runs; run++) expect(await astrayIn(broken)).toEqual(found);
    });
  }
});
