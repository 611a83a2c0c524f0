import { describe, expect, it } from 'vitest';
import {
  EACH_AT_ITS_TIME,
  inNamesOf,
  KEEP_SIZES,
  MOVIE_IN_MS,
  namedFor,
  runsInThreads,
  tellsCorruptPictures,
} from './ffmpeg-names.ts';

const ARGS = [KEEP_SIZES, '-map', '0:v:0', ...EACH_AT_ITS_TIME, ...MOVIE_IN_MS, '-f', 'mp4'];
const OLD = ['-map', '0:v:0', '-vsync', 'passthrough', '-enc_time_base', '-1', '-f', 'mp4'];

describe('namedFor', () => {
  it.each([
    '7.0',
    '7.1.1-1',
    '8.0',
    'n9.0.1',
    '9.0.2-4',
    '9.0-full_build',
    'N-125875-g5d4d3bdc61',
    'unknown',
  ])('keeps the new names for %s', (version) => expect(namedFor(version, ARGS)).toEqual(ARGS));

  it.each(['5.1.9-0+deb12u1', '6.0', 'N-109000-g1234567', '2023-04-11-git-309e3cc15c-full_build'])(
    'gives %s only the old time base',
    (version) =>
      expect(namedFor(version, ARGS)).toEqual(ARGS.map((name) => (name === 'demux' ? '-1' : name))),
  );

  it.each(['4.4.2-0ubuntu0.22.04.1', '5.0.1', 'N-105000-g1234567'])('gives %s the old ones', (version) =>
    expect(namedFor(version, ARGS)).toEqual([KEEP_SIZES, ...OLD]),
  );

  it.each(['4.3', 'n4.1.2', 'N-47683-g0e8eb07980-static', '2019-04-11-git-309e3cc15c-full_build'])(
    'omits what %s does not support',
    (version) => expect(namedFor(version, ARGS)).toEqual(OLD),
  );

  it('knows from which version on decoders run beside the filters', () => {
    expect(['6.1.1', 'N-47683-g0e8eb07980-static'].map(runsInThreads)).toEqual([false, false]);
    expect(['7.0', '9.0.2-4', 'N-125875-g5d4d3bdc61'].map(runsInThreads)).toEqual([true, true, true]);
  });

  it('knows from which version on corrupt pictures are reported one by one', () => {
    expect(['N-47683-g0e8eb07980-static', '4.1.6'].map(tellsCorruptPictures)).toEqual([false, false]);
    const newer = ['4.2.2-1ubuntu1', '5.1.9-0+deb12u1', '9.0.2-4', 'unknown'];
    expect(newer.map(tellsCorruptPictures)).toEqual([true, true, true, true]);
  });

  it('reads the date of builds between releases', () => {
    expect(namedFor('2022-04-11-git-309e3cc15c-full_build', ARGS)).toEqual([KEEP_SIZES, ...OLD]);
    expect(namedFor('2025-08-25-git-1b62f9d3ae-full_build', ARGS)).toEqual(ARGS);
  });
});

describe('inNamesOf', () => {
  it('runs no tool when no name has changed', async () => {
    expect(await inNamesOf({ ffmpeg: 'none', ffprobe: 'none' }, ['-c', 'copy'])).toEqual(['-c', 'copy']);
  });

  it('uses the version that the tools were asked for', async () => {
    expect(await inNamesOf({ ffmpeg: 'none', ffprobe: 'none', version: '4.3' }, ARGS)).toEqual(OLD);
  });
});
