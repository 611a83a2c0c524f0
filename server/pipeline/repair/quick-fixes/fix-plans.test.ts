import { describe, expect, it } from 'vitest';
import { planToArgs } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import { plainFacts, plainInfo } from '#server/test/clip-facts.ts';
import { renderLimits as limits } from '#server/test/rendered-clips.ts';
import { wholeCopyPlan } from '../../encode/copy-plans.ts';
import { changedCopy, changesEachAlone, filterValue, lookAtMotionPlan } from './encode-plans.ts';
import { edgePercent, meanStep } from './measure-edges.ts';
import { castPercent, createLightMeter } from './measure-light.ts';
import { parseLoudness } from './measure-loudness.ts';
import { lightFilters, lightHelped, planLight } from './plan-light.ts';
import { bitRateLimit, platformPlan, platformShape } from './platform-plan.ts';
import { parseFilters, parseOptions } from './tool-filters.ts';
import { levelFilters, loudnessHelped, roomForPeaks } from './voice-chain.ts';

const LIGHT = {
  dark: 8,
  middle: 110,
  bright: 230,
  brightPictures: 120,
  neutral: { red: 120, green: 120, blue: 120 },
  saturation: 0.3,
};
const streamOf = (video: Record<string, unknown> = {}) => {
  const stream = plainInfo(video).video[0];
  if (!stream) throw new Error('no stream');
  return stream;
};

describe('light', () => {
  it('ignores bright, contrasty and nearly neutral clips, and black ones', () => {
    expect(planLight(LIGHT)).toBeNull();
    expect(planLight({ ...LIGHT, neutral: { red: 128, green: 120, blue: 113 } })).toBeNull();
    expect(planLight({ ...LIGHT, middle: 2, brightPictures: 3, bright: 20 })).toBeNull();
    // Half of the pictures are bright: one setting for all would bleach them.
    expect(planLight({ ...LIGHT, middle: 40, brightPictures: 150 })).toBeNull();
  });

  it('lifts a dark clip with limits', () => {
    const setting = planLight({ ...LIGHT, middle: 20, brightPictures: 30, bright: 90 });
    expect(setting?.reasons).toContain('dark');
    expect(setting?.gamma).toBeGreaterThan(1);
    expect(setting?.gamma).toBeLessThanOrEqual(1.7);
    expect(setting?.white).toBeGreaterThanOrEqual(255 / 1.4);
  });

  it('removes a part of a strong cast and keeps the brightness of grey', () => {
    const light = { ...LIGHT, neutral: { red: 100, green: 120, blue: 150 } };
    const setting = planLight(light);
    if (!setting) throw new Error('nothing planned');
    expect(setting.reasons).toEqual(['cast']);
    expect(setting.red).toBeGreaterThan(1);
    expect(setting.blue).toBeLessThan(1);
    expect(0.2126 * setting.red + 0.7152 * setting.green + 0.0722 * setting.blue).toBeCloseTo(1, 5);
    expect(castPercent(light)).toBeCloseTo(25, 5);
    const whiter = { ...light, neutral: { red: 108, green: 119, blue: 136 } };
    expect(lightHelped(light, whiter, setting)).toBe(true);
    expect(lightHelped(light, light, setting)).toBe(false);
  });

  it('writes one matrix in both ways', () => {
    const setting = { black: 0, white: 255, gamma: 1.3, red: 1, green: 1, blue: 1, reasons: [] };
    const filters = lightFilters(setting, 'bt709', 'tv').join();
    expect(filters).toContain('in_color_matrix=bt709:in_range=tv');
    expect(filters).toContain('out_color_matrix=bt709');
  });

  it('is measured from pixels', () => {
    const meter = createLightMeter();
    meter.add(new Uint8Array([100, 100, 100, 200, 200, 200, 100, 100, 100]));
    expect(meter.finish()).toMatchObject({ dark: 100, middle: 100, bright: 200, saturation: 0 });
    expect(createLightMeter().finish()).toBeNull();
  });
});

describe('edges', () => {
  it('count steps relative to the contrast, so that brighter is not sharper', () => {
    const stripes = Uint8Array.from({ length: 64 }, (_, i) => (i % 2 === 0 ? 50 : 70));
    const brighter = stripes.map((level) => (level - 60) * 3 + 120);
    expect(meanStep(brighter, 8)).toBeCloseTo(3 * meanStep(stripes, 8), 5);
    expect(edgePercent(brighter, 8)).toBeCloseTo(edgePercent(stripes, 8), 5);
    expect(edgePercent(new Uint8Array(64), 8)).toBe(0);
  });
});

