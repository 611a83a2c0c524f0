import { describe, expect, it } from 'vitest';
import { damageReason, findBadPackets, spreadDamage, type CorruptionInput } from './detect-corruption.ts';
import type { PictureIndex } from '../packets/picture-times.ts';
import type { VideoPacket } from '../packets/read-packets.ts';

/** Decode order I0 P3 B1 B2 P6 B4 B5, twice: two closed groups of seven pictures. */
const DISPLAY = [0, 3, 1, 2, 6, 4, 5, 7, 10, 8, 9, 13, 11, 12];

const packets: VideoPacket[] = DISPLAY.map((frame, i) => ({
  ptsTicks: frame,
  dtsTicks: i - 1,
  durationTicks: 1,
  sizeBytes: 1000,
  offsetBytes: 1000 * i,
  keyframe: frame === 0 || frame === 7,
  shown: true,
}));

function indexWithout(undecoded: readonly number[]): PictureIndex {
  const frames = [...DISPLAY].sort((a, b) => a - b);
  return {
    times: {
      timeBase: { num: 1, den: 25 },
      ptsTicks: frames,
      keyframe: frames.map((frame) => frame % 7 === 0),
      medianIntervalTicks: 1,
      variableByNature: false,
    },
    frameOfPacket: DISPLAY,
    frameOfDecoded: frames.filter((frame) => !undecoded.includes(frame)),
    undecoded,
  };
}

function input(text: string, picturesOut: number, other: Partial<CorruptionInput> = {}): CorruptionInput {
  return {
    codec: 'h264',
    packets,
    index: indexWithout([]),
    pass: { messages: text ? [{ level: 'error', text, picturesOut }] : [], types: [] },
    reorderDepth: 1,
    structure: [],
    ...other,
  };
}

/** Key frames are intra pictures, all others predicted. */
const typeOf = (packet: number) => (packets[packet]?.keyframe ? 'I' : 'P');
const spread = (bad: CorruptionInput, disposable: readonly number[] = []) =>
  spreadDamage(findBadPackets(bad), { ...bad, disposable: new Set(disposable), typeOf });
const spans = (bad: CorruptionInput, disposable: readonly number[] = []) =>
  spread(bad, disposable).map(({ first, last }) => [first, last]);

describe('damageReason', () => {
  it('recognises what decoders say about broken data', () => {
    expect(damageReason({ level: 'error', text: 'h264: error while decoding MB 12 7' })).not.toBeNull();
    expect(damageReason({ level: 'warning', text: 'corrupt decoded frame in stream 0' })).not.toBeNull();
    for (const said of [
      'Error submitting packet to decoder',
      'Decoding error',
      'Error while decoding stream #0:0',
    ])
      expect(damageReason({ level: 'error', text: `${said}: Invalid data found` })).not.toBeNull();
    expect(
      damageReason({ level: 'warning', text: 'h264: concealing 340 DC, 340 AC, 340 MV errors' }),
    ).not.toBeNull();
  });

  it('ignores complaints about unusual but intact streams, containers and scalers', () => {
    for (const text of [
      'h264: Increasing reorder buffer to 2',
      'h264: missing picture in access unit with size 65',
      'mov,mp4,m4a,3gp,3g2,mj2: Could not find codec parameters for stream 1',
      'swscaler: deprecated pixel format used',
      'Guessed Channel Layout for Input Stream #0.1 : mono',
    ]) {
      expect(damageReason({ level: 'error', text })).toBeNull();
    }
  });
});

