import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { probe } from '#server/media/probe/probe.ts';
import { testTools as tools } from '#server/test/media-job.ts';
import { renderLimits, sharedFolder } from '#server/test/rendered-clips.ts';
import { readPackets } from '../analyse/packets/read-packets.ts';
import { limitedExport } from '../download/limited-export-plan.ts';
import { makeCopy } from './make-copy.ts';

const folder = sharedFolder();
const file = (name: string) => path.join(folder.path, name);

async function read(inputPath: string) {
  const info = await probe(tools, inputPath, 'mov');
  const { video } = await readPackets({ inputPath, info, tools });
  const ticks = video.flatMap(({ ptsTicks }) => ptsTicks ?? []).toSorted((a, b) => a - b);
  return { info, ticks };
}

describe('makeCopy', () => {
  it("shows the last picture as long as the others by QuickTime's clock, and each at its time", async () => {
    const [inputPath, outputPath, workDir] = [file('clip.mov'), file('copy.mp4'), file('work')];
    const source = '-v error -f lavfi -i testsrc2=s=160x284:r=20:d=3 -f lavfi -i sine=d=3';
    const coding = '-c:v libx264 -preset veryfast -pix_fmt yuv420p -bf 2 -video_track_timescale 600';
    await runTool('make a clip', tools.ffmpeg, [...`${source} ${coding}`.split(' '), inputPath]);
    await mkdir(workDir);
    const before = await read(inputPath);
    const recipe = limitedExport({ inputPath, info: before.info, shortSide: 120, limits: renderLimits });
    await makeCopy({ recipe, workDir, outputPath, tools });
    const after = await read(outputPath);
    expect(after.info.video[0]).toMatchObject({ width: 120, timeBase: { num: 1, den: 600 } });
    expect(after.ticks).toEqual(before.ticks);
    expect(after.info.video[0]?.durationMs).toBeCloseTo(3000, 0);
  });
});
