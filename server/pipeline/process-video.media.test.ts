import { existsSync } from 'node:fs';
import { copyFile, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Defect, DefectKind, RepairReport } from '#common/report.ts';
import { PROCESSING_STEPS } from '#common/video.ts';
import { probe } from '#server/media/probe/probe.ts';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import {
  corruptSamples,
  injectRepeats,
  injectTimestampGaps,
  makeMovingClip,
  misplacePictures,
} from '#server/test/broken-clips.ts';
import { moveSound, replaceSound } from '#server/test/broken-sound.ts';
import { voiceLike } from '#server/test/synthetic-sound.ts';
import { makeFolder, makeTask, mustBeOk, testTools } from '#server/test/media-job.ts';
import { runInProcess } from '#server/test/run-in-process.ts';
import { analysePicture } from './analyse/analyse-picture.ts';
import type { Finding } from './analyse/analysis.ts';
import { renumbered } from './analyse/decode/kept-pictures.ts';
import { processVideo } from './process-video.ts';
import { lookAgain } from './publish/look-again.ts';
import { verifyClaims } from './publish/verify-claims.ts';
import { hashFile } from './steps/step-store.ts';
import type { ProcessVideoResult, WorkerMessage } from './worker-protocol.ts';

const tools = testTools;
let folder: Awaited<ReturnType<typeof makeFolder>>;
let clean = '';
const at = (name: string) => path.join(folder.path, name);

async function mend(
  inputPath: string,
  work: string,
): Promise<{ result: ProcessVideoResult; messages: WorkerMessage[] }> {
  const messages: WorkerMessage[] = [];
  const result = await processVideo(await makeTask(inputPath, at(work)), {
    signal: new AbortController().signal,
    send: (message) => messages.push(message),
  });
  return { result, messages };
}

const DAMAGE = new Set<DefectKind>(['stuttered_cut', 'dropped_frames', 'corrupted_section']);

/** Defects that a repair exists for; the flags for shake, light and blur are tested elsewhere. */
function damageOf(report: RepairReport): Defect[] {
  return report.defects.filter(({ outcome }) => outcome !== 'flagged');
}

async function findingsOf(filePath: string) {
  const info = await probe(tools, filePath, 'mov');
  const { findings } = await analysePicture({ inputPath: filePath, info, tools });
  return findings.filter(({ kind, confidence }) => confidence >= 0.6 && DAMAGE.has(kind));
}

async function soundStartMs(filePath: string): Promise<number> {
  const info = await probe(tools, filePath, 'mov');
  return (info.audio[0]?.startMs ?? Number.NaN) - (info.video[0]?.startMs ?? 0);
}

beforeAll(async () => {
  folder = await makeFolder();
  clean = at('clean.mp4');
  await makeMovingClip({ tools, outputPath: clean, seconds: 4, width: 320, height: 180 });
});
afterAll(() => folder.remove());

describe('processVideo on a clip with nothing wrong', () => {
  it('returns the original, says so in every step, and reports a monotone share that ends at 1', async () => {
    const { result, messages } = await mend(clean, 'clean');
    const { report, resultPath, resultSha256, issues, fixesApplied } = mustBeOk(result);
    expect(resultPath).toBeNull();
    expect(resultSha256).toBe(await hashFile(clean));
    expect(report.outcome).toBe('unchanged');
    expect(issues).toMatchObject({ stutteredCuts: 0, droppedFrames: 0, corruptedSections: 0 });
    expect(issues).toMatchObject({ audioSyncIssues: false, windNoise: false });
    expect(fixesApplied).toEqual({});
    expect(report.steps.map(({ step }) => step)).toEqual(PROCESSING_STEPS.map(({ id }) => id));
    expect(report.steps.every(({ note }) => note.length > 0)).toBe(true);
    const shares = messages.flatMap((message) => (message.type === 'progress' ? [message.share] : []));
    expect(shares.length).toBeGreaterThan(2);
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
    expect(shares.at(-1)).toBe(1);
  });
});

