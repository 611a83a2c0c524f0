import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appendEndNote, readEndNote } from '#server/media/mp4/end-note.ts';
import { carryMended, mendedInResult, noteMended, readMended, readSoundMoved } from './mended-pictures.ts';
import type { ChangedSpan, NewPicture } from './repair/picture-edit.ts';

const kept = (frame: number, intact: boolean): NewPicture => ({
  ptsTicks: frame,
  pixels: { kind: 'original', frame, intact },
});
const made = (index: number): NewPicture => ({
  ptsTicks: index,
  pixels: { kind: 'raw', path: 'raw', index },
});
const span = (firstFrame: number, endFrame: number, pictures: NewPicture[]): ChangedSpan => ({
  firstFrame,
  endFrame,
  pictures,
  shiftAfterTicks: pictures.length - (endFrame - firstFrame),
  mendsDamage: true,
});

const keeps = (first: number, last: number, damagedData: number[]) => {
  return { first, last, isMade: false, damagedData };
};
const makes = (first: number, last: number) => ({ first, last, isMade: true, damagedData: [] });

describe('the pictures of a result that a repair changed', () => {
  it('are numbered in the result, after removed and inserted pictures', () => {
    const edit = [
      { ...span(2, 5, []), mendsDamage: false },
      span(8, 11, [kept(8, false), kept(9, true), made(0)]),
    ];
    expect(mendedInResult(edit, 20, [])).toEqual([keeps(5, 6, [5]), makes(7, 7)]);
  });

  it('of held stretches are made, those of others kept', () => {
    const held = { ...span(4, 6, [kept(3, false), kept(3, false)]), mendsDamage: false };
    expect(mendedInResult([held], 20, [])).toEqual([makes(4, 5)]);
  });

  it('include those that the original notes about itself, except pictures that were made anew', () => {
    const before = [keeps(10, 14, [10, 14]), makes(16, 16)];
    const edit = [{ ...span(3, 3, [made(0), made(1)]), mendsDamage: false }, span(11, 12, [made(2)])];
    expect(mendedInResult(edit, 20, before)).toEqual([
      makes(3, 4),
      keeps(12, 12, [12]),
      makes(13, 13),
      keeps(14, 16, [16]),
      makes(18, 18),
    ]);
  });
});

describe('the note of a result about itself', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'reelmend-note-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function clipWith(name: string, note: string | null): Promise<string> {
    const file = path.join(folder, name);
    await writeFile(file, 'a clip of some bytes, longer than the shortest note could be');
    if (note !== null) await appendEndNote(file, note);
    return file;
  }

  it('is read back from the end of the file', async () => {
    const file = await clipWith('told', null);
    const times = { timeBase: { num: 1, den: 30 }, medianIntervalTicks: 1, variableByNature: false };
    const pictures = { ...times, ptsTicks: Array.from({ length: 20 }, (_, at) => at), keyframe: [] };
    await noteMended(file, [span(8, 10, [kept(8, false), kept(9, true)])], { pictures });
    expect(await readMended(file, 20)).toEqual([keeps(8, 9, [8])]);
    // With another number of pictures it is another clip.
    expect(await readMended(file, 21)).toEqual([]);
  });

  it('is carried into a clip that is made of it, with how far its sound was moved by hand in all', async () => {
    const note =
      '{"reelmend":"mended pictures","pictures":20,"spans":[{"first":1,"last":2,"isMade":true,"damagedData":[]}]}';
    const [from, once, twice] = [
      await clipWith('from', note),
      await clipWith('once', null),
      await clipWith('twice', null),
    ];
    const counted = (file: string, pictures = 20) => ({ path: file, pictures });
    await carryMended(counted(from), counted(once), -120);
    expect(await readMended(once, 20)).toMatchObject([{ first: 1, last: 2, isMade: true }]);
    expect(await readSoundMoved(once, 20)).toBe(-120);
    expect(await readSoundMoved(once, 21)).toBe(0);
    await carryMended(counted(once), counted(twice, 19), 50);
    expect(await readSoundMoved(twice, 19)).toBe(-70);
    // Of other pictures nothing is known.
    expect(await readMended(twice, 19)).toEqual([]);
    const plain = [await clipWith('plain', null), await clipWith('of-plain', null)] as const;
    await carryMended(counted(plain[0]), counted(plain[1]));
    expect(await readEndNote(plain[1])).toBeNull();
  });

  it('is absent when nothing is concealed', async () => {
    const file = await clipWith('clean', null);
    await noteMended(file, [], { pictures: null });
    expect(await readEndNote(file)).toBeNull();
  });

  it.each([
    ['no words of ours', 'hello'],
    ['another note', '{"reelmend":"else","pictures":20,"spans":[]}'],
    [
      'stretches that overlap',
      '{"reelmend":"mended pictures","pictures":20,"spans":[{"first":1,"last":9,"isMade":false,"damagedData":[]},{"first":9,"last":12,"isMade":false,"damagedData":[]}]}',
    ],
    [
      'pictures that are not there',
      '{"reelmend":"mended pictures","pictures":20,"spans":[{"first":1,"last":20,"isMade":false,"damagedData":[]}]}',
    ],
  ])('is not trusted: %s', async (name, note) => {
    expect(await readMended(await clipWith(name, note), 20)).toEqual([]);
  });

  it('is lost when something else follows it', async () => {
    const file = await clipWith('longer', 'a note');
    expect(await readEndNote(file)).toBe('a note');
    await appendFile(file, Buffer.alloc(40));
    expect(await readEndNote(file)).toBeNull();
  });
});
