import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { misplacePictures } from '#server/test/broken-clips.ts';
import { onceForEach } from '#server/test/once-for-each.ts';
import { testTools } from '#server/test/media-job.ts';
import { clipHashes, encodeSource, renderLimits, sharedFolder } from '#server/test/rendered-clips.ts';
import type { MediaLimits } from '../worker-protocol.ts';
import { openOriginal } from './open-original.ts';

/** Opens a clip, with the files that must be written beside it. */
const openAs = (inputPath: string, limits: Partial<MediaLimits> = {}) =>
  openOriginal({
    inputPath,
    rebuiltPath: path.join(path.dirname(inputPath), 'rebuilt.mp4'),
    referencePaths: [],
    limits: { ...renderLimits, ...limits },
    tools: testTools,
  });

describe('openOriginal', () => {
  const folder = sharedFolder();
  const at = () => path.join(folder.path, 'clip.mp4');
  beforeAll(() => encodeSource('testsrc=s=64x64:r=25:d=2', at(), ['-c:v', 'libx264']));
  const open = (limits: Partial<MediaLimits>) => openAs(at(), limits);

  it('accepts a clip within the limits unchanged', async () => {
    expect(await open({ maxPictures: 50, maxDurationMs: 2000 })).toMatchObject({ rebuilt: null });
  });

  it.each([
    [{ maxDurationMs: 1000 }, /longer than 0 minutes.*shorter parts/],
    [{ maxPictures: 49 }, /50 frames; the memory of this server is enough for 49\. Cut it/],
  ])('refuses one beyond %j, saying what to do', async (limits, message) => {
    await expect(open(limits)).rejects.toMatchObject({
      code: 'too_long',
      message: expect.stringMatching(message),
    });
  });
});

describe('openOriginal on a piece of a broadcast', () => {
  const folder = sharedFolder();

  it('accepts it with the length of its pictures, not of the whole broadcast', async () => {
    const inputPath = path.join(folder.path, 'piece.mp4');
    const fragments = '-c:v libx264 -movflags empty_moov+frag_keyframe+default_base_moof'.split(' ');
    await encodeSource('testsrc=s=64x64:r=25:d=2', inputPath, fragments);
    const bytes = await readFile(inputPath);
    // After version, flags, two times and the timescale (ISO/IEC 14496-12, 8.4.2).
    const header = bytes.indexOf('mdhd', 0, 'latin1') + 4;
    const hours = 2;
    bytes.writeUInt32BE(hours * 3600 * bytes.readUInt32BE(header + 12), header + 16);
    await writeFile(inputPath, bytes);
    const { info } = await openAs(inputPath, { maxDurationMs: hours * 1_800_000 });
    expect(info).toMatchObject({ durationMs: 2000, video: [{ durationMs: 2000 }] });
  });
});

describe('openOriginal on whole files of other codecs', () => {
  const folder = sharedFolder();
  const SOURCE = 'testsrc=s=64x64:r=25:d=1[out0];sine=d=1[out1]';
  const open = async (name: string, encode: string) => {
    const inputPath = path.join(folder.path, name);
    await encodeSource(SOURCE, inputPath, encode.split(' '));
    return openAs(inputPath);
  };

  it.each([
    ['animation.mov', '-c:v qtrle -c:a aac', /coded as qtrle.*Export the clip as H\.264/],
    ['archive.avi', '-c:v huffyuv -c:a mp3', /coded as huffyuv.*Export the clip as H\.264/],
    ['old-sound.mov', '-c:v libx264 -c:a adpcm_ima_qt -ar 44100', /coded as adpcm_ima_qt/],
  ])(
    'says which codec of %s it does not take, and not that the file is damaged',
    async (name, encode, said) => {
      await expect(open(name, encode)).rejects.toMatchObject({
        code: 'unsupported_codec',
        message: expect.stringMatching(said),
      });
    },
  );

  it.each(['pcm_s8', 'pcm_s32be', 'pcm_f32be', 'pcm_f64le'])(
    'accepts %s sound of QuickTime files',
    async (codec) => {
      const { info } = await open(`${codec}.mov`, `-c:v libx264 -c:a ${codec}`);
      expect(info.audio.map((stream) => stream.codec)).toEqual([codec]);
    },
  );
});

