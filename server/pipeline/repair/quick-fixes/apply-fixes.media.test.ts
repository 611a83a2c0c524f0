import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FixId } from '#common/fixes.ts';
import { probe } from '#server/media/probe/probe.ts';
import { analyseAudio } from '../../analyse/analyse-audio.ts';
import { replaceSound } from '#server/test/broken-sound.ts';
import { makeHeAacClip } from '#server/test/half-rate-sound.ts';
import { gustingWind, mixAtSnr, voiceLike, type Samples } from '#server/test/synthetic-sound.ts';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { testTools as tools } from '#server/test/media-job.ts';
import { renderLimits, sharedFolder } from '#server/test/rendered-clips.ts';
import { retimeClip } from '#server/test/retimed-clip.ts';
import { hashPackets } from '../../publish/packet-hashes.ts';
import type { ApplyFixesTask, FixesMessage } from '../../worker-protocol.ts';
import { applyFixes } from './apply-fixes.ts';
import { measureLight } from './measure-light.ts';

const folder = sharedFolder();
const file = (name: string) => path.join(folder.path, name);

/** Sample rate of the sounds made in code. */
const RATE_HZ = 48_000;

/** Textured ground filmed by hand: it jumps with every picture. Dark, with a quiet tone. */
const SHAKY_DARK =
  "color=c=gray:s=400x226:r=30:d=2,noise=alls=100:all_seed=5,boxblur=4:2,eq=contrast=3,crop=320:180:'40+9*sin(n*2.1)+6*sin(n*3.7)':'22+8*sin(n*2.9)',lutyuv=y='16+(val-16)*0.28'";

async function make(name: string, picture: string, sound: string, options = ''): Promise<string> {
  const coded = options === '' ? '-c:v libx264 -preset ultrafast -crf 18 -pix_fmt yuv420p' : options;
  const args = ['-v', 'error', '-f', 'lavfi', '-i', picture, '-f', 'lavfi', '-i', sound, '-shortest'];
  await runTool('make a clip', tools.ffmpeg, [...args, ...coded.split(' '), '-c:a', 'aac', file(name)]);
  return file(name);
}

/** Facts that only a report of marks needs. */
const UNREPORTED = { inputSha256: '', reelmendVersion: 'test' } as const;

async function apply(inputPath: string, fixes: readonly FixId[], change: Partial<ApplyFixesTask> = {}) {
  const workDir = `${inputPath}.${fixes.join('-')}`;
  await mkdir(workDir, { recursive: true });
  const told: Extract<FixesMessage, { type: 'fixes' }>[] = [];
  let headway = 0;
  const task: ApplyFixesTask = {
    kind: 'apply-fixes',
    videoId: 'v',
    inputPath,
    workDir,
    tools,
    limits: renderLimits,
    fixes,
    ...UNREPORTED,
    ...change,
  };
  const { signal } = new AbortController();
  const result = await applyFixes(task, {
    signal,
    send(message) {
      if (message.type === 'fixes') told.push(message);
      else headway += 1;
    },
  });
  if (!result.ok) throw new Error(`${result.message} ${result.detail}`);
  const of = (fix: FixId) => result.fixes.find(({ id }) => id === fix);
  return { ...result, of, told, headway };
}

const packets = async (inputPath: string, stream: 'v' | 'a') => {
  const info = await probe(tools, inputPath, 'mov');
  return (await hashPackets({ path: inputPath, info, tools }, stream)).map(({ hash }) => hash);
};

/** A clip that is long enough for two pieces, at the lowest rate that all platforms take, and its files for them. */
async function makeInPieces() {
  const coding = '-c:v libx264 -preset ultrafast -crf 18 -g 24 -pix_fmt yuv420p';
  const clip = await make('pieces.mp4', 'testsrc2=s=160x90:r=24:d=8', 'sine=f=220:d=8', coding);
  return { clip, made: await apply(clip, ['tiktok-optimize', 'instagram-optimize', 'youtube-optimize']) };
}

let madeInPieces: ReturnType<typeof makeInPieces> | null = null;
/** Its result, shared by the tests that need it. */
const inPieces = () => (madeInPieces ??= makeInPieces());