describe('findBadPackets and spreadDamage', () => {
  it('shift a message by the reordering delay and spread to the next key frame', () => {
    // One picture is out (0), so the third packet is being decoded: picture 1, which later ones may refer to.
    expect(spans(input('h264: error while decoding MB 1 1', 1))).toEqual([
      [1, 2],
      [4, 6],
    ]);
  });

  it('keep damage inside a picture that nothing refers to', () => {
    expect(spans(input('h264: error while decoding MB 1 1', 1), [2])).toEqual([[1, 1]]);
  });

  it('attribute a message about output to the next picture out', () => {
    expect(spans(input('corrupt decoded frame in stream 0', 9), [10])).toEqual([[9, 9]]);
  });

  it('ignore such a message in HEVC, where pictures that only refer to damaged ones cause it too', () => {
    expect(spans(input('corrupt decoded frame', 9, { codec: 'hevc' }), [10])).toEqual([]);
  });

  it('blame the picture that never came out', () => {
    const lost = input('h264: Error splitting the input into NAL units.', 4, { index: indexWithout([4]) });
    const bad = spread(lost, [5]);
    expect(bad).toMatchObject([{ first: 4, last: 4, undecoded: 1, evidence: 'decoder' }]);
  });

  it('name the structure check as the finder where it saw the damage', () => {
    const seen = input('', 0, { structure: [{ frame: 13, reason: 'a NAL unit is longer than its sample' }] });
    expect(spread(seen)).toMatchObject([
      { first: 11, last: 13, evidence: 'structure', reason: 'a NAL unit is longer than its sample' },
    ]);
  });

  it('reach pictures after the next key frame that are displayed before it', () => {
    // Decode order I0 P3 B1 B2 I6 B4 B5 P9 B7 B8: an open group after the key picture 6.
    const shown = [0, 3, 1, 2, 6, 4, 5, 9, 7, 8];
    const open = shown.map((frame, i): VideoPacket => {
      return {
        ptsTicks: frame,
        dtsTicks: i,
        durationTicks: 1,
        sizeBytes: 9,
        offsetBytes: i,
        keyframe: frame % 6 === 0,
        shown: true,
      };
    });
    const index = { ...indexWithout([]), frameOfPacket: shown };
    const bad = [{ packet: 1, evidence: 'decoder', reason: 'broken' } as const];
    const kinds = (packet: number) => (shown[packet] === 0 || shown[packet] === 6 ? 'I' : 'P');
    const found = spreadDamage(bad, { packets: open, index, disposable: new Set(), typeOf: kinds });
    expect(found.map(({ first, last }) => [first, last])).toEqual([[1, 5]]);
  });

  it('reach only pictures that refer to damaged ones when the codec says which they are', () => {
    // By packets: what the fifth refers to is unknown; the sixth refers to the fifth.
    const references = [[], [0], [0, 1], [0], null, [4], [0]];
    const bad = [{ packet: 1, evidence: 'decoder', reason: 'broken' } as const];
    const found = spreadDamage(bad, { ...input('', 0), disposable: new Set(), typeOf, references });
    expect(found.map(({ first, last }) => [first, last])).toEqual([
      [1, 1],
      [3, 4],
      [6, 6],
    ]);
  });

  it('spare pictures that miss one which is lost from the file or cannot be decoded', () => {
    const said = 'hevc: Could not find ref with POC 6';
    // P6 is lost: B4 is decoded two steps after B2.
    const lost = packets.filter((_, at) => at !== 4);
    const shown = DISPLAY.filter((frame) => frame !== 6).map((frame) => (frame > 6 ? frame - 1 : frame));
    const index = {
      ...indexWithout([]),
      frameOfPacket: shown,
      frameOfDecoded: shown.toSorted((a, b) => a - b),
    };
    const missing = { packet: 4, evidence: 'decoder', reason: said.slice(6) } as const;
    const bad = [missing];
    const kinds = (packet: number) => (lost[packet]?.keyframe ? 'I' : 'P');
    const found = spreadDamage(bad, { packets: lost, index, disposable: new Set(), typeOf: kinds });
    expect(found).toMatchObject([{ first: 4, last: 5, damagedData: [] }]);
    // If nothing is lost before it, its own header may be damaged.
    const none = spreadDamage(bad, { ...input('', 0), disposable: new Set(), typeOf });
    expect(none).toMatchObject([{ damagedData: [6] }]);
    // P3 has data that nobody can decode: P6 misses it.
    const undecoded = { ...input('', 0), index: indexWithout([3]), disposable: new Set<number>(), typeOf };
    expect(spreadDamage(bad, undecoded)).toMatchObject([{ damagedData: [] }]);
    const behind = spreadDamage([{ ...missing, packet: 8 }], undecoded);
    expect(behind).toMatchObject([{ damagedData: [10] }]);
  });

  it('do not end where a container marks a predicted picture as a key frame', () => {
    const bad = findBadPackets(input('h264: error while decoding MB 1 1', 1));
    const renewal = { ...input('', 0), disposable: new Set<number>(), typeOf: () => 'P' };
    expect(spreadDamage(bad, renewal).at(-1)).toMatchObject({ last: 13 });
  });

  it('claims one picture when only its neighbours are damaged, and names the data that are bad', () => {
    const structure = [
      { frame: 0, reason: 'a NAL unit has the implausible type 25', beside: true },
      { frame: 10, reason: 'a NAL unit is empty' },
    ];
    expect(spread(input('', 0, { structure }))).toMatchObject([
      { first: 0, last: 0, damagedData: [0], besideOnly: true },
      { first: 8, last: 13, damagedData: [10] },
    ]);
  });

  it('says which hidden pictures the damage comes from, counted back from the first displayed one', () => {
    const firstShown = 3;
    const hidden = packets.map((packet) => ({ ...packet, shown: (packet.ptsTicks ?? 0) >= firstShown }));
    const frameOfPacket = DISPLAY.map((frame) => (frame < firstShown ? null : frame - firstShown));
    const whole = indexWithout([]);
    const index = { ...whole, frameOfPacket, frameOfDecoded: whole.frameOfDecoded.slice(0, -firstShown) };
    const structure = [{ frame: -firstShown, reason: 'the picture has no data' }];
    const bad = input('', 0, { packets: hidden, index, structure });
    expect(spread(bad)).toMatchObject([{ first: 0, last: 3, damagedData: [], hiddenData: [-firstShown] }]);
    const beyond = [{ frame: -firstShown - 1, reason: 'the picture has no data' }];
    expect(spread({ ...bad, structure: beyond })).toEqual([]);
    // A B picture that no other refers to.
    expect(spread({ ...bad, structure: [{ frame: -1, reason: 'lost' }] }, [3])).toEqual([]);
  });
});
