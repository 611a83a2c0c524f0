import { describe, expect, it } from 'vitest';
import { parsePps } from '#server/media/h264/pps.ts';
import { parseSps } from '#server/media/h264/sps.ts';
import { readNote } from './rebuild-index-note.ts';
import { guessPadding, STEPS } from './rebuild-index-note-crop.ts';
import { guessSets, writeSets } from './rebuild-index-note-sets.ts';
import { createTrialLog, sizeOf } from './rebuild-index-note-size.ts';

const HEAD =
  'x264 - core 164 r3095 baee400 - H.264/MPEG-4 AVC codec - http://www.videolan.org/x264.html - options: ';
const MEDIUM =
  'cabac=1 ref=3 deblock=1:0:0 analyse=0x3:0x113 8x8dct=1 cqm=0 chroma_qp_offset=-2 threads=3 interlaced=0 constrained_intra=0 bframes=3 b_pyramid=2 weightb=1 weightp=2 keyint=250 keyint_min=25 rc=crf crf=23.0 qpmax=69';
const ULTRAFAST =
  'cabac=0 ref=1 deblock=0:0:0 analyse=0:0 8x8dct=0 cqm=0 chroma_qp_offset=0 threads=3 interlaced=0 constrained_intra=0 bframes=0 weightp=0 keyint=250 keyint_min=25 rc=crf crf=23.0 qpmax=69';

const noteOf = (options: string) => {
  const note = readNote(HEAD + options);
  if (!note) throw new Error('This is no note.');
  return note;
};
/** Start of the first slice of a key picture, with frame numbers of four bits. */
const SLICE = Buffer.from('65888400b7', 'hex');
const NO_CROP = { right: 0, bottom: 0 };

describe('readNote', () => {
  it('reads version and settings', () => {
    const { core, options } = noteOf(MEDIUM);
    expect(core).toBe(164);
    expect(options.get('deblock')).toBe('1:0:0');
    expect(options.get('qpmax')).toBe('69');
  });

  it('refuses other texts', () => {
    expect(readNote('x265 (build 199) - 3.5 - options: ref=3')).toBeNull();
    expect(readNote('x264 - core 164 without settings')).toBeNull();
  });
});

describe('guessSets', () => {
  it('gives the parameter sets that x264 writes for these settings', () => {
    const [guess] = guessSets(noteOf(MEDIUM), SLICE);
    if (!guess) throw new Error('There is no guess.');
    const { sps, pps } = writeSets(guess, { widthMbs: 120, heightMbs: 68, crop: { right: 0, bottom: 8 } });
    // As written by x264 for 1920x1080.
    expect(parseSps(sps)).toMatchObject({
      profile: 100,
      level: 40,
      frameNumBits: 4,
      pocType: 0,
      pocBits: 6,
      maxRefFrames: 4,
      widthMbs: 120,
      heightMbs: 68,
      frameMbsOnly: true,
      crop: { left: 0, right: 0, top: 0, bottom: 8 },
      pictureRate: null,
    });
    expect(pps.toString('hex')).toBe('68ebe3cb22c0');
  });

  it('recognises Baseline, whose pictures are displayed as they are decoded', () => {
    const [guess] = guessSets(noteOf(ULTRAFAST), SLICE);
    if (!guess) throw new Error('There is no guess.');
    const { sps, pps } = writeSets(guess, { widthMbs: 40, heightMbs: 23, crop: NO_CROP });
    expect(parseSps(sps)).toMatchObject({ profile: 66, pocType: 2, maxRefFrames: 1 });
    expect(parsePps(pps)).toMatchObject({ cabac: false, refs0: 1, initQp: -3, extension: null });
  });

  it.each([
    ['fields', MEDIUM.replace('interlaced=0', 'interlaced=tff')],
    ['matrices of the user', MEDIUM.replace('cqm=0', 'cqm=2')],
  ])('has none for %s', (_, options) => {
    expect(guessSets(noteOf(options), SLICE)).toEqual([]);
  });

  it('has none without CABAC when the QP is uncertain, because any would decode', () => {
    const byRate = (rate: string) => ULTRAFAST.replace('rc=crf crf=23.0', `rc=${rate} bitrate=800`);
    expect(guessSets(noteOf(byRate('abr')), SLICE)).not.toEqual([]);
    expect(guessSets(noteOf(byRate('2pass')), SLICE)).toEqual([]);
    const cabac = byRate('2pass').replace('cabac=0', 'cabac=1');
    expect(new Set(guessSets(noteOf(cabac), SLICE).map(({ pps }) => pps.initQp)).size).toBe(52);
  });
});

describe('createTrialLog', () => {
  const read = (...lines: string[]) => {
    const log = createTrialLog();
    for (const line of lines) log.read(line);
    return log.trials();
  };

  it('chooses the decoder that fits all sizes, and counts what is missing under each', () => {
    const trials = read(
      '[h264 @ 0x1] Reinit context to 640x1920, pix_fmt: yuv420p',
      '[h264 @ 0x1] error while decoding MB 3 2, bytestream 400',
      '[h264 @ 0x2] Reinit context to 640x1920, pix_fmt: yuv420p',
      '[h264 @ 0x2] error while decoding MB 3 2, bytestream 400',
      '[h264 @ 0x2] concealing 4700 DC, 4700 AC, 4700 MV errors in I frame',
      '[graph 0 input from stream 0:0 @ 0x3] w:640 h:1920 pixfmt:yuv420p',
      '[h264 @ 0x2] Reinit context to 1280x3840, pix_fmt: yuv420p',
      '[h264 @ 0x2] concealing 15600 DC, 15600 AC, 15600 MV errors in I frame',
    );
    expect(trials).toEqual([
      { widthMbs: 40, heightMbs: 120, isBroken: true, missingMbs: 4700 },
      { widthMbs: 80, heightMbs: 240, isBroken: false, missingMbs: 15_600 },
    ]);
    expect(trials.map(sizeOf)).toEqual([null, { widthMbs: 80, heightMbs: 45 }]);
  });

  it('rejects a size whose last row is not full, or that is far from any picture shape', () => {
    expect(sizeOf({ widthMbs: 80, heightMbs: 240, isBroken: false, missingMbs: 15_601 })).toBeNull();
    expect(sizeOf({ widthMbs: 80, heightMbs: 240, isBroken: false, missingMbs: 19_040 })).toBeNull();
  });
});

describe('guessPadding', () => {
  const steps = (padding: number, shown: number, hidden: number) =>
    Array.from({ length: STEPS }, (_, at) => (at < STEPS - padding ? shown : hidden));

  it('cuts 1088 lines to 1080, whether the last ones show it or nothing does', () => {
    expect(guessPadding(68, steps(8, 4, 0.1))).toBe(8);
    expect(guessPadding(68, steps(0, 0, 0))).toBe(8);
  });

  it('cuts nothing when the last lines show as much as the others', () => {
    expect(guessPadding(68, steps(0, 4, 4))).toBe(0);
    expect(guessPadding(45, steps(0, 0, 0))).toBe(0);
  });

  it('derives other lengths from the lines themselves', () => {
    expect(guessPadding(31, steps(12, 2, 0.05))).toBe(12);
    expect(guessPadding(31, steps(4, 2, 0.2))).toBe(4);
  });
});