describe('openOriginal on intact files that cannot be repaired', () => {
  const folder = sharedFolder();
  const KEY = '0123456789abcdef0123456789abcdef';
  const open = async (name: string, encode: string) => {
    const inputPath = path.join(folder.path, name);
    await encodeSource('testsrc=s=64x64:r=25:d=1[out0];sine=d=1[out1]', inputPath, encode.split(' '));
    return openAs(inputPath);
  };

  it('distinguishes an encrypted clip from a damaged one', async () => {
    const encrypt = `-encryption_scheme cenc-aes-ctr -encryption_key ${KEY} -encryption_kid ${KEY}`;
    await expect(open('protected.mp4', `-c:v libx264 -c:a aac ${encrypt}`)).rejects.toMatchObject({
      code: 'unsupported_codec',
      message: expect.stringMatching(/encrypted \(copy protection\).*without protection/),
    });
  });

  /** A clip with other names in its index; those that name media occur there only. */
  async function openRenamed(name: string, encode: string, names: Readonly<Record<string, string>>) {
    const inputPath = path.join(folder.path, name);
    await encodeSource('testsrc=s=64x64:r=25:d=1', inputPath, encode.split(' '));
    const bytes = await readFile(inputPath);
    const index = bytes.lastIndexOf('moov', undefined, 'latin1');
    for (const [from, to] of Object.entries(names)) bytes.write(to, bytes.indexOf(from, index, 'latin1'));
    await writeFile(inputPath, bytes);
    return openAs(inputPath);
  }

  it.each([
    ['vvc1', '-c:v libx264', { avc1: 'vvc1' }, 'in the format vvc1 (VVC)'],
    ['dav1', '-c:v libx264', { avc1: 'dav1' }, 'in the format dav1 (Dolby Vision in AV1)'],
    // Without a readable record of its own kind, no other codec can be meant.
    ['new9', '-c:v libvpx-vp9', { vp09: 'new9', vpcC: 'newC' }, 'in the format new9'],
  ])('names the codec %s that its decoders do not know', async (name, encode, names, said) => {
    await expect(openRenamed(`${name}.mp4`, encode, names)).rejects.toMatchObject({
      code: 'unsupported_codec',
      message: expect.stringContaining(`${said}, which cannot be repaired here`),
    });
  });

  it('says of a scene without pictures that there is no video', async () => {
    await expect(
      openRenamed('scene.mp4', '-c:v libx264', { vide: 'sdsm', vmhd: 'nmhd' }),
    ).rejects.toMatchObject({
      code: 'no_video_track',
      message: 'There is no video in this file. It has a drawn scene only.',
    });
  });

  /** An index before its media, and what stands behind it. */
  async function makeIndex(name: string) {
    const whole = path.join(folder.path, name);
    await encodeSource('testsrc=s=64x64:r=25:d=1', whole, '-c:v libx264 -movflags faststart'.split(' '));
    const bytes = await readFile(whole);
    const end = bytes.indexOf('mdat', 0, 'latin1') - 4;
    return { index: bytes.subarray(0, end), media: bytes.subarray(end) };
  }

  it('says of an index alone that the media are missing, and opens one whose media have another name', async () => {
    const { index, media } = await makeIndex('index.mp4');
    const alone = path.join(folder.path, 'alone.mp4');
    await writeFile(alone, index);
    await expect(openAs(alone)).rejects.toMatchObject({
      code: 'damaged_beyond_repair',
      message: expect.stringMatching(/only the index of the file is there.*copy or upload the whole of it/),
    });
    media.write('free', 4);
    await writeFile(alone, Buffer.concat([index, media]));
    await expect(openAs(alone)).resolves.toMatchObject({ info: { video: [{ codec: 'h264' }] } });
  });

  it('says of pictures in other files that the clip only refers to them', async () => {
    const { index } = await makeIndex('own.mp4');
    // An alias (QuickTime File Format) takes the place of the reference to the file itself.
    const grown = 36;
    const at = index.indexOf('url ', 0, 'latin1') - 4;
    const alias = Buffer.concat([
      Buffer.from([0, 0, 0, 12 + grown, ...Buffer.from('alis'), 0, 0, 0, 0]),
      Buffer.alloc(grown, 65),
    ]);
    const bytes = Buffer.concat([index.subarray(0, at), alias, index.subarray(at + 12)]);
    for (const box of ['moov', 'trak', 'mdia', 'minf', 'dinf', 'dref']) {
      const size = bytes.indexOf(box, 0, 'latin1') - 4;
      bytes.writeUInt32BE(bytes.readUInt32BE(size) + grown, size);
    }
    const inputPath = path.join(folder.path, 'refers.mov');
    await writeFile(inputPath, bytes);
    await expect(openAs(inputPath)).rejects.toMatchObject({
      code: 'damaged_beyond_repair',
      message: expect.stringMatching(/its pictures are in other files.*save it as a self-contained movie/),
    });
  });

  it.each([
    ['sound.mp4', '-map 0:1 -c:a aac'],
    ['sound.mov', '-map 0:1 -c:a adpcm_ima_qt -ar 44100'],
  ])('says that %s contains only sound', async (name, encode) => {
    await expect(open(name, encode)).rejects.toMatchObject({
      code: 'no_video_track',
      message: 'There is no video in this file. It has sound only.',
    });
  });

  it('says of the head of a stream in pieces what is missing and what to do', async () => {
    const whole = path.join(folder.path, 'pieces.mp4');
    const pieces = '-c:v libx264 -c:a aac -movflags frag_keyframe+empty_moov+default_base_moof';
    await encodeSource('testsrc=s=64x64:r=25:d=1[out0];sine=d=1[out1]', whole, pieces.split(' '));
    const bytes = await readFile(whole);
    const inputPath = path.join(folder.path, 'head.mp4');
    await writeFile(inputPath, bytes.subarray(0, bytes.indexOf('moof', 0, 'latin1') - 4));
    await expect(openAs(inputPath)).rejects.toMatchObject({
      code: 'damaged_beyond_repair',
      message: expect.stringMatching(/only the head of a stream.*save the whole stream as one file/),
    });
    await expect(openAs(whole)).resolves.toMatchObject({ rebuilt: null });
  });

  it('says of intact subtitles in a file of their own, with and without sound, that there are no pictures', async () => {
    const subtitles = path.join(folder.path, 'words.srt');
    await writeFile(subtitles, '1\n00:00:00,000 --> 00:00:01,000\nHello\n');
    for (const [name, map, has] of [
      ['text.mp4', ['-map', '1:s'], 'text'],
      ['sound-and-text.mp4', ['-map', '0:a', '-map', '1:s'], 'sound and text'],
    ] as const) {
      const inputPath = path.join(folder.path, name);
      await encodeSource('sine=d=1', inputPath, ['-i', subtitles, ...map, '-c:s', 'mov_text']);
      await expect(openAs(inputPath)).rejects.toMatchObject({
        code: 'no_video_track',
        message: `There is no video in this file. It has ${has} only.`,
      });
    }
  });
});

