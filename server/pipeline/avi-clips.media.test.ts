import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probe } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { changeAvi } from '#server/test/avi-clips.ts';
import { makeMovingClip } from '#server/test/broken-clips.ts';
import { makeFolder, makeTask, mustBeOk, testTools as tools } from '#server/test/media-job.ts';
import { decodeHashes, pictureTypes } from '#server/test/rendered-clips.ts';
import { readPackets } from './analyse/packets/read-packets.ts';
import { processVideo } from './process-video.ts';
import { verifyClaims } from './publish/verify-claims.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
const at = (name: string) => path.join(folder.path, name);
let shown: string[] = [];

beforeAll(async () => {
  folder = await makeFolder();
  const encode = ['-c:v', 'libx264', '-preset', 'veryfast', '-bf', '3', '-g', '30', '-crf', '18'];
  const pyramid = ['-x264-params', 'b-pyramid=normal:scenecut=0:b-adapt=0'];
  const scene = { tools, seconds: 4, width: 320, height: 192 } as const;
  await makeMovingClip({ ...scene, outputPath: at('clean.mp4'), encode: [...encode, ...pyramid] });
  await runFfmpeg(
    {
      label: 'rewrap',
      inputs: [{ path: at('clean.mp4') }],
      outputs: [{ path: at('clean.avi'), options: '-c:v copy -c:a pcm_s16le -f avi'.split(' ') }],
      expectedDurationMs: null,
    },
    { tools },
  );
  shown = (await decodeHashes(at('clean.mp4'))).hashes;
});
afterAll(() => folder.remove());

async function mend(name: string) {
  const task = await makeTask(at(name), at(`${name}-work`));
  return mustBeOk(await processVideo(task, { signal: new AbortController().signal, send: () => undefined }));
}

describe('H.264 in AVI, with pictures coded out of their order', () => {
  it('becomes an MP4 file with the same coded pictures, shown in their order from the start', async () => {
    const { report, resultPath } = await mend('clean.avi');
    expect(report.video).toMatchObject({ treatment: 'copied', unitsKept: 120 });
    expect(report.original.media.container).toBe('avi');
    expect(report.checks.filter((check) => !check.passed)).toEqual([]);
    expect(report.notes.join(' ')).not.toMatch(/ends early/);
    expect((await decodeHashes(resultPath ?? '')).hashes).toEqual(shown);
    const info = await probe(tools, resultPath ?? '', 'mov');
    expect(info.video[0]?.startMs).toBe(0);
  });

  it('plays up to the last whole picture when cut off, and says how many are missing', async () => {
    const bytes = await readFile(at('clean.avi'));
    await writeFile(at('cut.avi'), bytes.subarray(0, Math.floor(bytes.length * 0.6)));
    const { report, resultPath } = await mend('cut.avi');
    const { hashes, warnings } = await decodeHashes(resultPath ?? '');
    expect(warnings).toBe('');
    expect(hashes.length).toBeGreaterThan(50);
    expect(hashes.slice(0, 40)).toEqual(shown.slice(0, 40));
    expect(report.notes.join(' ')).toContain(`${120 - hashes.length} of 120 frames are missing at its end`);
  });

  it('keeps every undamaged picture where one is damaged, and each claim holds against the AVI file', async () => {
    const info = await probe(tools, at('clean.avi'), 'avi');
    const { video } = await readPackets({ inputPath: at('clean.avi'), info, tools });
    const { offsetBytes, sizeBytes = 0 } = video[40] ?? {};
    const from = (offsetBytes ?? 0) + Math.floor(sizeBytes / 2);
    const torn = Buffer.from(await readFile(at('clean.avi')));
    await writeFile(at('torn.avi'), torn.fill(0, from, from + 40));
    const { report, resultPath } = await mend('torn.avi');
    expect(report.video.treatment).toBe('smart_render');
    const spans = report.defects.filter(({ kind }) => kind === 'corrupted_section');
    const damaged = new Set(
      spans.flatMap(({ firstFrame, lastFrame }) =>
        shown.flatMap((_, frame) =>
          frame >= (firstFrame ?? 0) && frame <= (lastFrame ?? -1) ? [frame] : [],
        ),
      ),
    );
    expect(damaged.size).toBeGreaterThan(0);
    expect(damaged.size).toBeLessThan(30);
    const { hashes, warnings } = await decodeHashes(resultPath ?? '');
    expect(warnings).toBe('');
    expect(hashes).toHaveLength(shown.length);
    shown.forEach((hash, frame) => {
      if (!damaged.has(frame)) expect(hashes[frame], `picture ${frame}`).toBe(hash);
    });
    const files = { originalPath: at('torn.avi'), repairedPath: resultPath ?? '' };
    const claims = await verifyClaims({ ...files, report, tools });
    expect(claims.filter(({ confirmed }) => !confirmed)).toEqual([]);
  });
});

