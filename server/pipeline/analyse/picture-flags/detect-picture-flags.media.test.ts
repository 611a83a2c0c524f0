import { beforeAll, describe, expect, it } from 'vitest';
import { probe } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { DEFAULT_ENCODE, makeMovingClip } from '#server/test/broken-clips.ts';
import { testTools as tools } from '#server/test/media-job.ts';
import { sharedFolder } from '#server/test/rendered-clips.ts';
import { analysePicture } from '../analyse-picture.ts';

const folder = sharedFolder();
const FLAGS = ['shaky_footage', 'poor_lighting', 'blurry_section'];

/** A lit, sharp pan of 8 s. */
const pan = () => `${folder.path}/pan.mp4`;
beforeAll(() => makeMovingClip({ tools, outputPath: pan(), seconds: 8, scenery: 'pan', sound: false }));

/** Applies a filter to the pan and encodes it; gives its flags as kind, start and end in seconds. */
async function flagsOf(name: string, filter: string) {
  const outputPath = `${folder.path}/${name}.mp4`;
  await runFfmpeg(
    {
      label: 'change a clip',
      inputs: [{ path: pan() }],
      outputs: [{ path: outputPath, options: ['-vf', filter, ...DEFAULT_ENCODE, '-f', 'mp4'] }],
      expectedDurationMs: null,
    },
    { tools },
  );
  const info = await probe(tools, outputPath, 'mov');
  const { findings } = await analysePicture({ inputPath: outputPath, info, tools });
  return findings
    .filter(({ kind }) => FLAGS.includes(kind))
    .map(({ kind, startMs, endMs }) => [kind, startMs / 1000, endMs / 1000] as const);
}

/** A camera at rest except for hand shake of this share of the width. */
const shaken = (share: number) =>
  `scale=iw*1.1:ih*1.1,crop=iw/1.1:ih/1.1:` +
  `'(iw-ow)/2+between(t,3,6)*${share}*iw*(sin(19.5*t)+0.7*sin(29.5*t+1))/2':` +
  `'(ih-oh)/2+between(t,3,6)*${share}*iw*(sin(17*t+0.5)+0.7*sin(33.3*t))/2'`;

describe('flags of a coded clip', () => {
  it.each([
    ['blurred', 'blurry_section', "gblur=sigma=9:steps=5:enable='between(t,3,6)'"],
    [
      'dark',
      'poor_lighting',
      "lutyuv=y='16+(val-16)*0.3':u='128+(val-128)*0.3':v='128+(val-128)*0.3':enable='between(t,3,6)'",
    ],
    ['shaken', 'shaky_footage', shaken(0.02)],
  ])('name three seconds that are %s, and nothing else', async (name, kind, filter) => {
    const found = await flagsOf(name, filter);
    expect(found.map(([one]) => one)).toEqual([kind]);
    expect(Math.abs((found[0]?.[1] ?? 0) - 3)).toBeLessThan(0.5);
    expect(Math.abs((found[0]?.[2] ?? 0) - 6)).toBeLessThan(0.5);
  });

  it('are not raised for the unchanged clip', async () => {
    expect(await flagsOf('plain', 'null')).toEqual([]);
  });
});