describe('processVideo on planted faults', () => {
  it('rebuilds held pictures, keeps all others bit-exact, and nothing is found afterwards', async () => {
    const broken = at('held.mp4');
    const truth = await injectRepeats({
      tools,
      inputPath: clean,
      outputPath: broken,
      history: 'held',
      runs: [{ frame: 40, count: 3 }],
    });
    const { result, messages } = await mend(broken, 'held');
    const { report, resultPath } = mustBeOk(result);
    const told = messages.flatMap((message) => (message.type === 'findings' ? [message.findings] : []));
    expect(told[0]?.defects).toContainEqual(
      expect.objectContaining({ id: 'stuttered_cut-1', state: 'found', count: 3 }),
    );
    expect(told.at(-1)?.defects.map(({ id, state }) => [id, state])).toEqual(
      report.defects.map(({ id, outcome }) => [id, outcome]),
    );
    const [defect] = damageOf(report);
    expect(defect).toMatchObject({
      kind: 'stuttered_cut',
      outcome: 'repaired',
      action: 'rebuilt_frames',
      firstFrame: truth[0]?.firstFrame,
      lastFrame: truth[0]?.lastFrame,
    });
    expect(report.video.treatment).toBe('smart_render');
    expect(report.video.unitsKept).toBeGreaterThan(30);
    expect(report.checks.filter((check) => !check.passed)).toEqual([]);
    expect(await findingsOf(resultPath ?? '')).toEqual([]);
  });

  it('removes inserted repeats and restores the length of the clip', async () => {
    const broken = at('inserted.mp4');
    await injectRepeats({
      tools,
      inputPath: clean,
      outputPath: broken,
      history: 'inserted',
      runs: [{ frame: 60, count: 4 }],
    });
    const { result } = await mend(broken, 'inserted');
    const { report, resultPath } = mustBeOk(result);
    expect(damageOf(report)[0]).toMatchObject({ action: 'removed_repeats', outcome: 'repaired', count: 4 });
    expect(report.original.media.frameCount).toBe(124);
    expect(report.result.media.frameCount).toBe(120);
    expect(report.result.media.durationMs).toBeCloseTo(4000, -2);
    expect(await findingsOf(resultPath ?? '')).toEqual([]);
  });

  it('fills a hole in the times with new pictures', async () => {
    const broken = at('gap.mp4');
    const [truth] = await injectTimestampGaps({
      tools,
      inputPath: clean,
      outputPath: broken,
      holes: [{ frame: 50, count: 3 }],
    });
    const { result } = await mend(broken, 'gap');
    const { report, issues, fixesApplied, resultPath } = mustBeOk(result);
    expect(issues.droppedFrames).toBe(3);
    expect(fixesApplied).toEqual({ droppedFrames: 3 });
    expect(damageOf(report)[0]).toMatchObject({
      firstFrame: truth?.frameBefore,
      count: 3,
      outcome: 'repaired',
    });
    expect(report.result.media.frameCount).toBe(120);
    expect(report.notes.join(' ')).toMatch(/frames have new numbers in the playing order/);
    expect(await findingsOf(resultPath ?? '')).toEqual([]);
  });

  it('replaces damaged pictures and leaves a stream that decodes without messages', async () => {
    const broken = at('corrupt.mp4');
    await corruptSamples({ tools, inputPath: clean, outputPath: broken, frames: [45], fault: 'zero' });
    const { result } = await mend(broken, 'corrupt');
    const { report, resultPath } = mustBeOk(result);
    expect(damageOf(report)[0]).toMatchObject({ kind: 'corrupted_section', outcome: 'repaired' });
    const args = ['-v', 'warning', '-threads', '1', '-err_detect', 'aggressive', '-i', resultPath ?? ''];
    const { stderr } = await runTool('decode', tools.ffmpeg, [...args, '-f', 'null', '-']);
    expect(stderr).toBe('');
  });

  it('moves late sound back without touching a coded picture or sound packet', async () => {
    const broken = at('late.mp4');
    await moveSound({ tools, inputPath: clean, outputPath: broken, offsetMs: 240 });
    expect(await soundStartMs(broken)).toBeGreaterThan(200);
    const { result } = await mend(broken, 'late');
    const { report, resultPath, issues } = mustBeOk(result);
    expect(issues.audioSyncIssues).toBe(true);
    expect(report.video.treatment).toBe('copied');
    expect(report.audio.treatment).toBe('copied');
    expect(report.checks.filter((check) => !check.passed)).toEqual([]);
    expect(report.checks.find(({ name }) => name === 'sound moved as planned')?.passed).toBe(true);
    const defect = damageOf(report)[0];
    // The first packet is the encoder's lead-in, so 240 ms may be reported with or without its 21 ms.
    expect(Math.abs((defect?.measure.before ?? 0) - 240)).toBeLessThan(25);
    expect(defect?.measure.after).toBeLessThan(5);
    expect(Math.abs(await soundStartMs(resultPath ?? ''))).toBeLessThan(5);
  });
});

