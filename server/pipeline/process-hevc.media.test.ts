import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  corruptSamples,
  injectRepeats,
  injectTimestampGaps,
  makeMovingClip,
} from '#server/test/broken-clips.ts';
import { makeFolder, makeTask, mustBeOk, testTools as tools } from '#server/test/media-job.ts';
import { decodeHashes, soundHash } from '#server/test/rendered-clips.ts';
import { processVideo } from './process-video.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
let clean = '';
const at = (name: string) => path.join(folder.path, name);

/** Open groups of a second, as phones record. */
const ENCODE = [
  ...'-c:v libx265 -preset ultrafast -crf 22 -tag:v hvc1 -x265-params'.split(' '),
  'log-level=error:keyint=30:open-gop=1:bframes=3:frame-threads=1:pools=1',
];
const GROUP = 30;

beforeAll(async () => {
  folder = await makeFolder();
  clean = at('clean.mp4');
  await makeMovingClip({ tools, outputPath: clean, seconds: 4, encode: ENCODE });
});
afterAll(() => folder.remove());

const FAULTS: readonly {
  readonly name: string;
  /** Writes the broken clip and answers its first broken picture. */
  readonly make: (outputPath: string) => Promise<number>;
}[] = [
  {
    name: 'corrupt pictures',
    make: async (outputPath) => {
      await corruptSamples({
        tools,
        inputPath: clean,
        outputPath,
        frames: [50],
        fault: 'zero',
        amount: 200,
        place: 0.3,
      });
      return 50;
    },
  },
  {
    name: 'held pictures',
    make: async (outputPath) => {
      const runs = [{ frame: 49, count: 4 }];
      await injectRepeats({ tools, inputPath: clean, outputPath, encode: ENCODE, history: 'held', runs });
      return 50;
    },
  },
  {
    name: 'pictures missing in the times',
    make: async (outputPath) => {
      const holes = [{ frame: 50, count: 3 }];
      await injectTimestampGaps({ tools, inputPath: clean, outputPath, encode: ENCODE, holes });
      return 50;
    },
  },
];

describe('processVideo on HEVC clips', () => {
  for (const { name, make } of FAULTS) {
    it(`mends ${name} and keeps every picture of the other groups`, async () => {
      const broken = at(`${name}.mp4`);
      const first = await make(broken);
      const task = await makeTask(broken, at(`${name}-work`));
      const answer = await processVideo(task, { signal: new AbortController().signal, send: () => {} });
      const { report, resultPath } = mustBeOk(answer);
      expect(report.video).toMatchObject({ treatment: 'smart_render', reason: null });
      expect(report.checks.filter(({ passed }) => !passed)).toEqual([]);
      expect(report.result.media.videoCodec).toBe(report.original.media.videoCodec);
      const [before, after] = [await decodeHashes(broken), await decodeHashes(resultPath ?? '')];
      expect(after.warnings).toBe('');
      const head = first - GROUP;
      expect(after.hashes.slice(0, head)).toEqual(before.hashes.slice(0, head));
      const tail = before.hashes.length - (first + GROUP);
      expect(tail).toBeGreaterThan(GROUP);
      expect(after.hashes.slice(-tail)).toEqual(before.hashes.slice(-tail));
      expect(await soundHash(resultPath ?? '')).toBe(await soundHash(broken));
    });
  }
});