describe('loudness', () => {
  it('reaches the target with one gain, and with a limiter only where peaks would exceed', () => {
    expect(levelFilters({ lufs: -20, peakDb: -12 }, 48_000)).toEqual(['volume=6.00dB']);
    const limited = levelFilters({ lufs: -20, peakDb: -4 }, 44_100);
    expect(limited).toContain('aresample=44100');
    expect(limited.join()).toContain('alimiter=');
    expect(levelFilters({ lufs: null, peakDb: null }, 48_000)).toEqual([]);
    // At most what the limiter may take: -40 LUFS with clicks at full scale.
    expect(levelFilters({ lufs: -40, peakDb: 0 }, 48_000)[0]).toBe('volume=7.00dB');
  });

  it('limits further once the encoder moved a peak out of range', () => {
    expect(roomForPeaks({ lufs: -14, peakDb: -0.5 })).toBeNull();
    const roomDb = roomForPeaks({ lufs: -14, peakDb: 1.1 }) ?? 0;
    // A limiter at -2 dBTP let 1.1 through, so one at -4.6 lets about -1.5 through.
    expect(roomDb).toBeCloseTo(3.6);
    const limit = `limit=${(10 ** (-4.6 / 20)).toFixed(4)}`;
    expect(levelFilters({ lufs: -20, peakDb: -4 }, 44_100, roomDb).join()).toContain(limit);
  });

  it('counts as better only nearer to the target and without clipping', () => {
    expect(loudnessHelped({ lufs: -28, peakDb: -9 }, { lufs: -14.4, peakDb: -1.6 })).toBe(true);
    expect(loudnessHelped({ lufs: -28, peakDb: -9 }, { lufs: -14.4, peakDb: 0.4 })).toBe(false);
    expect(loudnessHelped({ lufs: -15, peakDb: -2 }, { lufs: -18, peakDb: -3 })).toBe(false);
  });

  it('is parsed from what the filter prints', () => {
    const log = 'x\n{\n"input_i" : "-23.10",\n"input_tp" : "-4.20",\n"normalization_type" : "dynamic"\n}\n';
    expect(parseLoudness(log)).toEqual({ lufs: -23.1, peakDb: -4.2 });
    expect(parseLoudness('{ "input_i" : "-inf", "input_tp" : "-inf" }')).toEqual({
      lufs: null,
      peakDb: null,
    });
    expect(parseLoudness('nothing')).toBeNull();
  });
});

describe('the one encode', () => {
  const facts = plainFacts();
  const given = {
    inputPath: '/in.mp4',
    info: facts.info,
    stream: facts.stream,
    motionPath: "/it's here: [a],b.trf",
    limits,
  };

  it('contains all visual fixes of a request and copies the sound', () => {
    const args = planToArgs(
      wholeCopyPlan(
        changedCopy({
          ...given,
          steps: [
            { kind: 'visual', fix: 'color-correct', hdr: true, filters: ['zscale=x', 'format=yuv420p'] },
            { kind: 'visual', fix: 'stabilize', looks: true },
            { kind: 'visual', fix: 'sharpen', filters: ['cas=strength=0.4'] },
          ],
        }),
        '/out.mp4',
      ),
    );
    const chain = args[args.indexOf('-vf') + 1] ?? '';
    const places = ['zscale', 'vidstabtransform', 'cas', 'crop=trunc'].map((name) => chain.indexOf(name));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places[0]).toBeGreaterThanOrEqual(0);
    expect(args.join(' ')).toContain('-map 0:a -c:a copy');
    expect(args.join(' ')).toContain('-color_trc bt709');
    expect(args.filter((arg) => arg === '-i')).toHaveLength(1);
  });

  it('keeps high dynamic range if its colours were not to be changed', () => {
    const hlg = { color_transfer: 'arib-std-b67', color_space: 'bt2020nc', pix_fmt: 'yuv420p10le' };
    const steps = [{ kind: 'visual', fix: 'sharpen', filters: ['cas'] }] as const;
    const args = planToArgs(
      wholeCopyPlan(changedCopy({ ...given, stream: streamOf(hlg), steps }), '/out.mp4'),
    ).join(' ');
    expect(args).toContain('-c:v libx265');
    expect(args).toContain('-color_trc arib-std-b67');
  });

  it('deinterlaces pictures first, and measures motion after the colours', () => {
    const stream = streamOf({ field_order: 'tt' });
    const steps = [
      { kind: 'visual', fix: 'color-correct', hdr: true, filters: ['zscale=x'] },
      { kind: 'visual', fix: 'stabilize', looks: true },
    ] as const;
    const args = planToArgs(lookAtMotionPlan({ ...given, stream, steps, asText: false }));
    expect(args[args.indexOf('-vf') + 1]).toMatch(/^bwdif.*zscale=x.*vidstabdetect.*\.trf$/);
    const asText = planToArgs(lookAtMotionPlan({ ...given, stream, steps, asText: true }));
    expect(asText[asText.indexOf('-vf') + 1]).toMatch(/vidstabdetect.*\.trf:fileformat=ascii$/);
  });

  it('is made in pieces if each picture is changed by itself', () => {
    const sharpen = { kind: 'visual', fix: 'sharpen', filters: ['cas'] } as const;
    const steady = { kind: 'visual', fix: 'stabilize', looks: true } as const;
    const woven = streamOf({ field_order: 'tt' });
    expect(changesEachAlone({ stream: facts.stream, steps: [sharpen] })).toBe(true);
    expect(changesEachAlone({ stream: facts.stream, steps: [sharpen, steady] })).toBe(false);
    expect(changesEachAlone({ stream: woven, steps: [sharpen] })).toBe(false);
  });

  it('escapes a path for the option and for the graph', () => {
    expect(filterValue('/plain/a.trf')).toBe('/plain/a.trf');
    expect(filterValue("/a:b'c,d")).toBe("/a\\\\:b\\\\\\'c\\,d");
  });
});

