import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { probe } from '#server/media/probe.ts';
import { runFfmpeg } from '#server/media/run-ffmpeg.ts';
import { runTool } from '#server/media/tools.ts';
import { testTools as tools } from '#server/test/media-job.ts';
import { decodeHashes, encodeSource, sharedFolder, soundHash } from '#server/test/rendered-clips.ts';
import {
  expectedPictures,
  packetTimes,
  renderEdit,
  shownTimes,
  threeChanges,
} from '#server/test/rendered-edits.ts';

const folder = sharedFolder();

const PICTURE = 'testsrc2=s=336x208:r=30:d=4';
const SOUND = 'sine=f=440:d=4:r=44100';

interface Maker {
  readonly name: string;
  /** Settings of the encoder behind those of all clips. */
  readonly params: string;
  readonly filter?: string;
  readonly source?: string;
  readonly pixelFormat?: string;
  readonly tag?: 'hvc1' | 'hev1';
  /** Options of a second, copying run. */
  readonly remux?: { readonly input?: string[]; readonly output?: string[] };
  readonly extension?: string;
}

const MAKERS: readonly Maker[] = [
  { name: 'closed-groups', params: 'open-gop=0:bframes=3:b-pyramid=1' },
  { name: 'open-groups', params: 'open-gop=1:bframes=4:b-pyramid=1' },
  { name: 'open-groups-ten-bit', params: 'open-gop=1:bframes=3', pixelFormat: 'yuv420p10le' },
  { name: 'decodable-leading-pictures', params: 'open-gop=0:radl=2:bframes=3' },
  { name: 'several-slices', params: 'open-gop=0:bframes=2:slices=3' },
  { name: 'temporal-layers', params: 'open-gop=0:bframes=3:temporal-layers=1' },
  { name: 'one-long-group', params: 'keyint=600:bframes=3' },
  { name: 'groups-of-two', params: 'keyint=2:min-keyint=1' },
  {
    name: 'full-range-colours',
    params: 'open-gop=1:bframes=2:range=full:colorprim=9:transfer=18:colormatrix=9:chromaloc=2:sar=2',
    pixelFormat: 'yuv420p10le',
  },
  { name: 'scaling-lists', params: 'open-gop=0:bframes=2:scaling-list=default' },
  { name: 'not-whole-blocks', params: 'open-gop=1:bframes=2', source: 'testsrc2=s=322x182:r=30:d=4' },
  {
    name: 'variable-rate',
    params: 'open-gop=1:bframes=3',
    filter: "select='not(eq(mod(n,7),3))'",
  },
  {
    name: 'rotated',
    params: 'open-gop=1:bframes=2',
    remux: { output: ['-metadata:s:v:0', 'rotate=90'] },
  },
  { name: 'sets-in-band', params: 'open-gop=1:bframes=2:repeat-headers=1', tag: 'hev1' },
  { name: 'quicktime', params: 'open-gop=1:bframes=2', extension: 'mov' },
  { name: 'edit-list-start', params: 'open-gop=1:bframes=2', remux: { input: ['-ss', '1.4'] } },
  { name: 'late-video', params: 'open-gop=0:bframes=2', remux: { input: ['-itsoffset', '0.5'] } },
];

async function make(maker: Maker): Promise<string> {
  const extension = maker.extension ?? 'mp4';
  const tag = ['-tag:v', maker.tag ?? 'hvc1'];
  const first = path.join(folder.path, `${maker.name}-made.${extension}`);
  await encodeSource(`${maker.source ?? PICTURE}[out0];${SOUND}[out1]`, first, [
    ...(maker.filter ? ['-vf', maker.filter, '-fps_mode', 'vfr'] : []),
    '-pix_fmt',
    maker.pixelFormat ?? 'yuv420p',
    ...'-c:v libx265 -preset ultrafast -x265-params'.split(' '),
    `log-level=error:scenecut=0:keyint=30:min-keyint=15:${maker.params}`,
    ...tag,
    ...'-c:a aac -movflags +faststart'.split(' '),
  ]);
  if (!maker.remux) return first;
  const second = path.join(folder.path, `${maker.name}.${extension}`);
  const { input = [], output = [] } = maker.remux;
  await runFfmpeg(
    {
      label: `remux ${maker.name}`,
      inputs: [{ path: first, options: input }, { path: first }],
      outputs: [{ path: second, options: ['-map', '0:v', '-map', '1:a', '-c', 'copy', ...tag, ...output] }],
      expectedDurationMs: null,
    },
    { tools },
  );
  return second;
}

/** What a decoder says of each picture's colours and shape, all the same ones counted once. */
async function colours(file: string): Promise<string[]> {
  const entries =
    'frame=color_range,color_space,color_primaries,color_transfer,chroma_location,sample_aspect_ratio';
  const { stdout } = await runTool('colours', tools.ffprobe, [
    ...`-v error -select_streams v:0 -show_entries ${entries} -of csv=p=0`.split(' '),
    file,
  ]);
  return [...new Set(stdout.trim().split('\n'))];
}

describe('smartRender of HEVC', () => {
  for (const maker of MAKERS) {
    it(`keeps all that an edit does not touch (${maker.name})`, async () => {
      const file = await make(maker);
      const times = await shownTimes(file);
      const edit = maker.name === 'edit-list-start' ? threeChanges(times).slice(0, 1) : threeChanges(times);
      const { output, result, shares, info } = await renderEdit(folder.path, file, maker.name, edit);
      if (!result.done) throw new Error(result.reason);

      const before = await decodeHashes(file);
      const after = await decodeHashes(output);
      expect(before.warnings).toBe('');
      expect(after.warnings).toBe('');
      const planned = expectedPictures(times, edit);
      expect(after.hashes).toHaveLength(planned.length);
      const inSpan = (frame: number) =>
        result.reencodedSpans.some((span) => frame >= span.firstFrame && frame < span.endFrame);
      const kept = planned.filter(({ from }) => from !== null && !inSpan(from));
      if (maker.name !== 'one-long-group') expect(kept.length).toBeGreaterThan(20);
      planned.forEach(({ from }, index) => {
        if (from === null || inSpan(from)) return;
        expect(after.hashes[index], `picture ${from}`).toBe(before.hashes[from]);
      });

      expect(await shownTimes(output)).toEqual(planned.map(({ pts }) => pts));
      const packets = await packetTimes(output);
      packets.forEach((packet, index) => {
        expect(packet.dts).toBeGreaterThan(packets[index - 1]?.dts ?? -Infinity);
        expect(packet.dts).toBeLessThanOrEqual(packet.pts);
      });
      expect(await soundHash(output)).toBe(await soundHash(file));
      expect(await colours(output)).toEqual(await colours(file));

      const again = await probe(tools, output, 'mov');
      const [old, fresh] = [info.video[0], again.video[0]];
      for (const field of [
        'rotation',
        'pixelFormat',
        'profile',
        'startMs',
        'codecTag',
        'width',
        'height',
      ] as const) {
        expect(fresh?.[field]).toBe(old?.[field]);
      }
      expect(shares.at(-1)).toBe(1);
      expect(result.heldFrames).toEqual([]);
    });
  }
});