describe('openOriginal on files that were damaged as a whole', () => {
  const folder = sharedFolder();
  const SOURCE = 'testsrc2=s=128x96:r=25:d=2[out0];anoisesrc=c=pink:a=0.2:r=44100:d=2:seed=3[out1]';

  /** A clip of this codec. */
  const wholeOf = onceForEach((codec: string) => {
    const options = ['-c:v', codec, '-g', '25', '-pix_fmt', 'yuv420p', '-c:a', 'aac'];
    return encodeSource(SOURCE, path.join(folder.path, `${codec}.mp4`), options);
  });

  /** Hashes of its pictures and its sound. */
  const contentOf = onceForEach(clipHashes);

  async function openChanged(codec: string, change: (bytes: Buffer) => Buffer) {
    const whole = await wholeOf(codec);
    const inputPath = path.join(folder.path, 'changed.mp4');
    await writeFile(inputPath, change(await readFile(whole)));
    const clip = await openAs(inputPath);
    return { whole, clip };
  }

  const ofLatin1 = (change: (text: string) => string) => (bytes: Buffer) =>
    Buffer.from(change(bytes.toString('latin1')), 'latin1');
  const withoutName = ofLatin1((text) => text.replace('moov', 'free'));
  /** A movie header without tracks before the true index, as recorders leave as a draft. */
  const withDraft = (bytes: Buffer) => {
    const header = bytes.indexOf('mvhd', 0, 'latin1') - 4;
    const draft = Buffer.concat([
      Buffer.from([0, 0, 0, 116, ...Buffer.from('moov')]),
      bytes.subarray(header, header + 108),
    ]);
    const moov = header - 8;
    return Buffer.concat([bytes.subarray(0, moov), draft, bytes.subarray(moov)]);
  };

  it.each([
    [
      'bytes of something else in front',
      'libx264',
      (bytes: Buffer) => Buffer.concat([Buffer.alloc(777, 'x'), bytes]),
      /begins 777 bytes into/,
    ],
    [
      'changed line ends',
      'libx264',
      ofLatin1((text) => text.replaceAll('\n', '\r\n')),
      /line ends were changed/,
    ],
    [
      'bytes written as characters',
      'libx264',
      (bytes: Buffer) => Buffer.from(bytes.toString('latin1'), 'utf8'),
      /written as characters/,
    ],
    ['an index that lost its name', 'libx264', withoutName, /inside a box of another kind/],
    ['a draft of an index in front', 'libx264', withDraft, /index without frames/],
    ['wrong offsets of the pictures', 'libx264', misplacePictures, /wrong places/],
    ['wrong offsets of HEVC pictures', 'libx265', misplacePictures, /wrong places/],
  ])('restores every picture and all sound of a clip with %s', async (_what, codec, change, note) => {
    const { whole, clip } = await openChanged(codec, change);
    expect(clip.rebuilt?.notes.join(' ')).toMatch(note);
    const { hashes, warnings, sound } = await clipHashes(clip.path);
    const before = await contentOf(whole);
    expect(hashes).toEqual(before.hashes);
    expect(hashes).toHaveLength(50);
    expect(warnings).toBe('');
    expect(sound).toBe(before.sound);
  });

  it.each([
    [
      'every highest bit lost',
      (bytes: Buffer) => Buffer.from(bytes.map((byte) => byte & 127)),
      /sent as text.*highest bit/,
    ],
    ['nothing but zeros', (bytes: Buffer) => Buffer.alloc(bytes.length), /nothing but zeros/],
  ])('says why a clip with %s cannot be repaired', async (_what, change, message) => {
    await expect(openChanged('libx264', change)).rejects.toMatchObject({
      code: 'damaged_beyond_repair',
      message: expect.stringMatching(message),
    });
  });

  it('says for a clip whose end was never copied how much is missing, and what to do', async () => {
    const withoutEnd = (bytes: Buffer) =>
      Buffer.concat([bytes.subarray(0, bytes.length / 2), Buffer.alloc(bytes.length / 2)]);
    await expect(openChanged('mpeg4', withoutEnd)).rejects.toMatchObject({
      code: 'damaged_beyond_repair',
      message: expect.stringMatching(
        /^This clip cannot be repaired: .* The last 50 % of the file are nothing but zeros: .*add it again/,
      ),
    });
    const { clip } = await openChanged('libx264', withoutEnd);
    expect(clip.rebuilt?.notes.at(-1)).toMatch(/^The last 50 % of the file are nothing but zeros/);
  });
});
