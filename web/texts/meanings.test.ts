import { describe, expect, it } from 'vitest';
import { type Defect, type DefectKind, ODDS_OF_A_LOSS } from '#common/report.ts';
import { makeReport } from '../test/samples.ts';
import { meaningOf } from './meanings.ts';

/** A defect as the engine reports it. */
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
      'The picture freezes for 0.13 s while the clip moves on: 4 frames repeat the one before.',
    ],
    [
      defect('dropped_frames', { name: 'interval against its neighbours', before: 2 }, { count: 1 }),
      'One frame stays on screen 2 times as long as its neighbours: 1 frame is missing, and the motion jerks.',
    ],
    [
      defect('dropped_frames', { name: 'step against the steps around it', before: 1.4775 }, { count: 3 }),
      'The motion jumps 1.5 times as far as around it: 3 frames are missing.',
    ],
    [
      defect('dropped_frames', { name: ODDS_OF_A_LOSS, unit: 'to 1', before: 61.2 }, { count: 1 }),
      'All that moves goes farther here than one frame explains: 1 frame is missing, by odds of 61 to 1.',
    ],
    [
      defect('dropped_frames', { before: 0.12, after: 0.81 }, { detector: 'marked-place' }),
      'The picture moves by 12 % of what moves around it. Now it is 81 %.',
    ],
    [
      defect('dropped_frames', { before: 2.6, after: 1.3 }, { detector: 'marked-place' }),
      'The longest step is 260 % of those around it. Now it is 130 %.',
    ],
    [
      defect('audio_sync', { unit: 'ms', before: 0, after: -85 }, { detector: 'by-hand' }),
      'Somebody heard the sound come 85 ms too late.',
    ],
    [
      defect('corrupted_section', { name: 'damaged pictures', unit: 'frames', before: 12, after: 0 }),
      '12 frames cannot be read: blocks, smears or a frozen picture show instead. Now every frame can be read.',
    ],
    [
      defect('audio_sync', { unit: 'ms', before: -120, after: 0 }),
      'The sound comes 120 ms before the picture: lips and claps look out of sync. Now it is 0 ms off, which nobody notices.',
    ],
    [
      defect('audio_sync', { unit: 'ms', before: 80 }),
      'The sound comes 80 ms after the picture, which few people notice.',
    ],
    [
      defect('audio_sync', { unit: 'ms', before: 42.67, after: 5.2 }, { action: 'filled_audio' }),
      'The sound breaks off: 43 ms of it is missing or cannot be read, which you hear as a gap or a click.',
    ],
    [
      defect('audio_sync', { unit: 'ms', before: -125.69, after: 6.26 }, { action: 'resampled_audio' }),
      'The sound drifts and comes up to 126 ms before the picture: lips and claps look out of sync. Now it is 6.3 ms off, which nobody notices.',
    ],
    [
      defect('wind_noise', { unit: 'dBFS', before: -35.9, after: -69.1 }),
      'Wind rumbles over the sound. What is left of it sounds about 10 % as loud.',
    ],
    [
      defect('shaky_footage', { before: 0.0098, threshold: 0.005 }),
      'From frame to frame the camera jerks by 1 % of the width; from 0.5 % on it looks shaky.',
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
  ])('are described in words: %#', (one, words) => {
    expect(meaningOf(one)).toBe(words);
  });

  it('promises nothing when nothing was measured again', () => {
    expect(meaningOf(defect('wind_noise', { before: -30, after: null }))).not.toContain('left');
    expect(meaningOf(defect('audio_sync', { before: 300, after: null }))).not.toContain('Now');
    expect(meaningOf(defect('corrupted_section', { before: 3, after: 2, unit: 'frames' }))).toContain(
      '2 of them still cannot be read.',
    );
  });
});
