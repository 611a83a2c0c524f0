import { existsSync } from 'node:fs';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readMovie } from '#server/media/mp4/movie.ts';
import { readChunks, readSamples, type Sample } from '#server/media/mp4/sample-table.ts';
import { scanTopLevel } from '#server/media/mp4/top-level.ts';
import { probe } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { seededRandom } from '#server/test/seeded-random.ts';
import { onceForEach } from '#server/test/once-for-each.ts';
import { rebuildIndex } from './rebuild-index.ts';
import { testTools as tools } from '#server/test/media-job.ts';

let folder = '';
/** Index at the front, index at the end, and another clip of the "same device". */
let front = '';
let back = '';
let reference = '';

const SETTINGS = '-c:v libx264 -preset veryfast -bf 2 -g 30 -pix_fmt yuv420p -c:a aac -b:a 96k';

async function make(name: string, source: string, seconds: number, output: string): Promise<string> {
  const target = path.join(folder, name);
  await runFfmpeg(
    {
      label: `make ${name}`,
      inputs: [{ path: source, lavfi: true }],
      outputs: [{ path: target, options: `-t ${seconds} ${SETTINGS} ${output}`.trim().split(' ') }],
      expectedDurationMs: null,
    },
    { tools },
  );
  return target;
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'rebuild-index-'));
  const source = 'testsrc2=s=320x240:r=30[out0];anoisesrc=c=pink:a=0.3:r=44100:seed=3[out1]';
  front = await make('front.mp4', source, 4, '-movflags +faststart');
  back = await make('back.mp4', source, 4, '');
  reference = await make('reference.mp4', 'testsrc=s=320x240:r=30[out0];sine=f=300:r=44100[out1]', 2, '');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function topLevelOf(file: string) {
  const handle = await open(file);
  const { boxes } = await scanTopLevel(handle, (await handle.stat()).size);
  await handle.close();
  return boxes;
}

async function tracksOf(file: string): Promise<Sample[][]> {
  const handle = await open(file);
  const movie = await readMovie(handle);
  await handle.close();
  return movie.tracks.map((track) => readSamples(track.stbl));
}

async function damaged(name: string, change: (bytes: Buffer) => Buffer, from: string): Promise<string> {
  const target = path.join(folder, name);
  await writeFile(target, change(await readFile(from)));
  return target;
}

/** Removes x264's note, which would tell the picture settings. */
function withoutNote(bytes: Buffer): Buffer {
  for (let at = bytes.indexOf('x264 - core'); at >= 0; at = bytes.indexOf('x264 - core'))
    bytes.write('none', at);
  return bytes;
}

const rebuild = (inputPath: string, referencePaths: string[] = []) =>
  rebuildIndex({ inputPath, outputPath: `${inputPath}.rebuilt.mp4`, referencePaths, tools });

/** Hashes of decoded pictures and of coded sound; warnings of the decoder. */
async function contentOf(file: string, hasSound = true) {
  const sound = hasSound ? ['-map', '0:a:0', '-c:a', 'copy'] : [];
  const strictly = '-v warning -threads 1 -err_detect aggressive'.split(' ');
  const args = [...strictly, '-i', file, '-map', '0:v:0', ...sound, '-f', 'framemd5', '-'];
  const { stdout, stderr } = await runTool('hash', tools.ffmpeg, args);
  const rows = stdout.split('\n').flatMap((line) => (/^\d/.test(line) ? [line.split(/,\s*/)] : []));
  const hashesOf = (stream: string) => rows.flatMap((row) => (row[0] === stream ? (row[5] ?? []) : []));
  return { pictures: hashesOf('0'), sound: hashesOf('1'), warnings: stderr };
}

/** What a whole clip holds, which several tests compare with. */
const wholeOf = onceForEach((file: string) => contentOf(file));

