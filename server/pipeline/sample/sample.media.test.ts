import path from 'node:path';
import { expect, it } from 'vitest';
import { processVideo } from '#server/pipeline/process-video.ts';
import { makeFolder, makeTask, mustBeOk, testTools } from '#server/test/media-job.ts';
import { makeSampleClip, PLANTED } from './make-sample-clip.ts';

it('plants defects that the repair finds where they are, and mends', async () => {
  const folder = await makeFolder();
  try {
    const clip = path.join(folder.path, 'sample.mp4');
    await makeSampleClip({ tools: testTools, outputPath: clip });
    const task = await makeTask(clip, path.join(folder.path, 'work'));
    const result = mustBeOk(
      await processVideo(task, { signal: new AbortController().signal, send: () => undefined }),
    );
    expect(result.issues).toEqual({
      stutteredCuts: PLANTED.held.length,
      audioSyncIssues: true,
      droppedFrames: PLANTED.missing.last - PLANTED.missing.first + 1,
      corruptedSections: 1,
      windNoise: true,
      shakyFootage: false,
      poorLighting: false,
      blurrySection: false,
    });
    const of = (kind: string) => result.report.defects.filter((defect) => defect.kind === kind);
    expect(of('stuttered_cut').map((defect) => Math.round((defect.startMs * 30) / 1000))).toEqual(
      PLANTED.held.map((run) => run.first),
    );
    // The first sample of the track lies up to one AAC frame (21 ms) before the planted moment.
    expect(Math.abs((of('audio_sync')[0]?.measure.before ?? 0) - PLANTED.lateSoundMs)).toBeLessThan(25);
    expect(result.report.defects.map((defect) => defect.outcome)).not.toContain('left_alone');
    expect(result.fixesApplied).toMatchObject({ audioSyncIssues: true, windNoise: true });
  } finally {
    await folder.remove();
  }
});
