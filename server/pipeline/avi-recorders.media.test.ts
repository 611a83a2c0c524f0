import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probe } from '#server/media/probe/probe.ts';
import type { RepairReport } from '#common/report.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { makeMovingClip } from '#server/test/broken-clips.ts';
import { replaceSound } from '#server/test/broken-sound.ts';
import { makeFolder, makeTask, mustBeOk, testTools as tools } from '#server/test/media-job.ts';
import { pictureTypes } from '#server/test/rendered-clips.ts';
import { gustingWind, mixAtSnr, voiceLike } from '#server/test/synthetic-sound.ts';
import { countBytes, leaveUncoded } from '#server/test/uncoded-avi.ts';
import { readPackets } from './analyse/packets/read-packets.ts';
import { verifyClaims } from './publish/verify-claims.ts';
import { processVideo } from './process-video.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
const at = (name: string) => path.join(folder.path, name);

beforeAll(async () => {
  folder = await makeFolder();
  await makeMovingClip({ tools, seconds: 4, width: 320, height: 192, outputPath: at('clean.mp4') });
});
afterAll(() => folder.remove());

async function code(name: string, options: string, source = 'clean.mp4') {
  const outputs = [{ path: at(name), options: options.split(' ') }];
  await runFfmpeg(
    { label: 'code', inputs: [{ path: at(source) }], outputs, expectedDurationMs: null },
    { tools },
  );
}

async function mend(name: string) {
  const task = await makeTask(at(name), at(`${name}-work`));
  return mustBeOk(await processVideo(task, { signal: new AbortController().signal, send: () => undefined }));
}

/** Claims of a report that its files do not bear out. */
async function refuted(name: string, report: RepairReport, resultPath: string | null) {
  const files = { originalPath: at(name), repairedPath: resultPath ?? '' };
  const claims = await verifyClaims({ ...files, report, tools });
  return claims.filter(({ confirmed }) => !confirmed);
}

describe('MPEG-4 in AVI as recorders of screens write it', () => {
  it('is intact where packets say that the picture stays, and each coded picture is carried over', async () => {
    await code('shown.avi', '-an -vf fps=10,fps=30 -c:v mpeg4 -q:v 3 -bf 0 -g 300 -f avi');
    await leaveUncoded(at('shown.avi'), at('still.avi'), (place) => place > 30 && place % 3 !== 0);
    const coded = await pictureTypes(at('still.avi'));
    expect(coded.length).toBeLessThan(70);
    const { report, resultPath } = await mend('still.avi');
    expect(report.defects.filter(({ outcome }) => outcome !== 'flagged')).toEqual([]);
    expect(report.notes.join(' ')).not.toMatch(/missing|ends early/);
    expect(await pictureTypes(resultPath ?? '')).toHaveLength(coded.length);
    expect(await refuted('still.avi', report, resultPath)).toEqual([]);
  });

  it('lacks nothing where it stays for a moment and goes on as before, and neither does the result', async () => {
    const held = 'loop=3:1:20,loop=5:1:93,setpts=N/30/TB,select=not(eq(n\\,53))';
    await code('moment.avi', `-an -vf ${held} -fps_mode passthrough -c:v mpeg4 -q:v 3 -bf 0 -g 300 -f avi`);
    const isHeld = (place: number) => (place > 20 && place <= 23) || (place > 93 && place <= 98);
    await leaveUncoded(at('moment.avi'), at('held.avi'), isHeld);
    const { report, resultPath } = await mend('held.avi');
    const mended = report.defects.filter(({ outcome }) => outcome !== 'flagged');
    expect(mended.map(({ kind, startMs }) => [kind, Math.round(startMs)])).toEqual([
      ['dropped_frames', 1733],
    ]);
    expect(report.notes.join(' ')).not.toMatch(/once more/);
    expect(await pictureTypes(resultPath ?? '')).toHaveLength(120);
    expect(await refuted('held.avi', report, resultPath)).toEqual([]);
  });

  it('lacks a picture where an empty place stands in motion, and the step behind it is farther', async () => {
    const lost = '-an -vf select=not(eq(n\\,50)+between(n\\,80\\,81)) -fps_mode passthrough';
    await code('lost.avi', `${lost} -c:v mpeg4 -q:v 3 -bf 0 -f avi`);
    const { report, resultPath } = await mend('lost.avi');
    const holes = report.defects.filter(({ kind }) => kind === 'dropped_frames');
    expect(holes.map(({ startMs, outcome }) => [Math.round(startMs), outcome])).toEqual([
      [1633, 'repaired'],
      [2633, 'repaired'],
    ]);
    expect(await pictureTypes(resultPath ?? '')).toHaveLength(120);
    expect(await refuted('lost.avi', report, resultPath)).toEqual([]);
  });

  it.each([
    ['mpeg4', '-c:v mpeg4 -q:v 3 -bf 0'],
    ['h264', '-c:v copy'],
  ])(
    'keeps a sound of varying bit rate whose times AVI counts from its bytes: %s',
    async (name, pictures) => {
      await code(`${name}.avi`, `${pictures} -c:a libmp3lame -q:a 4 -f avi`);
      await countBytes(at(`${name}.avi`), at(`${name}-bytes.avi`));
      const { report, resultPath } = await mend(`${name}-bytes.avi`);
      expect(report.defects.filter(({ kind }) => kind === 'audio_sync')).toEqual([]);
      expect(report.notes.join(' ')).toContain('does not say when each part of the sound plays');
      const inputPath = resultPath ?? '';
      const { audio } = await readPackets({ inputPath, info: await probe(tools, inputPath, 'mov'), tools });
      const times = audio?.ptsTicks ?? [];
      const steps = times.slice(1, -1).map((time, place) => time - (times[place] ?? time));
      expect(times.length).toBeGreaterThan(150);
      expect(Math.max(...steps) - Math.min(...steps)).toBeLessThan(30);
    },
  );

  it('puts sound whose wind was taken out where such a sound begins by its samples', async () => {
    const [seconds, rateHz] = [8, 48_000];
    await makeMovingClip({ tools, seconds, width: 320, height: 192, outputPath: at('calm.mp4') });
    const wind = gustingWind(seconds, rateHz, 1);
    const channels = [mixAtSnr(voiceLike(seconds, rateHz, 4), wind, 5)];
    await replaceSound({ tools, inputPath: at('calm.mp4'), outputPath: at('windy.mp4'), rateHz, channels });
    await code('windy.avi', '-c:v mpeg4 -q:v 3 -bf 0 -c:a libmp3lame -q:a 4 -f avi', 'windy.mp4');
    await countBytes(at('windy.avi'), at('windy-bytes.avi'));
    const { report, resultPath } = await mend('windy-bytes.avi');
    const mended = report.defects.filter(({ outcome }) => outcome !== 'flagged');
    expect(new Set(mended.map(({ kind }) => kind))).toEqual(new Set(['wind_noise']));
    const { audio } = await probe(tools, resultPath ?? '', 'mov');
    expect(audio[0]?.startMs).toBeLessThan(3);
  });
});
