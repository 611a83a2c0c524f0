import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appendEndNote, readEndNote } from '#server/media/mp4/end-note.ts';
import { concealedInResult, noteConcealed, readConcealed } from './concealed-pictures.ts';
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

describe('which pictures of a result show concealed damage', () => {
  it('counts pictures in the result, behind what was taken out and put in', () => {
    const edit = [
      { ...span(2, 5, []), mendsDamage: false },
      span(8, 11, [kept(8, false), kept(9, true), made(0)]),
    ];
    expect(concealedInResult(edit, 20, [])).toEqual([{ first: 5, last: 6, damagedData: [5] }]);
  });

  it('held pictures of whole stretches are no damage', () => {
    const held = { ...span(4, 6, [kept(3, false), kept(3, false)]), mendsDamage: false };
    expect(concealedInResult([held], 20, [])).toEqual([]);
  });

  it('what the original says of itself goes on, but for pictures that were rebuilt', () => {
    const before = [{ first: 10, last: 14, damagedData: [10, 14] }];
    const edit = [{ ...span(3, 3, [made(0), made(1)]), mendsDamage: false }, span(11, 12, [made(2)])];
    expect(concealedInResult(edit, 20, before)).toEqual([
      { first: 12, last: 12, damagedData: [12] },
      { first: 14, last: 16, damagedData: [16] },
    ]);
  });
});

describe('what a result says of itself', () => {
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
    await noteConcealed(file, [span(8, 10, [kept(8, false), kept(9, true)])], { pictures });
    expect(await readConcealed(file, 20)).toEqual([{ first: 8, last: 9, damagedData: [8] }]);
    // With other pictures it is another clip.
    expect(await readConcealed(file, 21)).toEqual([]);
  });

  it('is nothing where nothing is concealed', async () => {
    const file = await clipWith('clean', null);
    await noteConcealed(file, [], { pictures: null });
    expect(await readEndNote(file)).toBeNull();
  });

  it.each([
    ['no words of ours', 'hello'],
    ['another note', '{"reelmend":"else","pictures":20,"spans":[]}'],
    [
      'stretches that overlap',
      '{"reelmend":"concealed pictures","pictures":20,"spans":[{"first":1,"last":9,"damagedData":[]},{"first":9,"last":12,"damagedData":[]}]}',
    ],
    [
      'pictures that are not there',
      '{"reelmend":"concealed pictures","pictures":20,"spans":[{"first":1,"last":20,"damagedData":[]}]}',
    ],
  ])('is not believed: %s', async (name, note) => {
    expect(await readConcealed(await clipWith(name, note), 20)).toEqual([]);
  });

  it('is gone where something else stands behind it', async () => {
    const file = await clipWith('longer', 'a note');
    expect(await readEndNote(file)).toBe('a note');
    await appendFile(file, Buffer.alloc(40));
    expect(await readEndNote(file)).toBeNull();
  });
});