describe('MPEG-4 in AVI, packed as DivX and Xvid pack B pictures', () => {
  it('is reported as intact, and every picture of it is carried over', async () => {
    const encode = ['-c:v', 'libxvid', '-q:v', '4', '-bf', '2', '-f', 'avi'];
    await runFfmpeg(
      {
        label: 'pack',
        inputs: [{ path: at('clean.mp4') }],
        outputs: [{ path: at('packed.avi'), options: ['-an', ...encode] }],
        expectedDurationMs: null,
      },
      { tools },
    );
    await runFfmpeg(
      {
        label: 'copy',
        inputs: [{ path: at('packed.avi') }],
        outputs: [
          { path: at('packed.mov'), options: '-c copy -bsf:v setts=pts=DTS:dts=DTS -f mov'.split(' ') },
        ],
        expectedDurationMs: null,
      },
      { tools },
    );
    const { report, resultPath } = await mend('packed.avi');
    const copied = await mend('packed.mov');
    expect(copied.report.defects.filter(({ outcome }) => outcome !== 'flagged')).toEqual([]);
    expect(report.defects.filter(({ outcome }) => outcome !== 'flagged')).toEqual([]);
    const { hashes, warnings } = await decodeHashes(resultPath ?? '');
    expect(warnings).toBe('');
    const whole = await pictureTypes(at('packed.avi'));
    expect(whole.length).toBeGreaterThan(110);
    expect(whole).toContain('B');
    expect(hashes).toHaveLength(whole.length);
  });
});

