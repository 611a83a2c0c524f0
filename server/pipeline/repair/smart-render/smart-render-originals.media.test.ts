import { open } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { displayOrder } from '#server/media/mp4/display-order.ts';
import { probe } from '#server/media/probe/probe.ts';
import { DEFAULT_ENCODE, makeMovingClip } from '#server/test/broken-clips.ts';
import { makeFolder, testTools as tools } from '#server/test/media-job.ts';
import { createGroupDecoder } from './smart-render-originals.ts';
import { openSmartSource } from './smart-render-source.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
const clip = () => path.join(folder.path, 'clip.mp4');
/** Pictures from one key picture to the next. */
const GROUP = 10;
beforeAll(async () => {
  folder = await makeFolder();
  const encode = [...DEFAULT_ENCODE, '-x264-params', `keyint=${GROUP}:min-keyint=${GROUP}:scenecut=0`];
  await makeMovingClip({
    tools,
    outputPath: clip(),
    seconds: 2,
    width: 64,
    height: 64,
    sound: false,
    encode,
  });
});
afterAll(() => folder.remove());

/** What a decoder opens for the picture `wanted`: its options, and the first place it decodes. */
async function decoded(wanted: number, damagedPlaces: readonly number[]) {
  const file = await open(clip(), 'r');
  try {
    const answer = await openSmartSource(file, await probe(tools, clip(), 'mov'));
    if (!answer.ok) throw new Error(answer.reason);
    const { source } = answer;
    const order = displayOrder(source.samples, source.shownEdit.startTicks, source.shownEdit.endTicks);
    const keys = source.samples.flatMap(({ sync }, sample) => (sync ? [sample] : []));
    const cuts = keys.map((sample) => ({ sample, place: order.placeOf[sample] ?? 0, leaning: [] }));
    const [decodeFrom] = cuts;
    if (!decodeFrom) throw new Error('The clip has no key picture.');
    const decoder = createGroupDecoder({
      source,
      order,
      cuts,
      decodeFrom,
      damaged: new Set(damagedPlaces),
      workDir: folder.path,
      pixelFormat: 'yuv420p',
      pictureBytes: 64 * 96,
      tools,
      threads: 2,
      warmUp: 16,
    });
    const { input, ticksOf } = await decoder.part([wanted], `part-${wanted}`);
    const options = input.options ?? [];
    const first = order.samples.findIndex((_, place) => ticksOf(place) !== undefined);
    return { threads: options[options.indexOf('-threads') + 1], first };
  } finally {
    await file.close();
  }
}

describe('originals that are re-encoded', () => {
  it('are decoded from the key picture before them, by as many threads as there are', async () => {
    expect(await decoded(34, [])).toEqual({ threads: '2', first: 30 });
  });

  it('are decoded by one thread and from earlier on if they are damaged', async () => {
    expect(await decoded(34, [34])).toEqual({ threads: '1', first: 10 });
  });

  it('are not decoded from a damaged key picture on', async () => {
    const { first } = await decoded(59, [50, 59]);
    expect(first).toBe(40);
  });
});
