import { describe, expect, it } from 'vitest';
import { createLogReader } from './decode-pass.ts';

const SHOWN =
  '[Parsed_showinfo_2 @ 0x561c8403d180] [info] n:  17 pts:  18432 pts_time:1.8     pos:    13122 fmt:gray sar:44/45 s:160x88 i:P iskey:0 type:B checksum:7F524C29';

describe('createLogReader', () => {
  it('reads times and types, and places each message between the pictures', () => {
    const reader = createLogReader();
    reader.read('[info]   Duration: 00:00:05.00, start: 0.000000, bitrate: 75 kb/s');
    reader.read(SHOWN);
    reader.read('[h264 @ 0x55d0] [error] Invalid NAL unit size (-1 > 551).');
    reader.read('[warning] corrupt decoded frame in stream 0');
    reader.read(
      `frame=    1 fps=0.0 q=0.0 size=       0kB ${SHOWN.replace('18432', '19456').replace('type:B', 'type:I')}`,
    );
    expect(reader.finish(2)).toEqual({
      ptsTicks: [18432, 19456],
      types: ['B', 'I'],
      messages: [
        { level: 'error', text: 'h264: Invalid NAL unit size (-1 > 551).', picturesOut: 1 },
        { level: 'warning', text: 'corrupt decoded frame in stream 0', picturesOut: 1 },
      ],
    });
  });

  it('recognises a decoder by its name after that of its stream, as newer builds write it', () => {
    const reader = createLogReader();
    reader.read(SHOWN);
    reader.read('[vist#0:0/h264 @ 0x5555] [dec:h264 @ 0x5556] [warning] corrupt decoded frame');
    reader.read(
      '[vist#0:0/hevc @ 0x5555] [dec:hevc @ 0x5556] [error] Error submitting packet to decoder: no',
    );
    expect(reader.complained()).toBe(true);
    expect(reader.finish(1).messages.map(({ text }) => text)).toEqual([
      'h264: corrupt decoded frame',
      'hevc: Error submitting packet to decoder: no',
    ]);
  });

  it('takes times and types from a decoder that runs beside the filters, as far as these pass its pictures on', () => {
    const reader = createLogReader({ passes: (ptsTicks) => ptsTicks >= 1024 });
    const mark = (pts: number | string, type: number) =>
      reader.read(
        `[vist#0:0/h264 @ 0x55] [dec:h264 @ 0x56] [info] decoder -> pts:${pts} pts_time:0 keyframe:0 frame_type:${type} time_base:1/15360`,
      );
    mark(512, 1);
    mark(1024, 2);
    mark('NOPTS', 3);
    reader.read('[h264 @ 0x55d0] [error] error while decoding MB 3 4, bytestream -5');
    expect(reader.finish(2)).toMatchObject({
      ptsTicks: [1024, null],
      types: ['P', 'B'],
      messages: [{ picturesOut: 2 }],
    });
  });

  it('notices concealment when ffmpeg itself reports no corrupt pictures', () => {
    const hear = (hearsConcealing: boolean) => {
      const reader = createLogReader({ hearsConcealing });
      reader.read(SHOWN);
      reader.read('[h264 @ 0x55d0] [info] concealing 370 DC, 370 AC, 370 MV errors in B frame');
      reader.read('[h264 @ 0x55d0] [info] Reinit context to 352x288, pix_fmt: yuv420p');
      return { complained: reader.complained(), messages: reader.finish(1).messages };
    };
    expect(hear(false)).toEqual({ complained: false, messages: [] });
    const text = 'h264: concealing 370 DC, 370 AC, 370 MV errors in B frame';
    expect(hear(true)).toEqual({ complained: true, messages: [{ level: 'warning', text, picturesOut: 1 }] });
  });

  it('reports that something was concealed before the first picture, though no picture is called corrupt', () => {
    const heard = (lines: readonly string[]) => {
      const reader = createLogReader();
      for (const line of lines) reader.read(line);
      return reader.finish(1).concealsUnseen;
    };
    const concealed = '[h264 @ 0x55d0] [info] concealing 370 DC, 370 AC, 370 MV errors in P frame';
    expect(heard([concealed, SHOWN])).toBe(true);
    expect(heard([SHOWN, concealed])).toBeUndefined();
    expect(heard([concealed, '[info] Stream mapping:', SHOWN])).toBeUndefined();
  });

  it('ignores what the scaler says about formats', () => {
    const reader = createLogReader();
    reader.read(
      '[swscaler @ 0x55d0] [warning] deprecated pixel format used, make sure you did set range correctly',
    );
    reader.read(SHOWN);
    expect(reader.finish(1).messages).toEqual([]);
  });

  it('ignores what was said while the file was opened', () => {
    const reader = createLogReader();
    reader.read('[h264 @ 0x55d0] [error] Invalid NAL unit size (0 > 52528).');
    reader.read('[info] Stream mapping:');
    reader.read(SHOWN);
    reader.read('[h264 @ 0x66e1] [error] Invalid NAL unit size (0 > 52528).');
    expect(reader.finish(1).messages.map(({ picturesOut }) => picturesOut)).toEqual([1]);
  });

  it('ignores a parser, which reads ahead of the decoder under its name', () => {
    const says = (reader: ReturnType<typeof createLogReader>, at: string, text: string) =>
      reader.read(`[h264 @ ${at}] [error] ${text}`);
    const told = createLogReader();
    says(told, '0x66', 'Invalid NAL unit size (-1 > 551).');
    says(told, '0x66', 'missing picture in access unit with size 555');
    told.read(SHOWN);
    says(told, '0x55', 'Invalid NAL unit size (-1 > 551).');
    says(told, '0x55', 'mmco: unref short failure');
    expect(told.finish(1).messages.map(({ picturesOut }) => picturesOut)).toEqual([1, 1]);

    const alike = createLogReader();
    says(alike, '0x66', 'non-existing PPS 3 referenced');
    alike.read(SHOWN);
    says(alike, '0x55', 'non-existing PPS 3 referenced');
    expect(alike.finish(1).messages).toEqual([
      { level: 'error', text: 'h264: non-existing PPS 3 referenced', picturesOut: 1 },
    ]);
  });

  it('keeps what only one source says, and what two say differently', () => {
    const reader = createLogReader();
    reader.read('[h264 @ 0x55] [error] no frame!');
    expect(reader.finish(0).messages).toHaveLength(1);
    reader.read('[h264 @ 0x66] [error] error while decoding MB 3 4');
    reader.read('[vist#0:0/h264 @ 0x77] [dec:h264 @ 0x78] [error] Decoding error: no');
    expect(reader.finish(0).messages).toHaveLength(3);
  });

  it('returns null for pictures without a time', () => {
    const reader = createLogReader();
    reader.read(SHOWN.replace('18432', 'NOPTS'));
    expect(reader.finish(2).ptsTicks).toEqual([null, null]);
  });
});