describe('quick fixes', () => {
  it('change the pictures of a long clip in pieces that a killed attempt leaves to the next one', async () => {
    const dark = "testsrc2=s=160x90:r=10:d=13,lutyuv=y='16+(val-16)*0.28'";
    const coding = '-c:v libx264 -preset ultrafast -crf 18 -g 10 -pix_fmt yuv420p';
    const clip = await make('long-dark.mp4', dark, 'sine=f=220:d=13', coding);
    const made = await apply(clip, ['color-correct']);
    expect(made.of('color-correct')?.state).toBe('applied');
    expect(made.headway).toBe(3);
    const again = await apply(clip, ['color-correct'], { workDir: `${clip}.color-correct` });
    expect(again.headway).toBe(0);
    expect(again.clip?.sha256).toBe(made.clip?.sha256);
    const info = await probe(tools, made.clip?.path ?? '', 'mov');
    expect(info.video[0]).toMatchObject({ frameCount: 130 });
    expect(await packets(made.clip?.path ?? '', 'a')).toEqual(await packets(clip, 'a'));
  }, 60_000);

  it('stabilise, brighten and sharpen a dark shaky clip at once and make its voice loud', async () => {
    const clip = await make('shaky.mp4', SHAKY_DARK, 'sine=f=220:d=2,volume=-6dB');
    const made = await apply(clip, ['voice-enhance', 'stabilize', 'color-correct', 'sharpen']);
    expect(made.fixes.map(({ id, state }) => `${id} ${state}`)).toEqual([
      'voice-enhance applied',
      'stabilize applied',
      'color-correct applied',
      'sharpen applied',
    ]);
    const shake = made.of('stabilize')?.figures[0];
    expect(shake?.after ?? 99).toBeLessThan((shake?.before ?? 0) / 2);
    const light = made.of('color-correct')?.figures[0];
    expect(light?.after ?? 0).toBeGreaterThan((light?.before ?? 0) + 10);
    const [loudness, peak] = made.of('voice-enhance')?.figures ?? [];
    expect(Math.abs((loudness?.after ?? -70) + 14)).toBeLessThan(2);
    expect(peak?.after ?? 0).toBeLessThanOrEqual(-0.5);
    const info = await probe(tools, made.clip?.path ?? '', 'mov');
    expect(info.video[0]).toMatchObject({ codec: 'h264', width: 320, height: 180, frameCount: 60 });
    expect(made.clip?.media).toMatchObject({
      videoCodec: 'h264',
      width: 320,
      height: 180,
      audioCodec: 'aac',
    });
    expect(info.audio[0]).toMatchObject({ codec: 'aac', sampleRateHz: 44_100, channels: 1 });
    const shares = made.told.map(({ share }) => share);
    expect(shares).toEqual(shares.toSorted((a, b) => a - b));
    expect(new Set(shares).size).toBeGreaterThan(5);
    expect(made.told.at(-1)?.share).toBeCloseTo(1, 1);
  }, 60_000);

  it('copy the pictures bit by bit when only the sound is fixed', async () => {
    const clip = await make('calm.mp4', 'testsrc2=s=160x90:r=25:d=3', 'sine=f=220:d=3,volume=-12dB');
    const made = await apply(clip, ['wind-noise', 'audio-sync', 'voice-enhance']);
    expect(made.of('wind-noise')).toMatchObject({ state: 'unchanged' });
    expect(made.of('audio-sync')).toMatchObject({ state: 'unchanged' });
    expect(made.of('voice-enhance')).toMatchObject({ state: 'applied' });
    const path_ = made.clip?.path ?? '';
    expect(await packets(path_, 'v')).toEqual(await packets(clip, 'v'));
    expect(await packets(path_, 'a')).not.toEqual(await packets(clip, 'a'));
    expect(made.clip?.posterPath).toBeNull();
  }, 60_000);

  it('take out faint wind that somebody heard, which the repair leaves alone', async () => {
    const seconds = 8;
    const picture = await make('silent.mp4', `testsrc2=s=160x90:r=10:d=${seconds}`, `anullsrc=d=${seconds}`);
    const withSound = async (name: string, samples: Samples) => {
      const outputPath = file(name);
      await replaceSound({ tools, inputPath: picture, outputPath, channels: [samples], rateHz: RATE_HZ });
      return outputPath;
    };
    const voice = voiceLike(seconds, RATE_HZ, 22);
    const faint = await withSound('faint.mp4', mixAtSnr(voice, gustingWind(seconds, RATE_HZ, 2), 12));
    const made = await apply(faint, ['wind-noise']);
    expect(made.of('wind-noise')).toMatchObject({ state: 'applied' });
    expect(made.of('wind-noise')?.detail).toContain('What you hear as wind was lowered by');
    const figure = made.of('wind-noise')?.figures[0];
    expect(figure?.after ?? 0).toBeLessThanOrEqual((figure?.before ?? 0) - 3);
    expect(await packets(made.clip?.path ?? '', 'v')).toEqual(await packets(faint, 'v'));
    const info = await probe(tools, faint, 'mov');
    const alone = await analyseAudio({ inputPath: faint, info, tools, audioPackets: null, motion: null });
    expect(alone.findings.filter(({ kind }) => kind === 'wind_noise')).toEqual([]);

    const calm = await apply(await withSound('calm-voice.mp4', voice), ['wind-noise']);
    expect(calm.of('wind-noise')).toMatchObject({ state: 'unchanged' });
    expect(calm.clip).toBeNull();
  }, 60_000);

  it('keep subtitles beside changed pictures and sound', async () => {
    const plain = await make('plain.mp4', 'testsrc2=s=160x90:r=25:d=2', 'sine=f=220:d=2,volume=-12dB');
    const [words, clip] = [file('words.srt'), file('subtitled.mp4')];
    await writeFile(words, '1\n00:00:00,200 --> 00:00:01,500\nHello\n');
    const args = `-v error -i ${plain} -i ${words} -map 0 -map 1 -c copy -c:s mov_text ${clip}`;
    await runTool('add subtitles', tools.ffmpeg, args.split(' '));
    const made = await apply(clip, ['sharpen', 'voice-enhance']);
    expect(made.fixes.map(({ state }) => state)).toEqual(['applied', 'applied']);
    const info = await probe(tools, made.clip?.path ?? '', 'mov');
    expect(info.others).toEqual(['subtitle: mov_text']);
    expect(info.video[0]?.frameCount).toBe(50);
  }, 60_000);

  it('change nothing at all when nothing is to be done', async () => {
    const clip = await make('fine.mp4', 'testsrc2=s=320x180:r=25:d=2', 'anullsrc=r=44100:cl=mono:d=2');
    const made = await apply(clip, ['wind-noise', 'voice-enhance', 'stabilize', 'color-correct']);
    expect(made.clip).toBeNull();
    expect(new Set(made.fixes.map(({ state }) => state))).toEqual(new Set(['unchanged']));
    expect(made.of('voice-enhance')?.detail).toContain('silent');
    // What turned out not to be needed is not expected any more.
    expect(made.told.at(-1)?.share).toBe(1);
  }, 60_000);

  it('move late sound back like the repair does, with untouched pictures', async () => {
    const clip = await make('late-base.mp4', 'testsrc2=s=160x90:r=25:d=4', 'sine=f=300:d=4');
    const late = file('late.mp4');
    const args = `-v error -i ${clip} -itsoffset 0.4 -i ${clip} -map 0:v -map 1:a -c copy ${late}`.split(' ');
    await runTool('delay the sound', tools.ffmpeg, args);
    const made = await apply(late, ['audio-sync']);
    expect(made.of('audio-sync')).toMatchObject({ state: 'applied' });
    const figure = made.of('audio-sync')?.figures[0];
    expect(Math.abs(figure?.after ?? 999)).toBeLessThan(Math.abs(figure?.before ?? 0));
    const to = made.clip?.path ?? '';
    expect(await packets(to, 'v')).toEqual(await packets(late, 'v'));
    const info = await probe(tools, to, 'mov');
    expect(Math.abs((info.audio[0]?.startMs ?? 999) - (info.video[0]?.startMs ?? 0))).toBeLessThan(60);
  }, 60_000);

  it('move late sound back that also lost its end, which the repair leaves alone', async () => {
    const clip = await make('longer.mp4', 'testsrc2=s=160x90:r=25:d=8', 'sine=f=300:d=8');
    const late = file('late-and-cut.mp4');
    const args = `-v error -i ${clip} -itsoffset 1 -t 8.7 -i ${clip} -map 0:v -map 1:a -c copy ${late}`;
    await runTool('delay the sound', tools.ffmpeg, args.split(' '));
    const info = await probe(tools, late, 'mov');
    const alone = await analyseAudio({ inputPath: late, info, tools, audioPackets: null, motion: null });
    expect(alone.findings).toEqual([]);
    expect(alone.notes.join(' ')).toContain('Nothing shows which');
    const made = await apply(late, ['audio-sync']);
    expect(made.of('audio-sync')).toMatchObject({ state: 'applied' });
    const now = await probe(tools, made.clip?.path ?? '', 'mov');
    expect(Math.abs((now.audio[0]?.startMs ?? 999) - (now.video[0]?.startMs ?? 0))).toBeLessThan(60);
  }, 60_000);

  it('tone-map high dynamic range only when colour correction is requested', async () => {
    const tags = '-color_primaries bt2020 -color_trc arib-std-b67 -colorspace bt2020nc';
    const x265 =
      '-x265-params log-level=none:colorprim=bt2020:transfer=arib-std-b67:colormatrix=bt2020nc -tag:v hvc1';
    const coded = `-c:v libx265 -preset ultrafast -pix_fmt yuv420p10le ${x265} ${tags}`;
    const clip = await make('hdr.mp4', 'testsrc2=s=160x90:r=10:d=1', 'sine=f=220:d=1', coded);
    const asked = await apply(clip, ['color-correct']);
    expect(asked.of('color-correct')).toMatchObject({ state: 'applied' });
    const info = await probe(tools, asked.clip?.path ?? '', 'mov');
    expect(info.video[0]).toMatchObject({
      codec: 'h264',
      pixelFormat: 'yuv420p',
      colorTransfer: 'bt709',
      colorPrimaries: 'bt709',
      colorSpace: 'bt709',
    });
    const look = { tools, threads: 1 };
    const before = await measureLight({ ...look, inputPath: clip, info: await probe(tools, clip, 'mov') });
    const after = await measureLight({ ...look, inputPath: asked.clip?.path ?? '', info });
    // A washed-out picture would have less colour and no black.
    expect(after?.saturation ?? 0).toBeGreaterThan(0.9 * (before?.saturation ?? 1));
    expect(after?.dark ?? 99).toBeLessThan(40);
    const sharpened = await apply(clip, ['sharpen', 'youtube-optimize']);
    const kept = [sharpened.clip?.path ?? clip, sharpened.exports[0]?.path ?? ''];
    for (const one of kept) {
      const { video } = await probe(tools, one, 'mov');
      expect(video[0]).toMatchObject({ colorTransfer: 'arib-std-b67', pixelFormat: 'yuv420p10le' });
    }
  }, 90_000);

  it('make an upright file for each platform and leave the clip', async () => {
    const clip = await make('wide.mp4', 'testsrc2=s=160x90:r=25:d=3', 'sine=f=220:d=3,volume=-10dB');
    const made = await apply(clip, ['tiktok-optimize', 'instagram-optimize', 'youtube-optimize']);
    expect(made.clip).toBeNull();
    expect(made.exports.map(({ fix }) => fix)).toEqual([
      'tiktok-optimize',
      'instagram-optimize',
      'youtube-optimize',
    ]);
    for (const { path: one } of made.exports) {
      const info = await probe(tools, one, 'mov');
      expect(info.video[0]).toMatchObject({ codec: 'h264', frameCount: 75 });
      const { width, height } = info.video[0] ?? { width: 0, height: 0 };
      expect(Math.abs((width * 16) / (height * 9) - 1)).toBeLessThan(0.02);
      expect(info.audio[0]).toMatchObject({ codec: 'aac' });
    }
    const loudness = made.of('tiktok-optimize')?.figures[0];
    expect(Math.abs((loudness?.after ?? -70) + 14)).toBeLessThan(2);
    const short = await make('short.mp4', 'testsrc2=s=160x90:r=25:d=1', 'sine=f=220:d=1');
    const refused = await apply(short, ['tiktok-optimize']);
    expect(refused.exports).toEqual([]);
    expect(refused.of('tiktok-optimize')).toMatchObject({ state: 'failed' });
    expect(refused.of('tiktok-optimize')?.detail).toContain('3 s are the least');
  }, 90_000);

  it('make a file of H.264 for a platform out of HEVC that is not upright', async () => {
    const coding = '-c:v libx265 -preset ultrafast -x265-params log-level=none -tag:v hvc1 -pix_fmt yuv420p';
    const clip = await make('wide-hevc.mp4', 'testsrc2=s=160x90:r=25:d=3', 'sine=f=220:d=3', coding);
    const made = await apply(clip, ['tiktok-optimize']);
    expect(made.of('tiktok-optimize')).toMatchObject({ state: 'applied' });
    const info = await probe(tools, made.exports[0]?.path ?? '', 'mov');
    expect(info.video[0]).toMatchObject({ codec: 'h264', frameCount: 75 });
  }, 60_000);

  it('make a file for a platform though some pictures have the time of the one before', async () => {
    const coding = '-c:v libx264 -preset ultrafast -bf 0 -g 25 -pix_fmt yuv420p';
    const plain = await make('joined-plain.mp4', 'testsrc2=s=160x90:r=25:d=3', 'sine=f=220:d=3', coding);
    const clip = file('joined.mp4');
    await retimeClip(plain, clip, (samples) =>
      samples.map((sample, at) => (at % 13 === 12 ? { ...sample, pts: samples[at - 1]?.pts ?? 0 } : sample)),
    );
    const made = await apply(clip, ['youtube-optimize']);
    expect(made.of('youtube-optimize')).toMatchObject({ state: 'applied' });
    const info = await probe(tools, made.exports[0]?.path ?? '', 'mov');
    expect(info.video[0]).toMatchObject({ codec: 'h264', frameCount: 75 });
  }, 60_000);

  it('keep the beginning of HE-AAC of which an edit list hides frames', async () => {
    const clip = file('services.mp4');
    const source = '-v error -f lavfi -i testsrc2=s=160x284:r=25:d=3.2 -f lavfi -i sine=f=400:r=22050:d=3.5';
    await makeHeAacClip({ source: `${source} -t 3.2`, outputPath: clip, hiddenFrames: 3 });
    const { clip: louder, exports } = await apply(clip, ['voice-enhance', 'youtube-optimize']);
    for (const made of [louder?.path ?? '', exports[0]?.path ?? '']) {
      const info = await probe(tools, made, 'mov');
      expect(info.audio[0]).toMatchObject({ profile: 'LC' });
      // Its packets begin before time 0 by what its own edit list hides.
      expect(Math.abs(info.audio[0]?.startMs ?? Infinity)).toBeLessThan(1);
    }
  }, 60_000);

  it('keep the coded pictures of an upright clip that a platform accepts, and encode the rest once for all', async () => {
    const upright = await make('upright.mp4', 'testsrc2=s=360x640:r=25:d=3', 'sine=f=220:d=3,volume=-10dB');
    const kept = await apply(upright, ['tiktok-optimize', 'youtube-optimize']);
    for (const { path: one } of kept.exports) {
      expect(await packets(one, 'v')).toEqual(await packets(upright, 'v'));
      expect(await packets(one, 'a')).not.toEqual(await packets(upright, 'a'));
    }
    expect(kept.of('tiktok-optimize')?.detail).toContain('none re-encoded');
    expect(kept.headway).toBe(0);

    const { made } = await inPieces();
    const [first, ...others] = await Promise.all(made.exports.map(({ path: one }) => packets(one, 'v')));
    // TikTok's least side makes its canvas larger than the others.
    expect(others).toHaveLength(2);
    expect(others[0]).toEqual(others[1]);
    expect(first).toHaveLength(192);
    // A retry after a kill finds the pieces: each of the two sets is encoded once, in two pieces.
    expect(made.headway).toBe(4);
    const info = await probe(tools, made.exports[0]?.path ?? '', 'mov');
    expect(info.video[0]?.startMs).toBe(0);
    expect(Math.abs((info.durationMs ?? 0) - 8000)).toBeLessThan(60);
  }, 120_000);

  it('say why a platform does not take a clip that is too short without the wait before its first picture', async () => {
    const waits = 'testsrc2=s=160x284:r=10:d=2.9,setpts=PTS+0.1/TB';
    const coding = '-c:v libx264 -preset ultrafast -pix_fmt yuv420p -an';
    const clip = await make('waits.mp4', waits, 'sine=d=0.1', coding);
    const made = await apply(clip, ['tiktok-optimize']);
    expect(made.of('tiktok-optimize')).toMatchObject({
      state: 'failed',
      detail: 'TikTok does not take this clip: it runs 2.9 s, 3 s are the least. No file was made.',
    });
    expect(made.exports).toEqual([]);
  });

  it('reuse the pieces of a killed attempt', async () => {
    const { clip: wide, made: whole } = await inPieces();
    const workDir = file('killed');
    await mkdir(workDir, { recursive: true });
    const stop = new AbortController();
    const task = {
      kind: 'apply-fixes',
      videoId: 'v',
      inputPath: wide,
      workDir,
      tools,
      ...UNREPORTED,
    } as const;
    const given: ApplyFixesTask = { ...task, limits: renderLimits, fixes: ['youtube-optimize'] };
    let headway = 0;
    const count = ({ type }: FixesMessage) => {
      if (type === 'headway') headway += 1;
    };
    const cut = await applyFixes(given, {
      signal: stop.signal,
      send(message) {
        count(message);
        if (message.type === 'headway') stop.abort();
      },
    });
    expect(cut).toMatchObject({ ok: false, code: 'cancelled' });
    expect(headway).toBe(1);
    const result = await applyFixes(given, { signal: new AbortController().signal, send: count });
    // The pictures of the others are the same, and those of TikTok, which has its own, are as many pieces.
    expect(headway).toBe(whole.headway / 2);
    const other = whole.exports.find(({ fix }) => fix === 'youtube-optimize');
    const one = result.ok ? result.exports[0] : undefined;
    expect(await packets(one?.path ?? '', 'v')).toEqual(await packets(other?.path ?? '', 'v'));
  }, 120_000);

  it('end with a message, not a failure, on an ffmpeg that lacks the filters', async () => {
    const clip = await make('poor.mp4', SHAKY_DARK, 'sine=f=220:d=2');
    const poor = file('poor-ffmpeg');
    const script = `#!/bin/sh\ncase "$*" in *-filters*) echo ' ..C scale             V->V       Scale';; *) exec ffmpeg "$@";; esac\n`;
    await writeFile(poor, script, { mode: 0o755 });
    const made = await apply(clip, ['stabilize', 'sharpen'], { tools: { ...tools, ffmpeg: poor } });
    expect(made.clip).toBeNull();
    expect(made.fixes.map(({ state }) => state)).toEqual(['failed', 'failed']);
    expect(made.of('sharpen')?.detail).toContain('comes without cas or unsharp');
  }, 60_000);

  it('return a cancel, and a file that is not a clip, as values', async () => {
    const clip = file('no-clip.mp4');
    await writeFile(clip, 'no clip');
    const task: ApplyFixesTask = {
      kind: 'apply-fixes',
      videoId: 'v',
      inputPath: clip,
      workDir: folder.path,
      tools,
      limits: renderLimits,
      fixes: ['sharpen'],
      ...UNREPORTED,
    };
    const send = () => undefined;
    expect(await applyFixes(task, { signal: new AbortController().signal, send })).toMatchObject({
      ok: false,
      code: 'not_a_video',
    });
    const stop = new AbortController();
    stop.abort();
    const cancelled = await applyFixes(
      { ...task, inputPath: file('calm.mp4') },
      { signal: stop.signal, send },
    );
    expect(cancelled).toMatchObject({ ok: false, code: 'cancelled' });
  });
});
