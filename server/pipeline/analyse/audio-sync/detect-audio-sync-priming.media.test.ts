import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probe } from '#server/media/probe/probe.ts';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { moveSound } from '#server/test/broken-sound.ts';
import { makeFolder, testTools as tools } from '#server/test/media-job.ts';
import { analyseVideo } from '../analyse-video.ts';
import { beginsWithPriming, decodeHead, silentSamplesOf } from './detect-audio-sync-priming.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
const at = (name: string) => path.join(folder.path, name);

const SECONDS = 6;
const RATE_HZ = 44_100;
/**
 * Priming of ffmpeg's encoder and of Apple's, in samples. The test builds Apple's from ffmpeg's plus silence for the
 * rest.
 */
const [OWN, APPLES] = [1024, 2112];

/**
 * Makes a clip whose sound looks like that of Apple's encoder, with its name. An edit list hides the priming, or it is
 * played.
 */
async function makeApples(name: string, isHidden: boolean): Promise<void> {
  const noise = `anoisesrc=c=pink:a=0.3:r=${RATE_HZ}:seed=3,adelay=${APPLES - OWN}S:all=1`;
  const samples = SECONDS * RATE_HZ + (isHidden ? APPLES - OWN : -OWN);
  const args = ['-v', 'error', '-f', 'lavfi', '-i', `testsrc2=s=320x192:r=30:d=${SECONDS}`];
  args.push('-f', 'lavfi', '-i', `${noise},atrim=end_sample=${samples}`);
  args.push(...'-c:v libx264 -preset veryfast -bf 0 -c:a aac -b:a 96k -flags:a +bitexact'.split(' '));
  args.push('-metadata:s:a:0', 'handler_name=Core Media Audio', at(name));
  await runTool('make a clip', tools.ffmpeg, args);
  const bytes = await readFile(at(name));
  const edits = bytes.lastIndexOf('elst', undefined, 'latin1');
  expect(bytes.readInt32BE(edits + 16)).toBe(OWN);
  // The movie's time scale: milliseconds up to ffmpeg 8, the finest one of the tracks from version 9 on.
  const clock = bytes.readUInt32BE(bytes.lastIndexOf('mvhd', undefined, 'latin1') + 16);
  bytes.writeUInt32BE(SECONDS * clock, edits + 12);
  bytes.writeInt32BE(isHidden ? APPLES : 0, edits + 16);
  await writeFile(at(name), bytes);
}

async function offsetOf(name: string): Promise<number | null> {
  const info = await probe(tools, at(name), 'mov');
  const { findings } = await analyseVideo({ inputPath: at(name), info, tools });
  const detail = findings.find(({ kind }) => kind === 'audio_sync')?.detail;
  return detail?.kind === 'audio_sync' ? detail.offsetMs : null;
}

beforeAll(async () => {
  folder = await makeFolder();
  await makeApples('hidden.mp4', true);
  await makeApples('played.mp4', false);
});
afterAll(() => folder.remove());

describe('a sound that was moved by copying its streams', () => {
  it.each([
    ['hidden', 200],
    ['hidden', -230],
    ['played', 200],
    ['played', -230],
  ])('with %s priming is measured %d ms off', async (name, offsetMs) => {
    const outputPath = at(`${name}${offsetMs}.mp4`);
    await moveSound({ tools, inputPath: at(`${name}.mp4`), outputPath, offsetMs });
    expect(Math.abs(((await offsetOf(path.basename(outputPath))) ?? 0) - offsetMs)).toBeLessThan(3);
  });

  it.each(['hidden', 'played'])('is not a fault before it was moved (%s)', async (name) => {
    expect(await offsetOf(`${name}.mp4`)).toBeNull();
  });

  it('is heard from its first coded sample on, whatever part of it is hidden', async () => {
    const info = await probe(tools, at('hidden.mp4'), 'mov');
    const head = await decodeHead(at('hidden.mp4'), info, tools);
    expect(Math.abs(silentSamplesOf(head ?? new Float32Array()) - APPLES)).toBeLessThan(225);
  });
});

describe('an MP3 sound that was moved', () => {
  const MOVED_MS = 250;

  beforeAll(async () => {
    const args = `-v error -f lavfi -i testsrc2=s=320x192:r=30:d=${SECONDS}`.split(' ');
    args.push(...`-f lavfi -i anoisesrc=c=pink:a=0.3:r=${RATE_HZ}:seed=3:d=${SECONDS}`.split(' '));
    // Without a reservoir of bits, each frame can be decoded alone.
    args.push(...'-c:v libx264 -preset veryfast -bf 0 -g 30 -c:a libmp3lame -reservoir 0'.split(' '));
    await runTool('make a clip', tools.ffmpeg, [...args, at('mp3.mp4')]);
    const cut = ['-v', 'error', '-ss', '2', '-i', at('mp3.mp4'), '-c', 'copy'];
    await runTool('cut it', tools.ffmpeg, [...cut, at('mp3-cut.mp4')]);
  });

  it.each([
    ['with the encoder’s priming', 'mp3', true],
    ['that begins inside the recording', 'mp3-cut', false],
  ])('%s is measured by what is heard', async (_, name, isPrimed) => {
    const outputPath = at(`${name}-moved.mp4`);
    await moveSound({ tools, inputPath: at(`${name}.mp4`), outputPath, offsetMs: MOVED_MS });
    const info = await probe(tools, outputPath, 'mov');
    const head = await decodeHead(outputPath, info, tools);
    expect(beginsWithPriming(head ?? new Float32Array(), 1105)).toBe(isPrimed);
    const statedMs = (info.audio[0]?.startMs ?? 0) - (info.video[0]?.startMs ?? 0);
    const heardMs = isPrimed ? MOVED_MS : statedMs;
    expect(Math.abs(((await offsetOf(path.basename(outputPath))) ?? 0) - heardMs)).toBeLessThan(3);
  });
});
