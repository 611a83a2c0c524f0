import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { probe } from '#server/media/probe/probe.ts';
import { sniffFile } from '#server/media/probe/sniff-container.ts';
import { analysePicture } from './analyse-picture.ts';
import { REAL_MEDIA } from '#server/test/real-media.ts';
import { testTools as tools } from '#server/test/media-job.ts';

const folder = REAL_MEDIA;

const INTACT = [
  'bikes-cuts-272p.mp4',
  'city-pan-vfr-21s.mp4',
  'forest-phone-vfr-portrait.mp4',
  'juggle-man-720p24.mp4',
  'lobby-people-10fps-139s.mp4',
  'nature-cuts-fades-720p.mp4',
  'parking-12fps-30s.mp4',
  'shaky-city-360p.avi',
  'talk-laptop-man-320p.mp4',
  'talk-stage-portrait-720p.mp4',
  'ocean-720p.webm',
];

async function defectsOf(name: string) {
  const inputPath = path.join(folder, name);
  const format = await sniffFile(inputPath);
  if (!format) throw new Error(`${name} is no clip.`);
  const info = await probe(tools, inputPath, format);
  const { findings } = await analysePicture({ inputPath, info, tools });
  return findings
    .filter(({ kind }) => ['stuttered_cut', 'dropped_frames', 'corrupted_section'].includes(kind))
    .map(({ kind, firstFrame, lastFrame }) => [kind, firstFrame, lastFrame]);
}

describe.skipIf(!existsSync(folder))('analysePicture on real clips (skipped without ../shared/media)', () => {
  it.each(INTACT)('finds no stutter, loss or damage in %s', async (name) => {
    expect(await defectsOf(name)).toEqual([]);
  });

  it('finds the natural damage of two broken files', async () => {
    expect(await defectsOf('odd-corrupt-nal-bars.mp4')).toEqual([['corrupted_section', 29, 49]]);
    expect(await defectsOf('odd-invalid-nalu.mp4')).toEqual([['corrupted_section', 26, 26]]);
  });
});