describe('processVideo on files that are not clips', () => {
  it('names the reason for an empty file, a text and sound alone', async () => {
    await writeFile(at('empty.mp4'), '');
    await writeFile(at('text.mp4'), 'This is a letter, not a clip. '.repeat(20));
    const sound = ['-v', 'error', '-i', clean, '-vn', '-c', 'copy', '-y', at('sound.mp4')];
    await runTool('keep the sound', tools.ffmpeg, sound);
    const codes = [];
    for (const name of ['empty.mp4', 'text.mp4', 'sound.mp4']) {
      const { result } = await mend(at(name), `work-${name}`);
      codes.push(result.ok ? 'ok' : result.code);
    }
    expect(codes).toEqual(['empty_file', 'not_a_video', 'no_video_track']);
  });

  it('does not let a playlist open other files', async () => {
    await writeFile(at('list.mp4'), `#EXTM3U\n#EXTINF:1,\nfile://${clean}\n`);
    const { result } = await mend(at('list.mp4'), 'work-list');
    expect(result).toMatchObject({ ok: false, code: 'not_a_video' });
  });

  it('says what is missing when the index was cut off with the end of the file', async () => {
    const late = at('index-behind.mp4');
    await runTool('write', tools.ffmpeg, ['-v', 'error', '-i', clean, '-c', 'copy', '-y', late]);
    const { size } = await stat(late);
    await truncate(late, Math.round(size * 0.6));
    const { result } = await mend(late, 'work-cut');
    if (result.ok)
      expect(result.report.defects[0]?.explanation).toMatch(/^The index was lost; \d+ frames were found/);
    else expect(result).toMatchObject({ code: 'damaged_beyond_repair' });
  });
});

describe('processVideo after a kill', () => {
  it.each(PROCESSING_STEPS.map(({ id }) => id))(
    'continues after the finished steps when killed in %s',
    async (step) => {
      const broken = at('many-faults.mp4');
      if (!existsSync(broken)) {
        const voice = at('many-0.mp4');
        const channels = [voiceLike(4, 48_000, 5)];
        await replaceSound({ tools, inputPath: clean, outputPath: voice, channels, rateHz: 48_000 });
        const options = { tools, inputPath: voice, outputPath: at('many-1.mp4') };
        await injectRepeats({ ...options, history: 'held', runs: [{ frame: 30, count: 3 }] });
        await moveSound({ tools, inputPath: at('many-1.mp4'), outputPath: at('many-2.mp4'), offsetMs: 240 });
        await copyFile(at('many-2.mp4'), broken);
        await corruptSamples({
          tools,
          inputPath: at('many-2.mp4'),
          outputPath: broken,
          frames: [80],
          fault: 'zero',
        });
      }
      const work = at(`killed-${step}`);
      const task = await makeTask(broken, work);
      const begins = (message: WorkerMessage) =>
        message.type === 'steps' && message.steps.some((one) => one.step === step && one.state === 'running');
      // Timing captions and moving sound take milliseconds; the other steps are killed in the middle of their work.
      const isShort = step === 'adding_captions' || step === 'fixing_audio';
      const { killed } = isShort
        ? await runInProcess(task, () => false, step)
        : await runInProcess(task, begins);
      expect(killed).toBe(true);
      const kept = await readdir(work).catch(() => []);
      const finished = kept.filter((name) => PROCESSING_STEPS.some(({ id }) => name === `${id}.json`));
      expect(finished).not.toContain(`${step}.json`);
      const before = await Promise.all(
        finished.map(async (name) => (await stat(path.join(work, name))).mtimeMs),
      );

      const { result } = await mend(broken, `killed-${step}`);
      const { report } = mustBeOk(result);
      const after = await Promise.all(
        finished.map(async (name) => (await stat(path.join(work, name))).mtimeMs),
      );
      expect(after).toEqual(before);
      if (step !== 'analyzing') expect(finished).toContain('analyzing.json');
      if (step === 'adding_captions') expect(finished).toContain('recovering_frames.json');
      expect(report.defects.filter(({ outcome }) => outcome === 'repaired').length).toBeGreaterThanOrEqual(3);
      expect(report.captions.length).toBeGreaterThan(0);
      expect(report.checks.filter((check) => !check.passed)).toEqual([]);
    },
  );
});

