import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { probe } from '#server/media/probe/probe.ts';
import { testTools as tools } from '#server/test/media-job.ts';
import { renderLimits, sharedFolder } from '#server/test/rendered-clips.ts';
import { shownTimes } from '#server/test/rendered-edits.ts';
import { limitedExport } from '../download/limited-export-plan.ts';
import { makeCopy } from './make-copy.ts';

const folder = sharedFolder();
const file = (name: string) => path.join(folder.path, name);

describe('makeCopy', () => {
  it("shows the last picture as long as the others by QuickTime's clock, and each at its time", async () => {
    const [inputPath, outputPath, workDir] = [file('clip.mov'), file('copy.mp4'), file('work')];
    const source = '-v error -f lavfi -i testsrc2=s=160x284:r=20:d=3 -f lavfi -i sine=d=3';
    const coding = '-c:v libx264 -preset veryfast -pix_fmt yuv420p -bf 2 -video_track_timescale 600';
    await runTool('make a clip', tools.ffmpeg, [...`${source} ${coding}`.split(' '), inputPath]);
    await mkdir(workDir);
    const info = await probe(tools, inputPath, 'mov');
    const recipe = limitedExport({ inputPath, info, shortSide: 120, limits: renderLimits });
    await makeCopy({ recipe, workDir, outputPath, tools });
    const [made] = (await probe(tools, outputPath, 'mov')).video;
    expect(made).toMatchObject({ width: 120, timeBase: { num: 1, den: 600 } });
    expect(await shownTimes(outputPath)).toEqual(await shownTimes(inputPath));
    expect(made?.durationMs).toBeCloseTo(3000, 0);
  });
});
