import { describe, expect, it } from 'vitest';
import { EACH_AT_ITS_TIME, inNamesOf, usesOldNames } from './ffmpeg-names.ts';

describe('usesOldNames', () => {
  it.each([
    '4.4.2-0ubuntu0.22.04.1',
    '5.1.9-0+deb12u1',
    '6.1.1-3ubuntu5',
    'n4.3',
    'N-47683-g0e8eb07980-static',
  ])('says so of %s', (version) => expect(usesOldNames(version)).toBe(true));

  it.each([
    '7.1.1-1',
    '8.0',
    'n9.0.1',
    '9.0.2-4',
    '9.0-full_build-www.gyan.dev',
    'N-125875-g5d4d3bdc61',
    'unknown',
  ])('does not of %s', (version) => expect(usesOldNames(version)).toBe(false));

  it('reads the day of builds between releases', () => {
    expect(usesOldNames('2021-04-11-git-309e3cc15c-full_build')).toBe(true);
    expect(usesOldNames('2025-08-25-git-1b62f9d3ae-full_build')).toBe(false);
  });
});

describe('inNamesOf', () => {
  const args = ['-map', '0:v:0', ...EACH_AT_ITS_TIME, '-f', 'mp4'];
  const tools = (version: string) => ({ ffmpeg: 'none', ffprobe: 'none', version });

  it('keeps the new names for new builds', async () => {
    expect(await inNamesOf(tools('9.0.2-4'), args)).toEqual(args);
  });

  it('gives old builds the old ones', async () => {
    const old = ['-map', '0:v:0', '-vsync', 'passthrough', '-enc_time_base', '-1', '-f', 'mp4'];
    expect(await inNamesOf(tools('5.1.9-0+deb12u1'), args)).toEqual(old);
  });

  it('asks nobody where no name has changed', async () => {
    expect(await inNamesOf({ ffmpeg: 'none', ffprobe: 'none' }, ['-c', 'copy'])).toEqual(['-c', 'copy']);
  });
});
