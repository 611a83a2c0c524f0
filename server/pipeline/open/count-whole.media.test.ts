import { open, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readMovie } from '#server/media/mp4/movie.ts';
import { readSamples } from '#server/media/mp4/sample-table.ts';
import { probe } from '#server/media/probe/probe.ts';
import { testTools } from '#server/test/media-job.ts';
import { encodeSource, sharedFolder } from '#server/test/rendered-clips.ts';
import { countWhole } from './count-whole.ts';

const SOURCE = 'testsrc2=s=192x144:r=25:d=2[out0];anoisesrc=c=pink:a=0.3:r=44100:d=2:seed=1[out1]';

describe('what two readings of the same media hold', () => {
  const folder = sharedFolder();

  it('counts intact pictures and intact frames of sound, and neither where other data replaces them', async () => {
    const clip = path.join(folder.path, 'whole.mp4');
    await encodeSource(SOURCE, clip, '-c:v libx264 -preset veryfast -c:a aac -b:a 96k'.split(' '));
    const handle = await open(clip);
    const { tracks } = await readMovie(handle);
    await handle.close();
    const [pictures = [], sounds = []] = ['vide', 'soun'].map((kind) =>
      tracks.flatMap(({ handler, stbl }) => (handler === kind ? readSamples(stbl) : [])),
    );
    const [picture, ...lost] = [pictures[20], sounds[30], sounds[40]];
    const bytes = await readFile(clip);
    for (const sample of [picture, ...lost]) {
      bytes.fill(0x55, sample?.offset, (sample?.offset ?? 0) + (sample?.sizeBytes ?? 0));
    }
    const harmed = path.join(folder.path, 'harmed.mp4');
    await writeFile(harmed, bytes);
    const read = async (file: string) => ({ path: file, info: await probe(testTools, file, 'mov') });
    const counted = await countWhole(await read(harmed), await read(clip), testTools);
    const sum = (samples: typeof sounds) => samples.reduce((all, { sizeBytes }) => all + sizeBytes, 0);
    expect(counted?.mended).toEqual({ pictures: pictures.length, soundBytes: sum(sounds) });
    expect(counted?.asItIs).toEqual({
      pictures: pictures.length - 1,
      soundBytes: sum(sounds) - sum(lost.flatMap((sample) => sample ?? [])),
    });
  });
});
