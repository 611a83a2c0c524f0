import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RepairReport } from '#common/report.ts';
import { probe } from '#server/media/probe/probe.ts';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { corruptSamples, makeMovingClip } from '#server/test/broken-clips.ts';
import { onceForEach } from '#server/test/once-for-each.ts';
import { makeFolder, makeTask, mustBeOk, testTools as tools } from '#server/test/media-job.ts';
import { REAL_MEDIA } from '#server/test/real-media.ts';
import { processVideo } from './process-video.ts';
import { hashFile } from './steps/step-store.ts';
import type { ProcessVideoResult } from './worker-protocol.ts';

const FAILS_WITHIN_MS = 10_000;

/**
 * Broken files from real programs and from tests of other projects, each with the expected outcome of the repair and a
 * pattern for the reason or for what was done.
 */
const TRUTH: Readonly<Record<string, { readonly ends: string; readonly says: RegExp }>> = {
  'odd-audio-no-stsd.mp4': {
    ends: 'repaired',
    says: /sound track cannot be read because its description is missing/,
  },
  'odd-audio-only.mp4': { ends: 'no_video_track', says: /has sound only/ },
  'odd-bad-free-box.mp4': { ends: 'repaired', says: /wrong length .* hid the index/ },
  'odd-corrupt-nal-bars.mp4': { ends: 'repaired', says: /damaged frame/ },
  'odd-empty-video-track.mp4': { ends: 'unchanged', says: /./ },
  'odd-hevc-editlist-no-keyframe.mp4': { ends: 'unchanged', says: /hides 17 frames by an edit list/ },
  'odd-huge-length.avi': { ends: 'repaired', says: /times stored with the sound make no sense/ },
  'odd-invalid-nalu.mp4': { ends: 'repaired', says: /damaged frame/ },
  'odd-mdat-too-long.mp4': { ends: 'repaired', says: /8 bytes shorter than it says/ },
  'odd-no-moov.mp4': { ends: 'damaged_beyond_repair', says: /only the first 4 kB .* are there/ },
  'odd-not-a-video.mp4': { ends: 'damaged_beyond_repair', says: /only the first 48 bytes/ },
  'odd-part-fragmented.mp4': { ends: 'repaired', says: /sound was 67 ms late/ },
  'odd-short-audio.mp4': { ends: 'unchanged', says: /./ },
  'odd-video-1s-late.mp4': { ends: 'unchanged', says: /sound is silent/ },
  'odd-video-only.mp4': { ends: 'unchanged', says: /no sound/ },
};

let folder: Awaited<ReturnType<typeof makeFolder>>;
beforeAll(async () => {
  folder = await makeFolder();
});
afterAll(() => folder.remove());

interface Mended {
  readonly result: ProcessVideoResult;
  readonly tookMs: number;
}

async function mend(file: string, work: string): Promise<Mended> {
  const task = await makeTask(file, path.join(folder.path, work));
  const startedAt = performance.now();
  const io = { signal: new AbortController().signal, send: () => undefined };
  return { result: await processVideo(task, io), tookMs: performance.now() - startedAt };
}

const at = (name: string) => path.join(REAL_MEDIA, name);
/** The first run of a clip, shared by the tests that need it. */
const mendOnce = onceForEach((name: string) => mend(at(name), `once-${name}`));

/** All sentences of a report. */
function sentences({ notes, defects, steps, checks }: RepairReport): string {
  const texts = [
    ...notes,
    ...defects.map(({ explanation }) => explanation),
    ...steps.map(({ note }) => note),
    ...checks.map(({ detail }) => detail),
  ];
  return texts.join('\n');
}

/** The report of a run without what differs in every one: the date and the times taken. */
function reportOf({ result }: Mended): RepairReport {
  const { report } = mustBeOk(result);
  return { ...report, createdAt: '', steps: report.steps.map((step) => ({ ...step, tookMs: null })) };
}

describe.skipIf(!existsSync(REAL_MEDIA))('odd files of ../shared/media (skipped when absent)', () => {
  it('knows the truth about every one of them', async () => {
    const names = (await readdir(REAL_MEDIA)).filter((name) => name.startsWith('odd-'));
    expect(names.sort()).toEqual(Object.keys(TRUTH).sort());
  });

  it.each(Object.entries(TRUTH))('ends %s with a true statement about it', async (name, { ends, says }) => {
    const { result, tookMs } = await mendOnce(name);
    if (!result.ok) {
      expect(result.code).toBe(ends);
      expect(result.message).toMatch(says);
      expect(tookMs).toBeLessThan(FAILS_WITHIN_MS);
      return;
    }
    expect(result.report.outcome).toBe(ends);
    expect(sentences(result.report)).toMatch(says);
    if (result.resultPath === null) {
      expect(result.resultSha256).toBe(await hashFile(at(name)));
      return;
    }
    // The repaired clip plays: a strict decoder reads all of it without a message.
    const info = await probe(tools, result.resultPath, 'mov');
    expect(info.video.length).toBe(1);
    const args = ['-v', 'warning', '-threads', '1', '-err_detect', 'aggressive', '-i', result.resultPath];
    const { stderr } = await runTool('decode', tools.ffmpeg, [...args, '-map', '0:v', '-f', 'null', '-']);
    expect(stderr).toBe('');
  });

  // A clip takes another way than the others where it is damaged and where its container is.
  it.each(['odd-corrupt-nal-bars.mp4', 'odd-invalid-nalu.mp4', 'odd-huge-length.avi'])(
    'gives identical reports of %s in 2 runs',
    async (name) => {
      const [first, second] = [await mendOnce(name), await mend(at(name), `run-2-${name}`)];
      expect(reportOf(second)).toEqual(reportOf(first));
    },
  );
});

// What shows itself only now and then needs more runs; a small clip goes the same way.
it('gives identical reports of a clip with a damaged picture in 5 runs', async () => {
  const file = (name: string) => path.join(folder.path, name);
  const [inputPath, outputPath] = [file('small.mp4'), file('small-torn.mp4')];
  await makeMovingClip({ tools, outputPath: inputPath, seconds: 1, width: 160, height: 96 });
  await corruptSamples({ tools, inputPath, outputPath, frames: [26], fault: 'random', place: 0.3 });
  const first = reportOf(await mend(outputPath, 'small-1'));
  const damage = first.defects.filter(({ kind }) => kind === 'corrupted_section');
  expect(damage.map(({ outcome }) => outcome)).toEqual(['repaired']);
  for (const work of ['small-2', 'small-3', 'small-4', 'small-5'])
    expect(reportOf(await mend(outputPath, work))).toEqual(first);
});
