import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probe } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { checkStructure } from '../damage/check-structure.ts';
import { agrees, listPackets, withRestarts } from './list-packets.ts';
import { readPackets, type PacketScan } from './read-packets.ts';
import { testTools as tools } from '#server/test/media-job.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'list-packets-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A clip of 3 s whose brightness jumps each second, so that encoders write intra pictures there. */
async function makeClip(name: string, options: string, input: string[] = []): Promise<string> {
  const file = path.join(folder, name);
  const pictures = "testsrc2=s=320x240:r=25:d=3,eq=brightness='0.4*mod(floor(t),2)':eval=frame";
  await runFfmpeg(
    {
      label: 'make a clip',
      inputs: [
        { path: pictures, lavfi: true, options: input },
        { path: 'sine=f=300:r=44100:d=3.01', lavfi: true },
      ],
      outputs: [{ path: file, options: options.split(' ') }],
      expectedDurationMs: null,
    },
    { tools },
  );
  return file;
}

/** The list from the tables and that of ffprobe, without the durations of pictures, which ffprobe guesses. */
async function bothLists(file: string) {
  const info = await probe(tools, file, 'mov');
  const listed = await listPackets(file, info);
  const { restarts } = await checkStructure(file, info);
  const told = await readPackets({ inputPath: file, info, tools });
  const bare = (scan: PacketScan | null) =>
    scan && { ...scan, video: scan.video.map((packet) => ({ ...packet, durationTicks: null })) };
  return { listed: bare(listed && restarts && withRestarts(listed, restarts)), told: bare(told) };
}

const X264 = '-c:v libx264 -preset veryfast';

describe('listPackets', () => {
  it.each([
    ['without reordering', `${X264} -bf 0 -g 25 -c:a aac`],
    ['with reordering and an edit list', `${X264} -bf 3 -g 50 -c:a aac`],
    ['with open groups', `${X264} -bf 2 -g 20 -x264-params open-gop=1:scenecut=0 -c:a aac`],
    [
      'with intra pictures and one reference',
      `${X264} -bf 0 -refs 1 -x264-params keyint=200:min-keyint=200:scenecut=60`,
    ],
    [
      'with intra pictures and more',
      `${X264} -bf 0 -refs 3 -x264-params keyint=200:min-keyint=200:scenecut=60`,
    ],
    ['with renewal in stripes', `${X264} -x264-params intra-refresh=1:keyint=20`],
    ['with sound that is cut short', `${X264} -c:a aac -t 2.17`],
    ['of HEVC', '-c:v libx265 -preset ultrafast -x265-params log-level=error:keyint=25 -tag:v hvc1 -c:a aac'],
    ['of QuickTime', `${X264} -c:a aac -f mov`],
    ['of a fine clock', `${X264} -video_track_timescale 90000 -c:a aac`],
  ])('lists a clip %s as ffprobe does', async (name, options) => {
    const { listed, told } = await bothLists(await makeClip(`${name.replaceAll(' ', '-')}.mp4`, options));
    expect(listed).toEqual(told);
  });

  it('leaves files to ffprobe whose edit list hides pictures, whose data are in fragments, or whose sound is raw', async () => {
    const plain = await makeClip('plain.mp4', `${X264} -bf 0 -g 75 -c:a aac`);
    const cut = path.join(folder, 'cut.mp4');
    await runFfmpeg(
      {
        label: 'cut',
        inputs: [{ path: plain, options: ['-ss', '1.02'] }],
        outputs: [{ path: cut, options: ['-c', 'copy'] }],
        expectedDurationMs: null,
      },
      { tools },
    );
    const fragments = await makeClip('fragments.mp4', `${X264} -movflags frag_keyframe+empty_moov`);
    const raw = await makeClip('raw.mov', `${X264} -c:a pcm_s16le`);
    for (const file of [cut, fragments, raw]) {
      expect(await listPackets(file, await probe(tools, file, 'mov'))).toBeNull();
    }
  });
});

describe('agrees', () => {
  it('accepts exactly the pictures that the list names, in display order', async () => {
    const file = await makeClip('agrees.mp4', `${X264} -bf 2`);
    const listed = await listPackets(file, await probe(tools, file, 'mov'));
    if (!listed) throw new Error('not listed');
    const times = listed.video.flatMap(({ ptsTicks }) => ptsTicks ?? []).sort((a, b) => a - b);
    expect(agrees(listed, times)).toBe(true);
    expect(agrees(listed, times.slice(1))).toBe(false);
    expect(agrees(listed, [null, ...times.slice(1)])).toBe(false);
    expect(agrees(listed, [...times.slice(0, -1), (times.at(-1) ?? 0) + 1])).toBe(false);
  });
});