describe('platform files', () => {
  it.each([
    [
      { width: 1920, height: 1080 },
      { width: 1080, height: 1920 },
      { width: 1080, height: 608 },
    ],
    [
      { width: 640, height: 360 },
      { width: 640, height: 1138 },
      { width: 640, height: 360 },
    ],
    [
      { width: 1080, height: 1080 },
      { width: 1080, height: 1920 },
      { width: 1080, height: 1080 },
    ],
    [
      { width: 2160, height: 3840 },
      { width: 1080, height: 1920 },
      { width: 1080, height: 1920 },
    ],
    [
      { width: 720, height: 1280 },
      { width: 720, height: 1280 },
      { width: 720, height: 1280 },
    ],
    [
      { width: 1080, height: 2400 },
      { width: 1080, height: 1920 },
      { width: 864, height: 1920 },
    ],
    // Below the platform's least side: the canvas grows, and the picture with it.
    [
      { width: 320, height: 180 },
      { width: 360, height: 640 },
      { width: 360, height: 202 },
    ],
  ])('fit %j whole into 9:16', (size, canvas, picture) => {
    expect(platformShape(streamOf(size), 'tiktok')).toMatchObject({ canvas, picture });
  });

  it('are upright with square pixels', () => {
    const turned = streamOf({ width: 1920, height: 1080, side_data_list: [{ rotation: -90 }] });
    expect(platformShape(turned, 'youtube').picture).toEqual({ width: 1080, height: 1920 });
    const wide = streamOf({ width: 720, height: 576, sample_aspect_ratio: '64:45' });
    expect(platformShape(wide, 'youtube').picture).toEqual({ width: 1024, height: 576 });
  });

  it('keep the rate unless the platform rejects it', () => {
    expect(platformShape(streamOf(), 'tiktok').fps).toBeNull();
    expect(platformShape(streamOf({ avg_frame_rate: '120/1' }), 'tiktok').fps).toBe(60);
    expect(platformShape(streamOf({ avg_frame_rate: '12/1' }), 'instagram').fps).toBe(30);
    expect(platformShape(streamOf({ avg_frame_rate: '12/1' }), 'youtube').fps).toBeNull();
  });

  it('stay below the size that a platform accepts', () => {
    expect(bitRateLimit(60_000, 'tiktok')).toBe(16_000_000);
    const longest = bitRateLimit(900_000, 'instagram');
    expect((longest * 900) / 8).toBeLessThan(300 * 1024 ** 2);
  });

  it('have their own blurred picture as background, with nothing cut off', () => {
    const info = plainInfo();
    const plan = platformPlan({
      inputPath: '/in.mp4',
      info,
      stream: streamOf(),
      platform: 'instagram',
      soundFilters: ['volume=3dB'],
      limits,
      outputPath: '/out.mp4',
    });
    expect(plan.filterComplex).toContain('overlay=');
    expect(plan.filterComplex).toMatch(/\[front\]scale=1080:608[^;]*\[whole\]/);
    expect(plan.outputs[0]?.options.join(' ')).toContain('-af volume=3dB');
  });
});

it('parses the names of the filters', () => {
  const text =
    ' ... abench            A->A       Benchmark.\n TSC cas               V->V       Sharpen.\n T.C overlay  VV->V  Overlay\n';
  expect(parseFilters(text)).toEqual(new Set(['abench', 'cas', 'overlay']));
});

it('parses the options of a filter, but not their values', () => {
  const text =
    'Filter vidstabdetect\n  Extract relative transformations.\n    Inputs:\n       #0: default (video)\nvidstabdetect AVOptions:\n' +
    '   result            <string>     ..FV....... path to the file (default "transforms.trf")\n' +
    '   fileformat        <int>        ..FV....... transforms data file format (from 1 to 2) (default binary)\n' +
    '     ascii           1            ..FV....... ASCII text\n';
  expect(parseOptions(text)).toEqual(new Set(['result', 'fileformat']));
});
