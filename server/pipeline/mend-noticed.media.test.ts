import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ChangeId } from '#common/fixes.ts';
import type { Noticed } from '#common/noticed.ts';
import { repairReport } from '#common/report.ts';
import { probe } from '#server/media/probe/probe.ts';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { injectHiddenDrops, injectRepeats, makeMovingClip } from '#server/test/broken-clips.ts';
import { testTools as tools } from '#server/test/media-job.ts';
import { encodeSource, renderLimits, sharedFolder, soundHash } from '#server/test/rendered-clips.ts';
import { analysePicture } from './analyse/analyse-picture.ts';
import { analyseVideo } from './analyse/analyse-video.ts';
import { ACT_CONFIDENCE } from './analyse/analysis.ts';
import { mendNoticed } from './mend-noticed.ts';
import { hashPackets } from './publish/packet-hashes.ts';
import { verifyClaims } from './publish/verify-claims.ts';
import { hashFile } from './steps/step-store.ts';

const folder = sharedFolder();
const file = (name: string) => path.join(folder.path, name);
const FPS = 30;
const msOf = (frame: number) => (frame * 1000) / FPS;

async function mend(inputPath: string, noticed: Partial<Noticed>) {
  const workDir = `${inputPath}.${JSON.stringify(noticed).replace(/\W+/g, '-')}`;
  await mkdir(workDir, { recursive: true });
  const shares: number[] = [];
  const task = {
    kind: 'apply-fixes',
    videoId: 'v',
    inputPath,
    inputSha256: await hashFile(inputPath),
    reelmendVersion: 'test',
    workDir,
    tools,
    limits: renderLimits,
    fixes: [],
  } as const;
  const asked = { places: [], soundShiftMs: 0, ...noticed };
  const result = await mendNoticed(task, asked, {
    signal: new AbortController().signal,
    send: (message) => void (message.type === 'fixes' && shares.push(message.share)),
  });
  if (!result.ok) throw new Error(`${result.message} ${result.detail}`);
  expect(shares).toEqual(shares.toSorted((a, b) => a - b));
  expect(shares.at(-1)).toBeCloseTo(1, 1);
  return { ...result, of: (id: ChangeId) => result.fixes.find((fix) => fix.id === id) };
}

const infoOf = (inputPath: string) => probe(tools, inputPath, 'mov');
const packets = async (inputPath: string, stream: 'v' | 'a') =>
  (await hashPackets({ path: inputPath, info: await infoOf(inputPath), tools }, stream)).map(
    ({ hash }) => hash,
  );

/** Numbers of the coded pictures that a clip does not share with another. */
async function changed(from: string, to: string): Promise<number> {
  const kept = new Set(await packets(to, 'v'));
  return (await packets(from, 'v')).filter((hash) => !kept.has(hash)).length;
}

/** The sound of a clip as long as its pictures, so that nothing says that any are missing. */
async function cutSound(inputPath: string, outputPath: string): Promise<string> {
  const { video } = await infoOf(inputPath);
  const seconds = String((video[0]?.durationMs ?? 0) / 1000);
  const args = ['-v', 'error', '-i', inputPath, '-t', seconds, '-i', inputPath, '-map', '0:v', '-map', '1:a'];
  await runTool('cut the sound', tools.ffmpeg, [...args, '-c', 'copy', '-t', seconds, outputPath]);
  return outputPath;
}

/** What a stranger with both files and the report finds. */
async function refuted(originalPath: string, made: Awaited<ReturnType<typeof mend>>) {
  const { clip } = made;
  if (!clip?.report) throw new Error('no version with a report');
  const report = repairReport.parse(JSON.parse(JSON.stringify(clip.report)));
  expect(report.result).toMatchObject({ sha256: clip.sha256, sizeBytes: clip.sizeBytes });
  const found = await verifyClaims({ originalPath, repairedPath: clip.path, report, tools });
  return { report, found, refuted: found.filter(({ confirmed }) => !confirmed) };
}

async function claims(inputPath: string) {
  const { findings } = await analysePicture({ inputPath, info: await infoOf(inputPath), tools });
  return findings.filter(({ kind, confidence }) => kind === 'stuttered_cut' && confidence >= ACT_CONFIDENCE);
}