describe('lookAgain', () => {
  it('finds what is planted in its windows, in the numbering of the whole clip', async () => {
    const long = at('long.mp4');
    const encode = ['-c:v', 'libx264', '-preset', 'veryfast', '-g', '30', '-threads', '1'];
    await makeMovingClip({ tools, outputPath: at('long-clean.mp4'), seconds: 16, width: 320, height: 180 });
    const options = { tools, inputPath: at('long-clean.mp4'), outputPath: long, encode };
    const [truth] = await injectRepeats({ ...options, history: 'held', runs: [{ frame: 240, count: 3 }] });
    const info = await probe(tools, long, 'mov');
    const look = { resultPath: long, info, tools, known: [], wasDamaged: false };
    const there = await lookAgain({ ...look, freshFrames: [truth?.firstFrame ?? 0] });
    expect(there.decoded).toBeLessThan(300);
    const stutter = [{ firstFrame: truth?.firstFrame, lastFrame: truth?.lastFrame }];
    const isStutter = ({ kind }: Finding) => kind === 'stuttered_cut';
    expect(there.findings.filter(isStutter)).toMatchObject(stutter);
    const elsewhere = await lookAgain({ ...look, freshFrames: [400] });
    expect(elsewhere.findings.filter(({ kind }) => DAMAGE.has(kind))).toEqual([]);

    // What an analysis kept gives the same without decoding it again, except for the requested pictures.
    const { kept, pictures } = await analysePicture({
      inputPath: long,
      info,
      tools,
      keepPath: at('long-pictures'),
    });
    const fresh = [240, 241, 242];
    const isFresh = (frame: number) => fresh.includes(frame);
    const known = renumbered(
      kept?.runs ?? [],
      (pictures?.ptsTicks ?? []).map((_, frame) => (isFresh(frame) ? undefined : frame)),
    );
    const again = await lookAgain({ ...look, known, freshFrames: fresh });
    expect(again.findings.filter(isStutter)).toEqual(there.findings.filter(isStutter));
    expect(again.decoded).toBeLessThan(30);
  });
});

describe('verifyClaims', () => {
  it('confirms every claim of a report, and refutes it when the result is another file', async () => {
    const broken = at('claims.mp4');
    const options = { tools, inputPath: clean, outputPath: broken };
    await injectTimestampGaps({ ...options, holes: [{ frame: 50, count: 3 }] });
    const { result } = await mend(broken, 'claims');
    const { report, resultPath } = mustBeOk(result);
    const claims = await verifyClaims({
      originalPath: broken,
      repairedPath: resultPath ?? '',
      report,
      tools,
    });
    expect(claims.length).toBeGreaterThan(6);
    expect(claims.filter(({ confirmed }) => !confirmed)).toEqual([]);
    const forged = await verifyClaims({ originalPath: broken, repairedPath: broken, report, tools });
    const refuted = forged.filter(({ confirmed }) => !confirmed).map(({ claim }) => claim);
    expect(refuted).toContain('SHA-256 and size of the result');
    expect(refuted).toContain('1 of 1 dropped_frames gone from the result');
    expect(refuted).toContain('120 pictures in the result');
  });

  it('reads an original with a rebuilt index as the repair did, and confirms its damage too', async () => {
    const [torn, misplaced] = [at('torn-index.mp4'), at('misplaced.mp4')];
    await corruptSamples({ tools, inputPath: clean, outputPath: torn, frames: [50], fault: 'zero' });
    await writeFile(misplaced, misplacePictures(await readFile(torn)));
    const { result } = await mend(misplaced, 'misplaced');
    const { report, resultPath } = mustBeOk(result);
    const files = { originalPath: misplaced, repairedPath: resultPath ?? '' };
    const claims = await verifyClaims({ ...files, report, tools });
    expect(claims.filter(({ confirmed }) => !confirmed)).toEqual([]);
    const said = claims.map(({ claim }) => claim);
    expect(said).toContain('the index of the original had to be rebuilt');
    expect(said.filter((claim) => /^corrupted_section at .* in the original$/.test(claim))).not.toEqual([]);
  });
});