describe('MPEG-4 in AVI whose headers lie', () => {
  beforeAll(async () => {
    const coded = '-c:v mpeg4 -q:v 3 -g 40 -c:a ac3 -f avi'.split(' ');
    await runFfmpeg(
      {
        label: 'code',
        inputs: [{ path: at('clean.mp4') }],
        outputs: [{ path: at('old.avi'), options: coded }],
        expectedDurationMs: null,
      },
      { tools },
    );
  });

  it('is reported as intact when a capture was never finished, and its sound gets no invented length', async () => {
    await changeAvi(at('old.avi'), at('crashed.avi'), (bytes, chunks) => {
      const index = chunks.find(({ name }) => name === 'idx1')?.at ?? 0;
      const [movi, avih] = [bytes.indexOf('movi', 0, 'latin1'), bytes.indexOf('avih', 0, 'latin1')];
      bytes.writeUInt32LE(0, 4);
      bytes.writeUInt32LE(0, movi - 4);
      bytes.writeUInt32LE(0, avih + 24);
      for (const { name, at: place } of chunks) if (name === 'strh') bytes.writeUInt32LE(0, place + 40);
      return bytes.subarray(0, index);
    });
    const { report, resultPath } = await mend('crashed.avi');
    expect(report.notes.filter((note) => !note.startsWith('Converted'))).toEqual([]);
    expect((await decodeHashes(resultPath ?? '')).hashes).toHaveLength(120);
  });

  it('is not reported as ending early when only the header counts more', async () => {
    await changeAvi(at('old.avi'), at('counted.avi'), (bytes, chunks) => {
      const header = chunks.find(({ name }) => name === 'strh')?.at ?? 0;
      bytes.writeUInt32LE(2000, header + 40);
      return bytes;
    });
    const notes = (await mend('counted.avi')).report.notes.join(' ');
    expect(notes).toMatch(/says that it has 2000 frames.* not cut off/);
    expect(notes).not.toMatch(/ends early/);
  });

  it('keeps its length and its sound in time when a stretch is overwritten', async () => {
    const info = await probe(tools, at('old.avi'), 'avi');
    await changeAvi(at('old.avi'), at('noise.avi'), (bytes, chunks) => {
      const pictures = chunks.filter(({ name }) => name === '00dc');
      const [from, to] = [pictures[60]?.at ?? 0, pictures[64]?.at ?? 0];
      return bytes.fill(0x5a, from - 40, to + 20);
    });
    const { report, resultPath } = await mend('noise.avi');
    expect(report.checks.filter((check) => !check.passed)).toEqual([]);
    const { hashes, warnings } = await decodeHashes(resultPath ?? '');
    expect(warnings).toBe('');
    expect(hashes).toHaveLength(120);
    const spans = report.defects.filter(
      ({ firstFrame, outcome }) => firstFrame !== null && outcome !== 'flagged',
    );
    expect(spans.map(({ kind, outcome }) => [kind, outcome])).toEqual([['corrupted_section', 'repaired']]);
    // From the first damaged picture to the next key picture.
    expect(spans[0]).toMatchObject({ firstFrame: 60, lastFrame: 79 });
    expect(report.notes.join(' ')).not.toMatch(/ends early|ends \d+ ms before/);
    const { audio } = await probe(tools, resultPath ?? '', 'mov');
    expect(Math.abs((audio[0]?.durationMs ?? 0) - (info.audio[0]?.durationMs ?? 0))).toBeLessThan(40);
  });

  it('is repaired when pictures are damaged and others counted by its header are missing', async () => {
    await runFfmpeg(
      {
        label: 'code',
        inputs: [{ path: at('clean.mp4') }],
        outputs: [{ path: at('pairs.avi'), options: '-an -c:v mpeg4 -q:v 3 -g 60 -bf 2 -f avi'.split(' ') }],
        expectedDurationMs: null,
      },
      { tools },
    );
    await changeAvi(at('pairs.avi'), at('fewer.avi'), (bytes, chunks) => {
      const pictures = chunks.filter(({ name }) => name === '00dc');
      const [torn, from, to] = [pictures[21], pictures[40]?.at ?? 0, pictures[43]?.at ?? 0];
      const middle = (torn?.at ?? 0) + 8 + ((torn?.sizeBytes ?? 0) >> 1);
      bytes.fill(0, middle, middle + 60);
      // Removes their entries from the index and corrects its size.
      const index = chunks.find(({ name }) => name === 'idx1') ?? { at: 0, sizeBytes: 0 };
      const lines = bytes.subarray(index.at + 8, index.at + 8 + index.sizeBytes);
      for (let line = 43 * 16; line < lines.length; line += 16) {
        lines.writeUInt32LE(lines.readUInt32LE(line + 8) - (to - from), line + 8);
      }
      bytes.writeUInt32LE(index.sizeBytes - 3 * 16, index.at + 4);
      const movi = bytes.indexOf('movi', 0, 'latin1');
      bytes.writeUInt32LE(bytes.readUInt32LE(movi - 4) - (to - from), movi - 4);
      bytes.writeUInt32LE(bytes.readUInt32LE(4) - (to - from) - 3 * 16, 4);
      const listed = [lines.subarray(0, 40 * 16), lines.subarray(43 * 16)];
      return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to, index.at + 8), ...listed]);
    });
    const { report } = await mend('fewer.avi');
    const torn = report.defects.filter(({ kind }) => kind === 'corrupted_section');
    expect(torn.map(({ outcome }) => outcome)).not.toEqual([]);
    expect(new Set(torn.map(({ outcome }) => outcome))).toEqual(new Set(['repaired']));
  });

  it('plays uncompressed sound at its own rate when the header counts it at another', async () => {
    const coded = '-c:v mpeg4 -q:v 3 -c:a pcm_s16le -f avi'.split(' ');
    await runFfmpeg(
      {
        label: 'code',
        inputs: [{ path: at('clean.mp4') }],
        outputs: [{ path: at('raw.avi'), options: coded }],
        expectedDurationMs: null,
      },
      { tools },
    );
    await changeAvi(at('raw.avi'), at('slow.avi'), (bytes, chunks) => {
      const header = chunks.filter(({ name }) => name === 'strh')[1]?.at ?? 0;
      bytes.writeUInt32LE(Math.round(0.98 * bytes.readUInt32LE(header + 32)), header + 32);
      return bytes;
    });
    const { report, resultPath } = await mend('slow.avi');
    expect(report.defects.filter(({ kind }) => kind === 'audio_sync')).toEqual([]);
    expect(report.notes.join(' ')).toMatch(/at which it ends with the picture: that one is used/);
    const { video, audio } = await probe(tools, resultPath ?? '', 'mov');
    expect(Math.abs((audio[0]?.durationMs ?? 0) - (video[0]?.durationMs ?? 0))).toBeLessThan(40);
  });
});
