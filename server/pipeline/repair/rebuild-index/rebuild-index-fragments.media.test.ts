import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Box, container, replaceBox, serializeBox } from '#server/media/mp4/box.ts';
import { withEdits } from '#server/media/mp4/edit-list.ts';
import { readMovie } from '#server/media/mp4/movie.ts';
import { readChunks, readSamples } from '#server/media/mp4/sample-table.ts';
import { scanTopLevel } from '#server/media/mp4/top-level.ts';
import { withChunkOffsets } from '#server/media/mp4/write-tables.ts';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { DEFAULT_ENCODE, makeMovingClip } from '#server/test/broken-clips.ts';
import { listPictures, soundHash } from '#server/test/rendered-clips.ts';
import { rebuildIndex } from './rebuild-index.ts';
import { testTools as tools } from '#server/test/media-job.ts';

let folder = '';
const at = (name: string) => path.join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'fragments-'));
  // Fragments of half a second inside groups of a second with B pictures.
  await makeMovingClip({
    tools,
    outputPath: at('whole.mp4'),
    seconds: 4,
    width: 320,
    height: 192,
    encode: [...DEFAULT_ENCODE, '-g', '30', '-bf', '2'],
  });
  const flags = '-movflags empty_moov+default_base_moof -frag_duration 500000'.split(' ');
  await runTool('fragment', tools.ffmpeg, [
    ...'-v error -i'.split(' '),
    at('whole.mp4'),
    ...'-c copy'.split(' '),
    ...flags,
    at('pieces.mp4'),
  ]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Time and hash of each picture, and the decoder's messages. */
async function picturesOf(file: string): Promise<{ rows: string[]; warnings: string }> {
  const { rows, warnings } = await listPictures(file, '-v warning -threads 1 -err_detect aggressive');
  return { rows: rows.map((cells) => `${cells[2]} ${cells[5]}`), warnings };
}

/** Start and length of each fragment of the intact clip. */
async function fragmentsOf(): Promise<{ offset: number; sizeBytes: number }[]> {
  const file = await open(at('pieces.mp4'), 'r');
  try {
    const { boxes } = await scanTopLevel(file, (await file.stat()).size);
    return boxes.filter(({ type }) => type === 'moof');
  } finally {
    await file.close();
  }
}

async function rebuild(name: string, bytes: Buffer) {
  await writeFile(at(name), bytes);
  const outputPath = at(`mended-${name}`);
  const input = { inputPath: at(name), outputPath, referencePaths: [], tools };
  return { result: await rebuildIndex(input), outputPath };
}

/**
 * A recording as Apple's devices write it before it is finished: an index for the first second, with edits of that
 * length, and fragments after it.
 */
async function makeRecording(name: string): Promise<Buffer> {
  const flags = '-c copy -movflags frag_keyframe+default_base_moof'.split(' ');
  await runTool('fragment', tools.ffmpeg, ['-v', 'error', '-i', at('whole.mp4'), ...flags, at(name)]);
  const bytes = await readFile(at(name));
  const file = await open(at(name), 'r');
  try {
    const movie = await readMovie(file);
    const edited = movie.tracks.map(({ trak, stbl, timescale }) => {
      const first = Math.min(...readSamples(stbl).map(({ pts }) => pts));
      const listed = readSamples(stbl).reduce((sum, { durationTicks }) => sum + durationTicks, 0);
      const durationTicks = Math.round((listed * movie.timescale) / timescale);
      return withEdits(trak, [{ durationTicks, mediaTime: first, rate: 1 }]);
    });
    const moovWith = (traks: readonly Box[]) => {
      const others = (movie.moov.children ?? []).filter(({ type }) => type !== 'trak');
      const [header, ...rest] = others;
      return serializeBox(container('moov', [...(header ? [header] : []), ...traks, ...rest]));
    };
    const listed = movie.topLevel.boxes.find(({ type }) => type === 'moov') ?? { offset: 0, sizeBytes: 0 };
    const added = moovWith(edited).length - listed.sizeBytes;
    const moved = edited.map((trak) =>
      replaceBox(trak, 'mdia/minf/stbl', (stbl) =>
        withChunkOffsets(
          stbl,
          readChunks(stbl).map(({ offset }) => offset + added),
        ),
      ),
    );
    const behind = bytes.subarray(listed.offset + listed.sizeBytes);
    return Buffer.concat([bytes.subarray(0, listed.offset), moovWith(moved), behind]);
  } finally {
    await file.close();
  }
}

describe('rebuildIndex on movies made of fragments', () => {
  it('shows all of a recording that was never finished, though its edits are as long as its first second', async () => {
    const bytes = await makeRecording('recording.mp4');
    const truth = await picturesOf(at('whole.mp4'));
    const hashOf = (row: string) => row.split(' ')[1];
    // Without its name, a fragment is listed nowhere.
    const unnamed = Buffer.from(bytes);
    unnamed.write('free', bytes.indexOf('moof', 0, 'latin1'), 'latin1');
    const cutAt = bytes.lastIndexOf('moof', undefined, 'latin1') - 4;
    for (const [name, broken] of Object.entries({ unnamed, cut: unnamed.subarray(0, cutAt) })) {
      const { result, outputPath } = await rebuild(`recording-${name}.mp4`, broken);
      expect(result.rebuilt, name).toBe(true);
      const mended = await picturesOf(outputPath);
      expect(mended.warnings, name).toBe('');
      expect(mended.rows.length, name).toBeGreaterThanOrEqual(name === 'cut' ? 90 : 120);
      expect(mended.rows.map(hashOf), name).toEqual(truth.rows.slice(0, mended.rows.length).map(hashOf));
    }
  });

  it('leaves fragments alone that follow one another, whatever comes after them', async () => {
    const bytes = await readFile(at('pieces.mp4'));
    expect((await rebuild('same.mp4', bytes)).result.rebuilt).toBe(false);
    const padded = Buffer.concat([bytes, Buffer.alloc(20_000, 0x5a)]);
    expect((await rebuild('padded.mp4', padded)).result.rebuilt).toBe(false);
  });

  it('leaves fragments alone whose sound has a hole, though one sound frame is as long as that', async () => {
    const lost =
      "-c copy -bsf:a noise=amount=0:drop='between(n\\,60\\,72)' -movflags frag_keyframe+empty_moov";
    const args = [
      '-v',
      'error',
      '-i',
      at('whole.mp4'),
      ...lost.replaceAll("'", '').split(' '),
      at('hole.mp4'),
    ];
    await runTool('fragment', tools.ffmpeg, args);
    expect((await rebuild('hole-same.mp4', await readFile(at('hole.mp4')))).result.rebuilt).toBe(false);
  });

  it('keeps the times of every picture, and all of the sound, where the movie header lost its name', async () => {
    const bytes = await readFile(at('pieces.mp4'));
    bytes.write('\x01', bytes.indexOf('mvhd', 0, 'latin1') + 1, 'latin1');
    const { result, outputPath } = await rebuild('unnamed.mp4', bytes);
    expect(result).toMatchObject({ rebuilt: true });
    expect(await picturesOf(outputPath)).toEqual(await picturesOf(at('pieces.mp4')));
    expect(await soundHash(outputPath)).toBe(await soundHash(at('pieces.mp4')));
  });

  it('restores every picture and all of the sound when a fragment lost its name, its whole list or bytes before it', async () => {
    const [truth, bytes] = [await picturesOf(at('pieces.mp4')), await readFile(at('pieces.mp4'))];
    const fragments = await fragmentsOf();
    const middle = fragments[3] ?? { offset: 0, sizeBytes: 0 };
    expect(fragments.length).toBeGreaterThan(6);

    const renamed = Buffer.from(bytes);
    renamed.write('free', middle.offset + 4, 'latin1');
    const zeroed = Buffer.from(bytes);
    zeroed.fill(0, middle.offset, middle.offset + middle.sizeBytes);
    const inserted = Buffer.concat([
      bytes.subarray(0, middle.offset),
      Buffer.alloc(37, 0xa5),
      bytes.subarray(middle.offset),
    ]);
    const second = fragments[1] ?? { offset: 0, sizeBytes: 0 };
    const early = Buffer.from(bytes);
    early.fill(0, second.offset, second.offset + second.sizeBytes);
    for (const [name, broken] of Object.entries({ renamed, zeroed, inserted, early })) {
      const { result, outputPath } = await rebuild(`${name}.mp4`, broken);
      expect(result.rebuilt, name).toBe(true);
      const mended = await picturesOf(outputPath);
      expect(mended.warnings, name).toBe('');
      expect(mended.rows.map((row) => row.split(' ')[1])).toEqual(truth.rows.map((row) => row.split(' ')[1]));
      // The times are those of the clip, in the same ticks.
      expect(mended.rows, name).toEqual(truth.rows);
      expect(await soundHash(outputPath), name).toBe(await soundHash(at('pieces.mp4')));
    }
  });

  it.each([
    ['places count from each fragment', 'default_base_moof'],
    ['places count from the start of the file', 'empty_moov'],
  ])(
    'finds pictures and sound behind bytes that were put into a fragment or are missing there (%s)',
    async (_, flag) => {
      const whole = at(`${flag}.mp4`);
      const flags = `-movflags empty_moov+${flag} -frag_duration 1000000`.split(' ');
      const options = [...'-v error -y -i'.split(' '), at('whole.mp4'), '-c', 'copy', ...flags, whole];
      await runTool('fragment', tools.ffmpeg, options);
      const [truth, bytes] = [await picturesOf(whole), await readFile(whole)];
      const hashes = new Set(truth.rows);
      const options2 = '-v error -select_streams v -show_entries packet=pos -of csv=p=0'.split(' ');
      const { stdout } = await runTool('list', tools.ffprobe, [...options2, whole]);
      // Inside a picture in the middle of a fragment.
      const place =
        (stdout
          .split('\n')
          .map(Number)
          .toSorted((a, b) => a - b)[75] ?? 0) + 40;
      const put = Buffer.concat([
        bytes.subarray(0, place),
        Buffer.alloc(193, '<html>'),
        bytes.subarray(place),
      ]);
      const missing = Buffer.concat([bytes.subarray(0, place), bytes.subarray(place + 60)]);
      for (const [name, broken] of Object.entries({ put, missing })) {
        const { result, outputPath } = await rebuild(`${flag}-${name}.mp4`, broken);
        if (!result.rebuilt) throw new Error(result.reason);
        expect(result.notes.join(' '), name).toMatch(/frames were found elsewhere by their sizes/);
        const mended = await listPictures(outputPath, '-v quiet -threads 1');
        expect(mended.rows.length, name).toBeGreaterThan(truth.rows.length - 4);
        const kept = mended.rows.filter((cells) => hashes.has(`${cells[2]} ${cells[5]}`)).length;
        // Pictures that refer to the damaged one are lost with it, up to the next key picture.
        expect(kept, name).toBeGreaterThanOrEqual(truth.rows.length - 30);
        expect(await soundHash(outputPath), name).toBe(await soundHash(whole));
      }
    },
  );

  /** Writes a number after the last box with this name before a place. */
  const inBox = (bytes: Buffer, before: number, box: string, behind: number, value: number) => {
    const changed = Buffer.from(bytes);
    changed.writeUInt32BE(value, bytes.lastIndexOf(box, before, 'latin1') + 4 + behind);
    return changed;
  };

  it.each([
    ['the time of the sound of a fragment is years ahead', 'tfdt', 4, 0x00010000],
    ['the time of the sound of a fragment is that of another', 'tfdt', 8, 0x00000400],
    ['a box of the index in front of them ends nowhere', 'stco', -8, 0x7f000000],
  ])(
    'keeps every picture with its time, and all of the sound, where %s',
    async (name, box, behind, value) => {
      const [truth, bytes] = [await picturesOf(at('pieces.mp4')), await readFile(at('pieces.mp4'))];
      const end = (await fragmentsOf())[4]?.offset ?? 0;
      const broken = inBox(bytes, box === 'stco' ? bytes.length : end, box, behind, value);
      const { result, outputPath } = await rebuild(`${name.replaceAll(' ', '-')}.mp4`, broken);
      expect(result.rebuilt).toBe(true);
      const mended = await picturesOf(outputPath);
      expect(mended.warnings).toBe('');
      expect(mended.rows).toEqual(truth.rows);
      expect(await soundHash(outputPath)).toBe(await soundHash(at('pieces.mp4')));
    },
  );

  it('says how many pictures are not in the file when it is cut off', async () => {
    const [truth, bytes] = [await picturesOf(at('pieces.mp4')), await readFile(at('pieces.mp4'))];
    const middle = (await fragmentsOf())[5] ?? { offset: 0, sizeBytes: 0 };
    // Inside the first pictures of a fragment.
    const end = middle.offset + middle.sizeBytes + 1500;
    const { result, outputPath } = await rebuild('cut.mp4', bytes.subarray(0, end));
    if (!result.rebuilt) throw new Error(result.reason);
    expect(result.notes.join(' ')).toMatch(/\d+ of \d+ frames are not in the file/);
    const mended = await picturesOf(outputPath);
    expect(mended.warnings).toBe('');
    expect(mended.rows.length).toBeGreaterThan(truth.rows.length / 2);
    expect(truth.rows).toEqual(expect.arrayContaining(mended.rows.slice(0, -3)));
  });
});
