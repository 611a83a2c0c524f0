import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { probe } from '#server/media/probe/probe.ts';
import { decodeSound } from '#server/media/signal/pcm.ts';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { makeMovingClip } from '#server/test/broken-clips.ts';
import { replaceSound } from '#server/test/broken-sound.ts';
import { testTools as tools } from '#server/test/media-job.ts';
import { sharedFolder } from '#server/test/rendered-clips.ts';
import { soundPacketsOf } from '#server/test/sound-packets.ts';
import { gustingWind, mixAtSnr, siSdr, voiceLike } from '#server/test/synthetic-sound.ts';
import { analyseAudio } from '../../../analyse/analyse-audio.ts';
import { readPackets } from '../../../analyse/packets/read-packets.ts';
import { repairAudio } from '../repair-audio.ts';

const RATE = 48_000;
const SECONDS = 14;
/** The wind blows between these seconds. */
const [FROM, TO] = [5, 10];

const folder = sharedFolder();
const at = (name: string) => path.join(folder.path, name);
const voice = voiceLike(SECONDS, RATE, 3);

beforeAll(async () => {
  const clean = at('clean.mp4');
  await makeMovingClip({ tools, outputPath: clean, seconds: SECONDS, width: 160, height: 96 });
  const windy = mixAtSnr(voice, gustingWind(SECONDS, RATE, 11), -3).map((value, sample) =>
    sample >= FROM * RATE && sample < TO * RATE ? value : (voice[sample] ?? 0),
  );
  const file = { tools, inputPath: clean, outputPath: at('windy.mp4'), rateHz: RATE };
  await replaceSound({ ...file, channels: [windy, windy] });
});

async function samplesOf(file: string): Promise<Float32Array> {
  const rawPath = at('samples.f32');
  const info = await probe(tools, file, 'mov');
  await decodeSound({
    inputPath: file,
    info,
    rateHz: RATE,
    channels: 1,
    tools,
    rawPath,
    onSamples: () => {},
  });
  const { buffer, byteOffset, byteLength } = await readFile(rawPath);
  const interleaved = new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength));
  return interleaved.filter((_, sample) => sample % 2 === 0);
}

async function mend(file: string, name: string, kinds = ['wind_noise']) {
  const info = await probe(tools, file, 'mov');
  const { audio } = await readPackets({ inputPath: file, info, tools });
  const analysis = await analyseAudio({ inputPath: file, info, audioPackets: audio, motion: null, tools });
  const findings = analysis.findings.filter(({ kind }) => kinds.includes(kind));
  return repairAudio({ inputPath: file, info, tools, findings, workDir: at(name) });
}

describe('wind in a part of a sound', () => {
  it('is removed there, and every other coded frame stays unchanged', async () => {
    const { audio, verdicts } = await mend(at('windy.mp4'), 'work');
    expect(verdicts).toMatchObject([{ outcome: 'repaired', action: 'suppressed_wind' }]);
    if (audio.kind !== 'file') throw new Error('The sound was not mended.');
    const [before, after] = [await soundPacketsOf(at('windy.mp4')), await soundPacketsOf(audio.path)];
    const kept = before.filter((hash, place) => after[place] === hash).length;
    expect(audio.spliced).toMatchObject({ framesKept: kept, framesTotal: before.length });
    expect(kept / before.length).toBeGreaterThan(0.5);

    const [windy, made] = [await samplesOf(at('windy.mp4')), await samplesOf(audio.path)];
    expect(made.length).toBe(windy.length);
    const second = (sound: Float32Array, from: number, to: number) => sound.subarray(from * RATE, to * RATE);
    expect(second(made, 0, FROM - 1)).toEqual(second(windy, 0, FROM - 1));
    expect(second(made, TO + 1, SECONDS)).toEqual(second(windy, TO + 1, SECONDS));
    const inside = second(voice, FROM, TO);
    expect(siSdr(inside, second(made, FROM, TO)) - siSdr(inside, second(windy, FROM, TO))).toBeGreaterThan(5);
    // The seams are inaudible: new frames continue the kept ones.
    const beside = [second(made, FROM - 1, FROM - 0.1), second(made, TO + 0.1, TO + 1)];
    const were = [second(windy, FROM - 1, FROM - 0.1), second(windy, TO + 0.1, TO + 1)];
    beside.forEach((part, side) => expect(siSdr(were[side] ?? [], part)).toBeGreaterThan(25));
  });

  it('is removed when recorders note when frames arrived, some samples early or late', async () => {
    const uneven = at('uneven.mp4');
    const times = 'setts=ts=TS+17*mod(N\\,3)-9*mod(N\\,7)+60';
    const copied = ['-map', '0', '-c', 'copy', '-bsf:a', times, uneven];
    await runTool('tell times', tools.ffmpeg, ['-v', 'error', '-i', at('windy.mp4'), ...copied]);
    const { audio } = await mend(uneven, 'work-uneven');
    if (audio.kind !== 'file') throw new Error('The sound was not mended.');
    const [before, after] = [await soundPacketsOf(uneven), await soundPacketsOf(audio.path)];
    expect(audio.spliced?.framesKept).toBe(before.filter((hash, place) => after[place] === hash).length);
    expect(audio.spliced?.framesKept).toBeGreaterThan(before.length / 2);
  });

  it('is removed from a sound whose torn frames are rebuilt as well', async () => {
    const torn = at('torn.mp4');
    const listed = '-v error -select_streams a:0 -show_entries packet=pos,size -of csv=p=0'.split(' ');
    const { stdout } = await runTool('list', tools.ffprobe, [...listed, at('windy.mp4')]);
    const bytes = await readFile(at('windy.mp4'));
    const packets = stdout.trim().split('\n');
    for (const place of [100, 101, 600]) {
      const [size = 0, pos = 0] = (packets[place] ?? '').split(',').map(Number);
      bytes.fill(0, pos, pos + size);
    }
    await writeFile(torn, bytes);
    const { audio, verdicts } = await mend(torn, 'work-torn', ['wind_noise', 'audio_sync']);
    expect(verdicts.map(({ action }) => action).toSorted()).toEqual(['filled_audio', 'suppressed_wind']);
    if (audio.kind !== 'file') throw new Error('The sound was not mended.');
    const [before, after] = [await soundPacketsOf(torn), await soundPacketsOf(audio.path)];
    expect(after.length).toBe(before.length);
    // A new frame may happen to equal the old one.
    const same = before.filter((hash, place) => after[place] === hash).length;
    expect(audio.spliced?.framesKept).toBeLessThanOrEqual(same);
    expect(audio.spliced?.framesKept).toBeGreaterThan(before.length / 2);
    expect((await samplesOf(audio.path)).length).toBe((await samplesOf(at('windy.mp4'))).length);
  });

  it('has all of the sound re-encoded when it blows all the time', async () => {
    const whole = at('windy-whole.mp4');
    const wind = mixAtSnr(voice, gustingWind(SECONDS, RATE, 11), -3);
    const file = { tools, inputPath: at('clean.mp4'), outputPath: whole, rateHz: RATE };
    await replaceSound({ ...file, channels: [wind, wind] });
    const { audio } = await mend(whole, 'work-whole');
    expect(audio.kind).toBe('file');
    expect(audio).not.toHaveProperty('spliced');
  });
});
