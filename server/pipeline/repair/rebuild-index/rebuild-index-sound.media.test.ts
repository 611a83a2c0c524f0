import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { testTools } from '#server/test/media-job.ts';
import {
  clipHashes,
  decodeHashes,
  encodeSource,
  renderLimits,
  sharedFolder,
  soundHash,
} from '#server/test/rendered-clips.ts';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { openOriginal } from '../../open/open-original.ts';

/** Samples of this noise pass as two small slices unless the look of coded data is checked. */
const CLIP = 'testsrc2=s=192x144:r=25:d=4[out0];anoisesrc=c=pink:a=0.3:r=44100:d=4:seed=4[out1]';
/** From the same device, with other content. */
const EARLIER = 'testsrc=s=192x144:r=25[out0];sine=f=300:r=44100[out1]';
const PICTURES = '-c:v libx264 -preset veryfast -g 25 -bf 2 -pix_fmt yuv420p -t 4 -ac 2';

describe('the sound of a clip that lost its index', () => {
  const folder = sharedFolder();
  const at = (name: string) => path.join(folder.path, name);

  /** A clip and an earlier one with the same settings. */
  async function make(name: string, options: string) {
    const ending = name.slice(name.lastIndexOf('.'));
    const clip = await encodeSource(CLIP, at(name), `${PICTURES} ${options}`.split(' '));
    const earlierOptions = `${PICTURES} ${options} -t 2`.split(' ');
    return { clip, earlier: await encodeSource(EARLIER, at(`earlier-${name}${ending}`), earlierOptions) };
  }

  /** The clip with its bytes changed by `harm`, opened with the earlier one as reference. */
  async function openHarmed(clip: string, earlier: string, harm: (bytes: Buffer) => Buffer) {
    const inputPath = `${clip}.harmed`;
    await writeFile(inputPath, harm(await readFile(clip)));
    const referencePaths = [earlier];
    const rebuiltPath = `${clip}.rebuilt`;
    return openOriginal({ inputPath, rebuiltPath, referencePaths, limits: renderLimits, tools: testTools });
  }

  /** Without anything after the media, like an interrupted recording. */
  const withoutIndex = (bytes: Buffer) =>
    bytes.subarray(0, bytes.lastIndexOf('moov', undefined, 'latin1') - 4);

  it.each([
    ['pcm16.mov', '-c:a pcm_s16le'],
    ['pcm16-high.mov', '-c:a pcm_s16be'],
    ['pcm24.mov', '-c:a pcm_s24le'],
    ['ac3.mov', '-c:a ac3 -b:a 192k'],
    ['eac3.mov', '-c:a eac3 -b:a 192k'],
    ['mp2.mp4', '-c:a mp2 -b:a 192k'],
    ['aac.mp4', '-c:a aac -b:a 96k'],
    ['filler.mp4', '-c:a aac -b:a 96k -b:v 3M -maxrate 3M -bufsize 1M -x264-params nal-hrd=cbr:filler=1'],
  ])('is restored byte for byte with all pictures: %s', async (name, options) => {
    const { clip, earlier } = await make(name, options);
    const opened = await openHarmed(clip, earlier, withoutIndex);
    const [before, after] = [await clipHashes(clip), await clipHashes(opened.path)];
    expect(after.sound).toBe(before.sound);
    expect(after.hashes).toEqual(before.hashes);
    expect(opened.info.audio).toHaveLength(1);
  });

  it('is restored byte for byte when an encoder leaves the last bits of its frames arbitrary', async () => {
    const { clip, earlier } = await make('chance.mp4', '-c:a aac -b:a 96k');
    const bytes = await readFile(clip);
    const entries = '-v error -select_streams a -show_entries packet=pos,size -of csv=p=0'.split(' ');
    const { stdout } = await runTool('list', testTools.ffprobe, [...entries, clip]);
    for (const line of stdout.trim().split('\n')) {
      const [sizeBytes = 0, at = 0] = line.split(',').map(Number);
      // A frame ends with three set bits; other bits fill the rest of the byte.
      const last = at + sizeBytes - 1;
      const value = bytes[last] ?? 0;
      bytes[last] = value | ((value & -value) - 1);
    }
    await writeFile(clip, bytes);
    const opened = await openHarmed(clip, earlier, withoutIndex);
    expect(opened.rebuilt?.notes.join(' ')).toContain('kept unchanged');
    expect(await soundHash(opened.path)).toBe(await soundHash(clip));
  });

  it('ends where the last picture is cut off, and none of that picture’s data is heard', async () => {
    const { clip, earlier } = await make('cut.mov', '-c:a pcm_s16le -x264-params keyint=1:bitrate=20000');
    const whole = await readFile(clip);
    const opened = await openHarmed(clip, earlier, (bytes) => {
      return withoutIndex(bytes).subarray(0, Math.floor(bytes.length / 2));
    });
    const raw = async (file: string) => {
      const target = `${file}.raw`;
      const options = ['-v', 'error', '-y', '-i', file, ...'-map 0:a:0 -c copy -f s16le'.split(' ')];
      await runTool('sound', testTools.ffmpeg, [...options, target]);
      return readFile(target);
    };
    const [before, after] = [await raw(clip), await raw(opened.path)];
    expect(whole.length).toBeGreaterThan(before.length);
    expect(after.length).toBeGreaterThan(0.4 * before.length);
    expect(after.equals(before.subarray(0, after.length))).toBe(true);
  });

  it('is restored beside a picture that is cut off and larger than all of it', async () => {
    const options = '-c:a aac -b:a 96k -x264-params keyint=1:bitrate=20000';
    const { clip, earlier } = await make('large.mp4', options);
    const opened = await openHarmed(clip, earlier, (bytes) => {
      const media = bytes.indexOf('mdat', 0, 'latin1');
      // After the first pieces, picture data of the same length continue to the end.
      const kept = withoutIndex(bytes).subarray(0, media + Math.floor((bytes.length - media) / 8));
      const more = withoutIndex(bytes)
        .subarray(-kept.length)
        .map((byte) => byte ^ 0x5a);
      return Buffer.concat([kept, more]);
    });
    const hashes = async (file: string) => {
      const options = ['-v', 'error', '-i', file, ...'-map 0:a:0 -c copy -f framemd5 -'.split(' ')];
      const { stdout } = await runTool('sound', testTools.ffmpeg, options);
      return stdout.split('\n').flatMap((line) => (/^\d/.test(line) ? (line.split(/,\s*/)[5] ?? []) : []));
    };
    const [before, after] = [await hashes(clip), await hashes(opened.path)];
    expect(after.length).toBeGreaterThan(10);
    expect(after.slice(0, 10)).toEqual(before.slice(0, 10));
  });

  it('is restored with the help of an earlier clip made of fragments', async () => {
    const { clip } = await make('plain.mp4', '-c:a aac -b:a 96k');
    const options = `${PICTURES} -c:a aac -b:a 96k -t 2 -movflags frag_keyframe+empty_moov`;
    const earlier = await encodeSource(EARLIER, at('fragments.mp4'), options.split(' '));
    const opened = await openHarmed(clip, earlier, withoutIndex);
    const [before, after] = [await clipHashes(clip), await clipHashes(opened.path)];
    expect(after.sound).toBe(before.sound);
    expect(after.hashes).toEqual(before.hashes);
  });

  let recorded: Promise<string> | null = null;
  /** A clip with two sounds. */
  const withTwo = () => (recorded ??= makeTwo());

  async function makeTwo(): Promise<string> {
    // A voice over a game, and the game alone.
    const game = 'anoisesrc=c=pink:a=0.2:r=48000:d=4:seed=2,tremolo=f=0.7:d=0.9,asplit[game][out1]';
    const voice = "aevalsrc='0.4*sin(700*t*(1+0.2*sin(9*t)))*gt(mod(t,1),0.4)':s=48000:d=4[voice]";
    const mixed = '[game][voice]amix=inputs=2:normalize=0[out2]';
    const graph = `testsrc2=s=192x144:r=60:d=4,noise=alls=9:allf=t:all_seed=1[out0];${game};${voice};${mixed}`;
    const options = '-map 0 -c:v libx264 -preset veryfast -g 60 -pix_fmt yuv420p -c:a aac -b:a 128k -ac 2';
    return encodeSource(graph, at('two.mp4'), options.split(' '));
  }

  it.each(['with', 'without'])(
    'is restored as two where a recorder wrote two, %s an earlier clip',
    async (help) => {
      const clip = await withTwo();
      const opened = await openHarmed(clip, help === 'with' ? clip : at('none.mp4'), withoutIndex);
      expect(opened.info.audio).toHaveLength(2);
      expect(opened.rebuilt?.notes.join(' ')).toContain('2 sounds were found');
      for (const sound of [0, 1]) {
        expect(await soundHash(opened.path, sound)).toBe(await soundHash(clip, sound));
      }
      expect((await decodeHashes(opened.path)).hashes).toEqual((await decodeHashes(clip)).hashes);
      expect(opened.info.video[0]?.frameRate).toBeCloseTo(60, 1);
    },
  );
});