describe('rebuildIndex', () => {
  it('leaves an intact file alone', async () => {
    for (const file of [front, back]) {
      expect(await rebuild(file)).toEqual({ rebuilt: false, reason: 'The index of the file is whole.' });
      expect(existsSync(`${file}.rebuilt.mp4`)).toBe(false);
    }
  });

  it('finds an index that a wrong box length hides', async () => {
    const file = await damaged(
      'hidden.mp4',
      (bytes) => {
        const at = bytes.indexOf('free', 0, 'latin1');
        bytes.writeUInt32BE(3, at - 4);
        return bytes;
      },
      back,
    );
    await expect(probe(tools, file, 'mov')).rejects.toThrow();
    const answer = await rebuild(file);
    expect(answer.rebuilt).toBe(true);
    expect(await contentOf(`${file}.rebuilt.mp4`)).toEqual(await wholeOf(back));
  });

  it('corrects a media box that claims more than the file has, keeping every sample', async () => {
    const mdat = (await topLevelOf(front)).find((box) => box.type === 'mdat');
    const file = await damaged(
      'claims.mp4',
      (bytes) => {
        bytes.writeUInt32BE((mdat?.sizeBytes ?? 0) + 5000, mdat?.offset ?? 0);
        return bytes;
      },
      front,
    );
    const answer = await rebuild(file);
    expect(answer).toEqual({
      rebuilt: true,
      notes: ['The file is 5 kB shorter than it says.'],
    });
    expect(await contentOf(`${file}.rebuilt.mp4`)).toEqual(await wholeOf(front));
    const again = await rebuild(`${file}.rebuilt.mp4`);
    expect(again.rebuilt).toBe(false);
  });

  it('keeps exactly what is in a truncated file, without a hole at its end', async () => {
    const whole = await wholeOf(front);
    for (const share of [0.3, 0.62, 0.9]) {
      const file = await damaged(
        `cut-${share}.mp4`,
        (bytes) => bytes.subarray(0, Math.floor(bytes.length * share)),
        front,
      );
      const length = Math.floor((await readFile(front)).length * share);
      const answer = await rebuild(file);
      if (!answer.rebuilt) throw new Error(answer.reason);
      const kept = await contentOf(`${file}.rebuilt.mp4`);
      expect(kept.warnings).toBe('');
      expect(kept.pictures).toEqual(whole.pictures.slice(0, kept.pictures.length));
      expect(kept.sound).toEqual(whole.sound.slice(0, kept.sound.length));
      const [pictures = [], sound = []] = await tracksOf(front);
      const inFile = (sample: Sample) => sample.offset + sample.sizeBytes <= length;
      expect(kept.sound.length).toBe(sound.filter(inFile).length);
      expect(pictures.filter(inFile).length - kept.pictures.length).toBeLessThanOrEqual(3);
      const info = await probe(tools, `${file}.rebuilt.mp4`, 'mov');
      expect(info.video[0]?.durationMs).toBeCloseTo((kept.pictures.length * 1000) / 30, 0);
    }
  });

  it('ends a time code with picture and sound, so that the rest of a truncated file has their length', async () => {
    const source = 'testsrc2=s=320x240:r=30[out0];sine[out1]';
    const coded = await make('coded.mp4', source, 3, '-bf 0 -timecode 01:00:00:00 -movflags +faststart');
    expect((await probe(tools, coded, 'mov')).durationMs).toBeCloseTo(3000, -2);
    const cut = (bytes: Buffer) => bytes.subarray(0, Math.floor(bytes.length * 0.6));
    const file = await damaged('coded-cut.mp4', cut, coded);
    const answer = await rebuild(file);
    expect(answer.rebuilt && answer.notes[0]).toMatch(
      /^The file was cut off: the last 1\.\d s of the picture and/,
    );
    const { durationMs, video } = await probe(tools, `${file}.rebuilt.mp4`, 'mov');
    expect(Math.abs((durationMs ?? 0) - (video[0]?.durationMs ?? 0))).toBeLessThan(40);
  });

  it('keeps every picture of a truncated file with unequal display times', async () => {
    const uneven = await make(
      'uneven.mp4',
      "testsrc2=s=320x240:r=30[v];[v]select='mod(n\\,5)-3'[out0];anoisesrc=c=pink:a=0.3:r=44100:seed=3[out1]",
      4,
      '-bf 0 -fps_mode passthrough -movflags +faststart',
    );
    const samples = (await tracksOf(uneven))[0] ?? [];
    const last = samples[60];
    if (!last) throw new Error('The clip has too few pictures.');
    const end = last.offset + last.sizeBytes;
    const file = await damaged('uneven-cut.mp4', (bytes) => bytes.subarray(0, end), uneven);
    expect((await rebuild(file)).rebuilt).toBe(true);
    const before = await wholeOf(uneven);
    expect((await contentOf(`${file}.rebuilt.mp4`)).pictures).toEqual(before.pictures.slice(0, 61));
  });

  it('rebuilds a lost index from an earlier clip of the same device, pictures bit-exact', async () => {
    const mdat = (await topLevelOf(back)).find((box) => box.type === 'mdat');
    const file = await damaged(
      'lost.mp4',
      (bytes) => {
        bytes.writeUInt32BE(0, mdat?.offset ?? 0);
        return withoutNote(bytes.subarray(0, (mdat?.offset ?? 0) + (mdat?.sizeBytes ?? 0)));
      },
      back,
    );
    const alone = await rebuild(file);
    expect(alone.rebuilt ? '' : alone.reason).toMatch(/healthy clip from the same device/);
    const other = await make(
      'other.mp4',
      'testsrc2=s=640x360:r=25[out0];sine[out1]',
      1,
      '-profile:v baseline',
    );
    const answer = await rebuild(file, [other, reference]);
    if (!answer.rebuilt) throw new Error(answer.reason);
    const before = await wholeOf(back);
    const after = await contentOf(`${file}.rebuilt.mp4`);
    expect(after.warnings).toBe('');
    expect(after.pictures).toEqual(before.pictures);
    expect(after.sound).toEqual(before.sound);
    const info = await probe(tools, `${file}.rebuilt.mp4`, 'mov');
    const original = await probe(tools, back, 'mov');
    expect(info.video[0]?.durationMs).toBe(original.video[0]?.durationMs);
    expect(Math.abs((info.audio[0]?.durationMs ?? 0) - (original.audio[0]?.durationMs ?? 0))).toBeLessThan(
      50,
    );
    expect(answer.notes.join(' ')).toContain('120 frames');
  });

  it('does not accept the settings of another device for a still shot, whose short pictures decode under any', async () => {
    const still =
      'trim=end_frame=1,loop=loop=-1:size=1,setpts=N/30/TB[out0];anoisesrc=c=pink:r=44100:seed=3[out1]';
    const shot = await make('still.mp4', `testsrc2=s=320x240:r=30,${still}`, 4, '');
    const others = [
      await make('large.mp4', 'testsrc2=s=1280x720:r=25[out0];sine[out1]', 1, ''),
      await make('tall.mp4', 'testsrc2=s=360x640:r=25[out0];sine[out1]', 1, ''),
      await make('small.mp4', 'testsrc2=s=256x144:r=25[out0];sine[out1]', 1, ''),
    ];
    const mdat = (await topLevelOf(shot)).find((box) => box.type === 'mdat');
    const end = (mdat?.offset ?? 0) + (mdat?.sizeBytes ?? 0);
    const file = await damaged('still-lost.mp4', (bytes) => withoutNote(bytes.subarray(0, end)), shot);
    const wrong = await rebuild(file, others);
    expect(wrong.rebuilt ? '' : wrong.reason).toMatch(/healthy clip from the same device/);
    const answer = await rebuild(file, [...others, reference]);
    if (!answer.rebuilt) throw new Error(answer.reason);
    expect((await contentOf(`${file}.rebuilt.mp4`)).pictures).toEqual((await wholeOf(shot)).pictures);
  });

  it('finds sound and pictures when a camera writes a header before each piece, and telemetry between them', async () => {
    const bytes = await readFile(back);
    const handle = await open(back);
    const movie = await readMovie(handle);
    await handle.close();
    const chunks = movie.tracks.flatMap(({ stbl }) => readChunks(stbl)).sort((a, b) => a.offset - b.offset);
    const header = Buffer.from('GP\x05\0\0\0\0\x04\0\0\x0b\xbb\0\0\0\0', 'latin1');
    const random = seededRandom(3);
    const telemetry = () => Buffer.from(Array.from({ length: 300 }, () => Math.floor(256 * random())));
    const media = chunks.flatMap(({ offset, sizeBytes }, at) => [
      ...(at % 10 === 5 ? [header, telemetry()] : []),
      header,
      bytes.subarray(offset, offset + sizeBytes),
    ]);
    const file = path.join(folder, 'headed.mp4');
    const start = (movie.topLevel.boxes.find((box) => box.type === 'mdat')?.offset ?? 0) + 8;
    await writeFile(file, Buffer.concat([bytes.subarray(0, start), ...media]));
    const answer = await rebuild(file, [reference]);
    if (!answer.rebuilt) throw new Error(answer.reason);
    const [before, after] = [await wholeOf(back), await contentOf(`${file}.rebuilt.mp4`)];
    expect(after.pictures).toEqual(before.pictures);
    expect(after.sound).toEqual(before.sound);
  });

  it('does so for HEVC, with pictures displayed in another order than they are coded', async () => {
    const coded =
      '-c:v libx265 -preset ultrafast -x265-params log-level=none:bframes=3:keyint=30:open-gop=1 -tag:v hvc1';
    const clip = await make('back-hevc.mp4', 'testsrc2=s=320x240:r=30[out0];sine=r=44100[out1]', 3, coded);
    const other = await make('other-hevc.mp4', 'testsrc=s=320x240:r=30[out0];sine=r=44100[out1]', 1, coded);
    const mdat = (await topLevelOf(clip)).find((box) => box.type === 'mdat');
    const file = await damaged(
      'lost-hevc.mp4',
      (bytes) => bytes.subarray(0, (mdat?.offset ?? 0) + (mdat?.sizeBytes ?? 0)),
      clip,
    );
    const alone = await rebuild(file);
    expect(alone.rebuilt ? '' : alone.reason).toMatch(/healthy clip from the same device/);
    const answer = await rebuild(file, [reference, other]);
    if (!answer.rebuilt) throw new Error(answer.reason);
    const before = await wholeOf(clip);
    const after = await contentOf(`${file}.rebuilt.mp4`);
    expect(before.pictures).toHaveLength(90);
    expect(after.pictures).toEqual(before.pictures);
    const [info, original] = [
      await probe(tools, `${file}.rebuilt.mp4`, 'mov'),
      await probe(tools, clip, 'mov'),
    ];
    expect(info.video[0]?.durationMs).toBe(original.video[0]?.durationMs);
    expect(Math.abs((info.audio[0]?.durationMs ?? 0) - (original.audio[0]?.durationMs ?? 0))).toBeLessThan(
      50,
    );
  });

  it('rebuilds a lost index from parameter sets among the pictures', async () => {
    const stream = path.join(folder, 'inband.ts');
    await runFfmpeg(
      {
        label: 'make in-band',
        inputs: [{ path: back }],
        outputs: [{ path: stream, options: '-c copy -an'.split(' ') }],
        expectedDurationMs: null,
      },
      { tools },
    );
    const whole = path.join(folder, 'inband.mp4');
    await runFfmpeg(
      {
        label: 'make in-band',
        inputs: [{ path: stream }],
        outputs: [{ path: whole, options: '-c copy'.split(' ') }],
        expectedDurationMs: null,
      },
      { tools },
    );
    const moov = (await topLevelOf(whole)).find((box) => box.type === 'moov');
    const file = await damaged('inband-lost.mp4', (bytes) => bytes.subarray(0, moov?.offset), whole);
    const answer = await rebuild(file);
    if (!answer.rebuilt) throw new Error(answer.reason);
    const hash = async (clip: string) =>
      (await runTool('hash', tools.ffmpeg, ['-v', 'error', '-i', clip, '-map', '0:v', '-f', 'md5', '-']))
        .stdout;
    expect(await hash(`${file}.rebuilt.mp4`)).toBe(await hash(back));
    expect((await probe(tools, `${file}.rebuilt.mp4`, 'mov')).video[0]?.frameRate).toBeCloseTo(30, 2);
  });

  /** Offset of the payload of a table of the first (video) track. */
  const tableAt = (bytes: Buffer, type: string) => bytes.indexOf(type, 0, 'latin1') + 4;
  const addTo = (bytes: Buffer, at: number, amount: number) =>
    bytes.writeUInt32BE(bytes.readUInt32BE(at) + amount, at);

  it.each<[string, (bytes: Buffer) => Buffer]>([
    [
      'all chunk offsets are wrong by one distance',
      (bytes) => {
        for (let at = bytes.indexOf('stco'); at >= 0; at = bytes.indexOf('stco', at + 4)) {
          const count = bytes.readUInt32BE(at + 8);
          for (let chunk = 0; chunk < count; chunk += 1) addTo(bytes, at + 12 + 4 * chunk, 32);
        }
        return bytes;
      },
    ],
    [
      'the chunk offsets of the sound alone are wrong by one distance',
      (bytes) => {
        const at = bytes.lastIndexOf('stco');
        const count = bytes.readUInt32BE(at + 8);
        for (let chunk = 0; chunk < count; chunk += 1) addTo(bytes, at + 12 + 4 * chunk, 100);
        return bytes;
      },
    ],
    [
      'one chunk offset is wrong',
      (bytes) => {
        addTo(bytes, tableAt(bytes, 'stco') + 8 + 4 * 3, 7);
        return bytes;
      },
    ],
    [
      'one chunk lies beyond the end',
      (bytes) => {
        bytes.writeUInt32BE(0xfffffff0, tableAt(bytes, 'stco') + 8 + 4 * 3);
        return bytes;
      },
    ],
    [
      'one picture size is too large',
      (bytes) => {
        addTo(bytes, tableAt(bytes, 'stsz') + 12 + 4 * 50, 13);
        return bytes;
      },
    ],
    [
      'one picture size is absurd',
      (bytes) => {
        bytes.writeUInt32BE(0x7fffffff, tableAt(bytes, 'stsz') + 12 + 4 * 50);
        return bytes;
      },
    ],
  ])('finds all pictures and all sound again when %s', async (name, change) => {
    const file = await damaged(`${name.replaceAll(' ', '-')}.mp4`, change, front);
    const answer = await rebuild(file);
    if (!answer.rebuilt) throw new Error(answer.reason);
    expect(answer.notes.join(' ')).toContain('pointed at the wrong places');
    expect(await contentOf(`${file}.rebuilt.mp4`)).toEqual(await wholeOf(front));
  });

  it.each([[[40]], [[40, 41]]])(
    'leaves a right list alone when pictures of several slices are damaged (%j)',
    async (hit) => {
      const name = `slices-${hit.length}`;
      const clip = await make(`${name}.mp4`, 'testsrc2=s=320x240:r=30[out0]', 3, '-slices 4 -bf 2');
      const [samples = []] = await tracksOf(clip);
      const zero = (bytes: Buffer) => {
        for (const number of hit) {
          const { offset = 0 } = samples[number] ?? {};
          const second = offset + 4 + bytes.readUInt32BE(offset);
          bytes.fill(0, second, second + 60);
        }
        return bytes;
      };
      const answer = await rebuild(await damaged(`${name}-zeroed.mp4`, zero, clip));
      expect(answer.rebuilt).toBe(false);
    },
  );

  it('leaves a right list alone when the damaged picture is the last before a piece of sound', async () => {
    const source = 'testsrc2=s=320x240:r=30[out0];sine=f=300:r=44100[out1]';
    const clip = await make('slices-sound.mp4', source, 3, '-slices 4 -bf 2');
    const [samples = []] = await tracksOf(clip);
    const last = samples.find(({ chunk }, at) => at > 40 && samples[at + 1]?.chunk === chunk + 1);
    const offset = last?.offset ?? 0;
    const scramble = (bytes: Buffer) => {
      const second = offset + 4 + bytes.readUInt32BE(offset);
      bytes.fill(0xa5, second, second + 60);
      return bytes;
    };
    const answer = await rebuild(await damaged('slices-sound-torn.mp4', scramble, clip));
    expect(answer.rebuilt).toBe(false);
  });

  it.each<[string, (bytes: Buffer) => Buffer]>([
    [
      'is cut off behind its first track',
      (bytes) => bytes.subarray(0, bytes.indexOf('stts', 0, 'latin1') + 8),
    ],
    [
      'has lost its name',
      (bytes) => {
        bytes.write('mo_v', bytes.lastIndexOf('moov'), 'latin1');
        return bytes;
      },
    ],
    [
      'has no size of any picture',
      (bytes) => {
        const at = tableAt(bytes, 'stsz');
        return Buffer.from(bytes.fill(0, at + 12, at + 12 + 4 * bytes.readUInt32BE(at + 8)));
      },
    ],
    [
      'gives the pictures no time',
      (bytes) => {
        const at = tableAt(bytes, 'stts');
        for (let run = 0; run < bytes.readUInt32BE(at + 4); run += 1)
          bytes.writeUInt32BE(0, at + 12 + 8 * run);
        return bytes;
      },
    ],
    [
      'gives the pictures no time and their media that of one more, as ffmpeg 8 writes it',
      (bytes) => {
        const [times, header] = [tableAt(bytes, 'stts'), bytes.indexOf('mdhd', 0, 'latin1')];
        const each = bytes.readUInt32BE(times + 12);
        bytes.writeUInt32BE(0, times + 12);
        bytes.writeUInt32BE(121 * each, header + 20);
        return bytes;
      },
    ],
    [
      'shows nothing of the pictures',
      (bytes) => {
        bytes.writeUInt32BE(0x10000000, tableAt(bytes, 'elst') + 12);
        return bytes;
      },
    ],
  ])('restores all pictures when the index %s', async (name, change) => {
    const file = await damaged(`index-${name.replaceAll(' ', '-')}.mp4`, change, back);
    const answer = await rebuild(file);
    if (!answer.rebuilt) throw new Error(answer.reason);
    const after = await contentOf(`${file}.rebuilt.mp4`, false);
    expect(after.warnings).toBe('');
    expect(after.pictures).toEqual((await wholeOf(back)).pictures);
    const info = await probe(tools, `${file}.rebuilt.mp4`, 'mov');
    expect(info.video[0]?.frameRate).toBeCloseTo(30, 1);
  });

  it.each<[string, number]>([
    ['added', 50],
    ['lost', -100],
  ])('finds everything after a place where bytes were %s', async (name, amount) => {
    const [pictures = [], sound = []] = await tracksOf(front);
    const hit = pictures[62];
    if (!hit) throw new Error('The clip has no such picture.');
    const at = hit.offset + (hit.sizeBytes >> 1);
    const file = await damaged(
      `bytes-${name}.mp4`,
      (bytes) =>
        Buffer.concat([
          bytes.subarray(0, at),
          Buffer.alloc(Math.max(0, amount)),
          bytes.subarray(at + Math.max(0, -amount)),
        ]),
      front,
    );
    const answer = await rebuild(file);
    if (!answer.rebuilt) throw new Error(answer.reason);
    const bytes = await readFile(`${file}.rebuilt.mp4`);
    const original = await readFile(front);
    const [found = [], foundSound = []] = await tracksOf(`${file}.rebuilt.mp4`);
    const bytesOf = (from: Buffer, { offset, sizeBytes }: Sample) =>
      from.subarray(offset, offset + sizeBytes).toString('base64');
    const differing = pictures.flatMap((sample, index) => {
      const now = found[index];
      return now && now.pts === sample.pts && bytesOf(bytes, now) === bytesOf(original, sample)
        ? []
        : [index];
    });
    expect(differing).toEqual([62]);
    expect(foundSound.map((sample) => bytesOf(bytes, sample))).toEqual(
      sound.map((sample) => bytesOf(original, sample)),
    );
  });

  it('says what is missing when nothing can be done', async () => {
    const start = await damaged('start.mp4', (bytes) => bytes.subarray(0, 4000), back);
    expect(await rebuild(start)).toEqual({
      rebuilt: false,
      reason: 'Only the first 4 kB of the file are there; the index and the video data are missing.',
    });
    const noMedia = await damaged('no-media.mp4', (bytes) => bytes.subarray(0, 7000), front);
    const answer = await rebuild(noMedia);
    expect(answer.rebuilt ? '' : answer.reason).toMatch(/missing/);
  });
});
