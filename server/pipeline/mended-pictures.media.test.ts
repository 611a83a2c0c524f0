import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { probe } from '#server/media/probe/probe.ts';
import {
  corruptSamples,
  DEFAULT_ENCODE,
  makeMovingClip,
  type CorruptSamplesInput,
  type Scenery,
} from '#server/test/broken-clips.ts';
import { makeFolder, makeTask, mustBeOk, testTools as tools } from '#server/test/media-job.ts';
import { ACT_CONFIDENCE } from './analyse/analysis.ts';
import { analyseVideo } from './analyse/analyse-video.ts';
import { processVideo } from './process-video.ts';
import { verifyClaims } from './publish/verify-claims.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
const at = (name: string) => path.join(folder.path, name);
beforeAll(async () => {
  folder = await makeFolder();
});
afterAll(() => folder.remove());

const encode = [...DEFAULT_ENCODE, '-x264-params', 'keyint=30:min-keyint=30:scenecut=0:bframes=0:ref=1'];

async function process(inputPath: string, name: string) {
  const io = { signal: new AbortController().signal, send: () => undefined };
  return mustBeOk(await processVideo(await makeTask(inputPath, at(`${name}-work`)), io));
}

/** Defects that would be repaired in a clip, by its pictures alone or with what it notes about itself. */
async function defectsOf(inputPath: string, believesFile: boolean) {
  const info = await probe(tools, inputPath, 'mov');
  const { findings } = await analyseVideo({ inputPath, info, tools, believesFile });
  const defects = ['stuttered_cut', 'dropped_frames', 'corrupted_section'];
  return findings.filter(({ kind, confidence }) => defects.includes(kind) && confidence >= ACT_CONFIDENCE);
}

type Torn = Pick<CorruptSamplesInput, 'frames' | 'fault'>;

/** Results by what was mended in them; two tests go on from the same one. */
const mended = new Map<string, Promise<string>>();

function mendTorn(scenery: Scenery, torn: Torn): Promise<string> {
  const name = `${scenery}-${torn.fault}-${torn.frames.join('-')}`;
  const result = mended.get(name) ?? mendNamed(name, scenery, torn);
  mended.set(name, result);
  return result;
}

async function mendNamed(name: string, scenery: Scenery, torn: Torn): Promise<string> {
  const inputPath = at(`${scenery}.mp4`);
  const clip = { tools, seconds: 4, width: 320, height: 192, sound: false, scenery, encode };
  if (!existsSync(inputPath)) await makeMovingClip({ ...clip, outputPath: inputPath });
  const places = { outputPath: at(`${name}-torn.mp4`), seed: 5, amount: 64, place: 0.1 };
  await corruptSamples({ tools, inputPath, ...places, ...torn });
  const { report, resultPath } = await process(at(`${name}-torn.mp4`), name);
  expect(report.defects).toContainEqual(
    expect.objectContaining({ kind: 'corrupted_section', action: 'concealed_frames' }),
  );
  return resultPath ?? '';
}

it.each<[string, Scenery, Torn, string]>([
  ['jumps out of a lost group', 'zoom', { frames: [60], fault: 'lost' }, 'dropped_frames'],
  ['freezes of a lost group', 'mover', { frames: [60], fault: 'lost' }, 'stuttered_cut'],
])('%s that a repair kept are not mended in its result', async (_, scenery, torn, kind) => {
  const result = await mendTorn(scenery, torn);
  expect(await defectsOf(result, false)).toContainEqual(expect.objectContaining({ kind }));
  expect(await defectsOf(result, true)).toEqual([]);
  const again = await process(result, `${scenery}-again`);
  expect(again.report.outcome).toBe('unchanged');
  expect(again.report.notes).toContainEqual(expect.stringContaining('was mended here before'));
});

it('a jump out of the smear of wrong bytes, over which no motion goes on, is no lost picture even where the file does not say so', async () => {
  const result = await mendTorn('zoom', { frames: [66], fault: 'random' });
  expect(await defectsOf(result, false)).toEqual([]);
  expect(await defectsOf(result, true)).toEqual([]);
  const again = await process(result, 'smear-again');
  expect(again.report.outcome).toBe('unchanged');
  expect(again.report.notes).toContainEqual(expect.stringContaining('was mended here before'));
});

it('a result that is damaged and mended once more says what both repairs have kept', async () => {
  const result = await mendTorn('zoom', { frames: [66], fault: 'random' });
  const damage = { frames: [20], fault: 'random', seed: 7, amount: 64, place: 0.1 } as const;
  await corruptSamples({ tools, inputPath: result, outputPath: at('twice-torn.mp4'), ...damage });
  const second = await process(at('twice-torn.mp4'), 'twice-again');
  const claims = await verifyClaims({
    originalPath: at('twice-torn.mp4'),
    repairedPath: second.resultPath ?? '',
    report: second.report,
    tools,
  });
  expect(claims.filter(({ confirmed }) => !confirmed)).toEqual([]);
  expect(await defectsOf(second.resultPath ?? '', true)).toEqual([]);
});
