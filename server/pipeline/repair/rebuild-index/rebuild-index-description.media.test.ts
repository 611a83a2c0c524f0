import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { testTools } from '#server/test/media-job.ts';
import {
  decodeHashes,
  encodeSource,
  renderLimits,
  sharedFolder,
  soundHash,
} from '#server/test/rendered-clips.ts';
import { openOriginal } from '../../open/open-original.ts';

const SOURCE = 'testsrc2=s=192x144:r=25:d=2[out0];anoisesrc=c=pink:a=0.3:r=44100:d=2:seed=1[out1]';
const AVC = '-c:v libx264 -preset veryfast -g 25 -pix_fmt yuv420p';
const HEVC = '-c:v libx265 -preset ultrafast -x265-params log-level=none -tag:v hvc1 -pix_fmt yuv420p';
const CLIPS = {
  avc: `${AVC} -c:a aac -b:a 96k`,
  pieces: `${AVC} -c:a aac -b:a 96k -movflags frag_keyframe+empty_moov+default_base_moof`,
  hevc: `${HEVC} -c:a aac -b:a 96k`,
};
type Clip = keyof typeof CLIPS;

describe('damaged settings of the pictures', () => {
  const folder = sharedFolder();
  const at = (name: string) => path.join(folder.path, name);

  beforeAll(async () => {
    for (const [name, options] of Object.entries(CLIPS)) {
      await encodeSource(SOURCE, at(`${name}.mp4`), options.split(' '));
    }
  });

  async function openHarmed(
    clip: Clip,
    box: string,
    places: Readonly<Record<number, number>>,
    earlier: string[] = [],
  ) {
    const bytes = await readFile(at(`${clip}.mp4`));
    const start = bytes.indexOf(box, 0, 'latin1') + 4;
    for (const [place, value] of Object.entries(places)) bytes.writeUInt8(value, start + Number(place));
    const inputPath = at(`harmed-${clip}.mp4`);
    await writeFile(inputPath, bytes);
    const rebuiltPath = at(`rebuilt-${clip}.mp4`);
    const referencePaths = earlier.map(at);
    return openOriginal({ inputPath, rebuiltPath, referencePaths, limits: renderLimits, tools: testTools });
  }

  it.each<[string, Clip, string, Record<number, number>]>([
    ['the lengths in them', 'avc', 'avcC', { 4: 0x7f, 5: 0xff, 6: 0xff, 7: 0xff }],
    ['the profile', 'avc', 'avcC', { 9: 0 }],
    ['one byte behind it', 'avc', 'avcC', { 12: 1 }],
    ['their name', 'avc', 'avcC', { [-4]: 0xba }],
    ['the lengths in those of a movie of fragments', 'pieces', 'avcC', { 6: 0x40 }],
    ['a length in those of HEVC', 'hevc', 'hvcC', { 23: 0xff, 26: 1 }],
    ['where the index in front of fragments ends', 'pieces', 'moov', { [-8]: 0x7f }],
  ])(
    'are put right, so that every picture and all of the sound come back: %s',
    async (_, clip, box, places) => {
      const opened = await openHarmed(clip, box, places);
      expect((await decodeHashes(opened.path)).hashes).toEqual(
        (await decodeHashes(at(`${clip}.mp4`))).hashes,
      );
      expect(await soundHash(opened.path)).toBe(await soundHash(at(`${clip}.mp4`)));
      expect(opened.rebuilt?.notes).not.toEqual([]);
    },
  );

  it('are those of an earlier clip if nothing else gives them', async () => {
    await encodeSource('mandelbrot=s=192x144:r=25', at('earlier.mp4'), `${AVC} -t 1`.split(' '));
    const opened = await openHarmed('avc', 'avcC', { 9: 0, 12: 0, 13: 0, 14: 0 }, ['earlier.mp4']);
    expect((await decodeHashes(opened.path)).hashes).toEqual((await decodeHashes(at('avc.mp4'))).hashes);
    expect(opened.rebuilt?.notes.join(' ')).toContain('earlier clip');
  });

  it.each(Object.keys(CLIPS))('are left alone when they are right: %s', async (name) => {
    const inputPath = at(`${name}.mp4`);
    const rebuiltPath = at('none.mp4');
    const input = { inputPath, rebuiltPath, referencePaths: [], limits: renderLimits, tools: testTools };
    expect((await openOriginal(input)).rebuilt).toBeNull();
  });
});
