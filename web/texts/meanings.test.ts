import { describe, expect, it } from 'vitest';
import type { Defect, DefectKind } from '#common/report.ts';
import { makeReport } from '../test/samples.ts';
import { meaningOf } from './meanings.ts';

/** A defect as the engine writes it. */
function defect(kind: DefectKind, measure: Partial<Defect['measure']>, change: Partial<Defect> = {}): Defect {
  const [base] = makeReport().defects;
  if (!base) throw new Error('no defect');
  return {
    ...base,
    kind,
    measure: { name: '', unit: '', threshold: null, before: null, after: null, ...measure },
    ...change,
  };
}

describe('what figures mean', () => {
  it.each([
    [
      defect('stuttered_cut', { before: 0.0017, unit: 'ratio' }, { startMs: 530, endMs: 663, count: 4 }),
      'The picture stands still for 0.13 s while the clip moves: 4 pictures repeat the one before.',
    ],
    [
      defect('dropped_frames', { name: 'interval against its neighbours', before: 2 }, { count: 1 }),
      'One picture stays on screen 2 times as long as those around it: 1 picture is missing, and the motion jerks.',
    ],
    [
      defect('dropped_frames', { name: 'step against the steps around it', before: 1.4775 }, { count: 3 }),
      'The motion makes a step 1.5 times as large as around it: 3 pictures are missing, though the times have no hole.',
    ],
    [
      defect('corrupted_section', { name: 'damaged pictures', unit: 'frames', before: 12, after: 0 }),
      'The data of 12 pictures cannot be read: blocks, smears or a frozen picture show instead. Now every picture can be read.',
    ],
    [
      defect('audio_sync', { unit: 'ms', before: -120, after: 0 }),
      'The sound comes 120 ms before the picture: lips and claps are seen to be off. Now they are 0 ms apart, which nobody notices.',
    ],
    [
      defect('audio_sync', { unit: 'ms', before: 80 }),
      'The sound comes 80 ms after the picture, which few people notice.',
    ],
    [
      defect('audio_sync', { unit: 'ms', before: 42.67, after: 5.2 }, { action: 'filled_audio' }),
      'The sound breaks off: 43 ms of it are missing or cannot be read, which is heard as a gap or a click.',
    ],
    [
      defect('audio_sync', { unit: 'ms', before: -125.69, after: 6.26 }, { action: 'resampled_audio' }),
      'The sound drifts and comes up to 126 ms before the picture: lips and claps are seen to be off. Now they are 6.3 ms apart, which nobody notices.',
    ],
    [
      defect('wind_noise', { unit: 'dBFS', before: -35.9, after: -69.1 }),
      'Wind rumbles in the sound and covers what else is heard. What is left of it is heard about 10 % as loud as before.',
    ],
    [
      defect('shaky_footage', { before: 0.0098, threshold: 0.005 }),
      'From picture to picture the camera jerks by 1 % of the width; from 0.5 % on it is seen as shake.',
    ],
    [
      defect('poor_lighting', { before: 54 }),
      'Nine tenths of the picture are darker than 21 % of full brightness: details drown in the dark.',
    ],
    [
      defect('blurry_section', { before: 0.74, threshold: 0.66 }),
      'Even the sharpest edges are soft: the picture is out of focus.',
    ],
    [
      defect('blurry_section', { before: 0.0052, threshold: 0.12 }),
      'Fine details are 0.5 % as clear as in the sharpest second of this clip: the picture is soft.',
    ],
  ])('are told in words: %#', (one, words) => {
    expect(meaningOf(one)).toBe(words);
  });

  it('promises nothing where nothing was measured again', () => {
    expect(meaningOf(defect('wind_noise', { before: -30, after: null }))).not.toContain('left');
    expect(meaningOf(defect('audio_sync', { before: 300, after: null }))).not.toContain('Now');
    expect(meaningOf(defect('corrupted_section', { before: 3, after: 2, unit: 'frames' }))).toContain(
      'Of these, 2 still cannot.',
    );
  });
});
