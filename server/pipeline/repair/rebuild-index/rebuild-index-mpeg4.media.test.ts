import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { testTools } from '#server/test/media-job.ts';
import { decodeHashes, encodeSource, renderLimits, sharedFolder } from '#server/test/rendered-clips.ts';
import { openOriginal } from '../../open/open-original.ts';

const CLIP = 'testsrc2=s=192x144:r=25:d=4[out0];anoisesrc=c=pink:a=0.3:r=44100:d=4:seed=4[out1]';
/** From the same device, with other content. */
const EARLIER = 'mandelbrot=s=192x144:r=25[out0];anoisesrc=c=pink:a=0.2:r=44100:seed=2[out1]';

describe('MPEG-4 without an index', () => {
  const folder = sharedFolder();
  const at = (name: string) => path.join(folder.path, name);

  async function harmed(name: string, options: string) {
    const encode = (source: string, target: string, seconds: number) =>
      encodeSource(source, at(target), `${options} -t ${seconds}`.split(' '));
    const clip = await encode(CLIP, name, 4);
    const bytes = await readFile(clip);
    const inputPath = at(`harmed-${name}`);
    await writeFile(inputPath, bytes.subarray(0, bytes.lastIndexOf('moov', undefined, 'latin1') - 4));
    return { clip, inputPath, earlier: await encode(EARLIER, `earlier-${name}`, 3) };
  }

  const openWith = (inputPath: string, referencePaths: string[]) =>
    openOriginal({
      inputPath,
      rebuiltPath: `${inputPath}.rebuilt`,
      referencePaths,
      limits: renderLimits,
      tools: testTools,
    });

  it.each([
    ['alone.mp4', '-c:v mpeg4 -q:v 4 -an'],
    ['b-pictures.mp4', '-c:v mpeg4 -q:v 4 -bf 2 -an'],
    ['mp2.mp4', '-c:v mpeg4 -q:v 4 -c:a mp2 -b:a 128k'],
    ['ac3.mov', '-c:v mpeg4 -q:v 4 -c:a ac3 -b:a 128k'],
  ])('is restored with every picture in its order, using an earlier clip: %s', async (name, options) => {
    const { clip, inputPath, earlier } = await harmed(name, options);
    await expect(openWith(inputPath, [])).rejects.toThrow(/healthy clip from the same device/);
    const opened = await openWith(inputPath, [earlier]);
    expect((await decodeHashes(opened.path)).hashes).toEqual((await decodeHashes(clip)).hashes);
    expect(opened.info.audio).toHaveLength(options.includes('-an') ? 0 : 1);
  });

  it('does not say that uncompressed sound beside it is all as it was', async () => {
    const { inputPath, earlier } = await harmed('pcm.mov', '-c:v mpeg4 -q:v 4 -c:a pcm_s16le');
    const { info, rebuilt } = await openWith(inputPath, [earlier]);
    expect(Math.abs((info.audio[0]?.durationMs ?? 0) - 4000)).toBeLessThan(200);
    const notes = rebuilt?.notes.join(' ');
    expect(notes).toContain('a tiny bit of sound around a frame may be missing');
    expect(notes).not.toContain('unchanged');
  });
});