describe('what somebody noticed in a clip', () => {
  it('is mended where a jump has no time in the sound, without moving anything', async () => {
    const [clean, jumping] = [file('clean.mp4'), file('jumping.mp4')];
    await makeMovingClip({ tools, outputPath: clean, seconds: 5, fps: FPS, width: 320, height: 180 });
    await injectHiddenDrops({
      tools,
      inputPath: clean,
      outputPath: jumping,
      holes: [{ frame: 70, count: 3 }],
    });
    const clip = await cutSound(jumping, file('no-time.mp4'));
    const made = await mend(clip, { places: [{ kind: 'jump', atMs: msOf(80) }] });
    const told = made.of('jump-here');
    expect(told).toMatchObject({ state: 'applied' });
    expect(told?.detail).toMatch(/4 frames were made anew .* nothing was moved in time/);
    const [figure] = told?.figures ?? [];
    expect(figure?.before ?? 0).toBeGreaterThan(200);
    expect(figure?.after ?? 999).toBeLessThan(0.7 * (figure?.before ?? 0));
    const to = made.clip?.path ?? '';
    expect(await packets(to, 'v')).toHaveLength((await packets(clip, 'v')).length);
    expect(await soundHash(to)).toBe(await soundHash(clip));
    const proof = await refuted(clip, made);
    expect(proof.refuted).toEqual([]);
    expect(proof.found.map(({ claim }) => claim)).toContain(
      'motion at the jump at 0:02.27, as a share of that around it',
    );
  }, 60_000);

  it('is mended where a freeze is marked, nothing else is, and the coded pictures around it stay', async () => {
    const [long, held] = [file('long.mp4'), file('held.mp4')];
    await makeMovingClip({ tools, outputPath: long, seconds: 6, fps: FPS, width: 320, height: 180 });
    const encode = '-c:v libx264 -preset veryfast -crf 20 -g 15 -threads 1'.split(' ');
    const runs = [
      { frame: 40, count: 4 },
      { frame: 130, count: 4 },
    ];
    await injectRepeats({ tools, inputPath: long, outputPath: held, history: 'held', runs, encode });
    expect(await claims(held)).toHaveLength(2);
    const made = await mend(held, { places: [{ kind: 'freeze', atMs: msOf(55) }], soundShiftMs: -80 });
    expect(made.of('freeze-here')).toMatchObject({ state: 'applied' });
    expect(made.of('freeze-here')?.detail).toMatch(/^4 repeated frames at 0:01\.37: 4 frames rebuilt/);
    const to = made.clip?.path ?? '';
    // The one that nobody marked is still there.
    expect((await claims(to)).map(({ firstFrame }) => firstFrame)).toEqual([131]);
    expect(await changed(held, to)).toBeLessThan(60);
    expect(made.clip?.posterPath).not.toBeNull();
    const proof = await refuted(held, made);
    expect(proof.refuted).toEqual([]);
    expect(
      proof.report.defects.map(({ kind, startMs, outcome }) => `${kind} ${Math.round(startMs)} ${outcome}`),
    ).toEqual(['stuttered_cut 1367 repaired', 'stuttered_cut 4367 left_alone', 'audio_sync 0 repaired']);
    expect(proof.report.defects[1]?.explanation).toBe('Nobody marked it, so it was left as it is.');
    expect(proof.found.map(({ claim }) => claim)).toContain('the sound was moved by -80 ms');
    // A report that promises more than was done is found out.
    const [first, ...others] = proof.report.defects;
    if (!first || !made.clip) throw new Error('no defect');
    const bolder = { ...first, measure: { ...first.measure, after: 1 } };
    const report = { ...proof.report, defects: [bolder, ...others] };
    const again = await verifyClaims({ originalPath: held, repairedPath: made.clip.path, report, tools });
    expect(again.filter(({ confirmed }) => !confirmed).map(({ claim }) => claim)).toEqual([
      'motion at the freeze at 0:01.37, as a share of that around it',
    ]);
  }, 60_000);

  it('is a sound that comes late or early: the pictures and the coded sound stay', async () => {
    const clip = file('voice.mp4');
    await makeMovingClip({ tools, outputPath: clip, seconds: 4, fps: FPS, width: 320, height: 180 });
    for (const soundShiftMs of [-120, 85]) {
      const made = await mend(clip, { soundShiftMs });
      expect(made.of('sound-moved')).toMatchObject({ state: 'applied' });
      expect(made.of('sound-moved')?.detail).toContain(soundShiftMs < 0 ? '120 ms earlier' : '85 ms later');
      expect(made.clip?.soundMovedMs).toBe(soundShiftMs);
      const [figure] = made.of('sound-moved')?.figures ?? [];
      expect(Math.abs((figure?.after ?? 0) - soundShiftMs)).toBeLessThan(5);
      const to = made.clip?.path ?? '';
      expect(await packets(to, 'v')).toEqual(await packets(clip, 'v'));
      const sound = await packets(clip, 'a');
      expect((await packets(to, 'a')).every((hash) => sound.includes(hash))).toBe(true);
      const proof = await refuted(clip, made);
      expect(proof.refuted).toEqual([]);
    }
  }, 60_000);

  it('stays where somebody moved the sound when the clip is uploaded again', async () => {
    const made = await mend(file('voice.mp4'), { soundShiftMs: 240 });
    const inputPath = made.clip?.path ?? '';
    const look = { inputPath, info: await infoOf(inputPath), tools };
    const plain = await analyseVideo({ ...look, believesFile: false });
    expect(plain.findings.map(({ kind }) => kind)).toContain('audio_sync');
    const told = await analyseVideo(look);
    expect(told.findings.map(({ kind }) => kind)).not.toContain('audio_sync');
    expect(told.notes).toContain(
      'The sound was moved by hand before: it comes 240 ms later than recorded, which is kept.',
    );
    // Moved on, the clip says how far in all.
    const on = (await mend(inputPath, { soundShiftMs: -40 })).clip?.path ?? '';
    expect((await analyseVideo({ ...look, inputPath: on, info: await infoOf(on) })).soundMovedMs).toBe(200);
  }, 60_000);

  it('changes nothing where nothing is to be seen, and says so for each mark', async () => {
    const source =
      'color=gray:s=320x180:r=30:d=4,noise=alls=100:all_seed=5,boxblur=3:2,eq=contrast=3,select=eq(n\\,0),loop=120:1,setpts=N/30/TB,scroll=h=0.01';
    const clip = await encodeSource(source, file('even.mp4'), ['-c:v', 'libx264', '-crf', '18', '-an']);
    const places = [
      { kind: 'freeze', atMs: 1500 },
      { kind: 'jump', atMs: 2500 },
    ] as const;
    const made = await mend(clip, { places: [...places], soundShiftMs: 100 });
    expect(made.clip).toBeNull();
    expect(made.fixes.map(({ id, state }) => `${id} ${state}`)).toEqual([
      'freeze-here unchanged',
      'jump-here unchanged',
      'sound-moved unchanged',
    ]);
    expect(made.of('freeze-here')?.detail).toMatch(/^At 0:01\.50: no frames were found/);
    expect(made.of('jump-here')?.detail).toMatch(/^At 0:02\.50: no step was found/);
    expect(made.of('sound-moved')?.detail).toBe('This clip has no sound.');
  }, 60_000);

  it('returns a cancel as a value', async () => {
    const stop = new AbortController();
    stop.abort();
    const inputPath = file('even.mp4');
    const workDir = file('cancelled');
    await mkdir(workDir, { recursive: true });
    const task = {
      kind: 'apply-fixes',
      videoId: 'v',
      inputPath,
      inputSha256: '',
      reelmendVersion: 'test',
      workDir,
      tools,
      limits: renderLimits,
      fixes: [],
    } as const;
    const noticed = { places: [{ kind: 'freeze' as const, atMs: 100 }], soundShiftMs: 0 };
    expect(await mendNoticed(task, noticed, { signal: stop.signal, send: () => undefined })).toMatchObject({
      ok: false,
      code: 'cancelled',
    });
  });
});
