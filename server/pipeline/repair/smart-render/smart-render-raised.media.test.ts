import { afterAll, beforeAll, expect, it } from 'vitest';
import path from 'node:path';
import { makeMovingClip } from '#server/test/broken-clips.ts';
import { makeFolder, makeTask, mustBeOk, testTools as tools } from '#server/test/media-job.ts';
import { decodeHashes } from '#server/test/rendered-clips.ts';
import { processVideo } from '../../process-video.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
beforeAll(async () => {
  folder = await makeFolder();
});
afterAll(() => folder.remove());

const LOST = 3;
/** With six bits for a count, twice the usual distance leaves no room for this many. */
const FOUR = 4;

const X264 = '-c:v libx264 -preset veryfast -g 600';
const X265 =
  '-c:v libx265 -preset fast -tag:v hvc1 -x265-params log-level=error:frame-threads=1:pools=1:b-adapt=0';

interface Maker {
  readonly name: string;
  readonly encode: string;
  readonly first: number;
  readonly lost?: number;
  /** Half as wide and high; in H.264 B pictures of that size, too little is weighted to tell wrong counts. */
  readonly isSmall?: boolean;
}

const MAKERS: readonly Maker[] = [
  // A hole between two P pictures; all counts after it are raised.
  {
    name: 'no B pictures over it',
    encode: `${X264} -bf 2 -x264-params b-adapt=0:b-pyramid=none:bframes=2`,
    first: 49,
  },
  // B pictures on both sides, whose references are weighted by their counts.
  {
    name: 'weighted B pictures over it',
    encode: `${X264} -bf 3 -x264-params b-adapt=0:b-pyramid=normal`,
    first: 51,
  },
  // Their counts remain clear up to two and a half times as far apart.
  {
    name: 'weighted B pictures over four',
    encode: `${X264} -bf 3 -x264-params b-adapt=0:b-pyramid=normal`,
    first: 51,
    lost: FOUR,
  },
  { name: 'CAVLC', encode: `${X264} -bf 3 -x264-params b-adapt=0:cabac=0`, first: 50 },
  { name: 'three slices', encode: `${X264} -bf 3 -x264-params b-adapt=0:slices=3`, first: 50 },
  { name: 'HEVC', encode: `${X265}:bframes=4:keyint=250`, first: 51, isSmall: true },
  {
    name: 'HEVC, open groups',
    encode: `${X265}:bframes=3:keyint=30:min-keyint=30:scenecut=0`,
    first: 67,
    isSmall: true,
  },
];

it.each(MAKERS)(
  'pictures that were never counted get room, and all others keep what they show: $name',
  async ({ name, encode: coding, first, lost = LOST, isSmall = false }: Maker) => {
    const broken = path.join(folder.path, `${name}.mp4`);
    const hole = `select='not(between(n,${first},${first + lost - 1}))'`;
    const encode = `-vf ${hole} -fps_mode vfr ${coding}`;
    const size = isSmall ? { width: 320, height: 192 } : {};
    await makeMovingClip({
      tools,
      outputPath: broken,
      ...size,
      seconds: 3,
      sound: false,
      encode: encode.split(' '),
    });
    const task = await makeTask(broken, path.join(folder.path, `${name}-work`));
    const io = { signal: new AbortController().signal, send: () => {} };
    const { report, resultPath } = mustBeOk(await processVideo(task, io));
    // A small view is called dark as well.
    const damage = report.defects.filter(({ outcome }) => outcome !== 'flagged');
    expect(damage).toMatchObject([{ kind: 'dropped_frames', count: lost, outcome: 'repaired' }]);
    expect(report.checks.filter(({ passed }) => !passed)).toEqual([]);
    const [before, after] = [await decodeHashes(broken), await decodeHashes(resultPath ?? '')];
    expect(after.warnings).toBe('');
    expect(after.hashes.length).toBe(before.hashes.length + lost);
    expect(after.hashes.toSpliced(first, lost)).toEqual(before.hashes);
    expect(new Set(after.hashes.slice(first - 1, first + lost)).size).toBe(lost + 1);
  },
);
