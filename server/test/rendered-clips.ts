import { afterAll, beforeAll } from 'vitest';
import { EACH_PICTURE, inNamesOf } from '#server/media/ffmpeg/ffmpeg-names.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import { makeFolder, testTools } from './media-job.ts';

/** Limits for tests of rendering. */
export const renderLimits = {
  threads: 2,
  preset: 'veryfast',
  maxEncodePixels: 4096 * 2304,
  maxDurationMs: 3_600_000,
  maxPictures: 200_000,
} as const;

/** A folder that exists while the tests of a file run; its path is known only inside the tests. */
export function sharedFolder(): { readonly path: string } {
  const held = { path: '' };
  let remove: () => Promise<void> = () => Promise.resolve();
  beforeAll(async () => {
    const folder = await makeFolder();
    held.path = folder.path;
    remove = folder.remove;
  });
  afterAll(() => remove());
  return held;
}

/** Encodes ffmpeg's own sources (a lavfi graph) to a file. */
export async function encodeSource(
  source: string,
  outputPath: string,
  options: readonly string[],
): Promise<string> {
  const inputs = [{ path: source, lavfi: true }];
  await runFfmpeg(
    { label: 'make a clip', inputs, outputs: [{ path: outputPath, options }], expectedDurationMs: null },
    { tools: testTools },
  );
  return outputPath;
}

const COPIED_SOUND = '-map 0:a -c copy -f hash -'.split(' ');

/**
 * Hash of the coded sound of a clip.
 * @param track number of one of several sounds; all of them where left out
 */
export async function soundHash(file: string, track?: number): Promise<string> {
  const options = track === undefined ? COPIED_SOUND : COPIED_SOUND.with(1, `0:a:${track}`);
  const { stdout } = await runTool('sound', testTools.ffmpeg, ['-v', 'error', '-i', file, ...options]);
  return stdout.trim();
}

const STRICTLY = '-v warning -threads 1 -err_detect aggressive -noautorotate';

/**
 * Lists each decoded picture as ffmpeg reports it (stream, dts, pts, duration, size, MD5) in display order, with all
 * messages of the decoder.
 * @param decoder its options
 */
export async function listPictures(
  file: string,
  decoder = STRICTLY,
): Promise<{ rows: string[][]; warnings: string }> {
  const { rows, warnings } = await readOut(file, decoder);
  return { rows, warnings };
}

/** Lists each decoded picture, with whatever `more` outputs write beside it. */
async function readOut(file: string, decoder: string, more: readonly string[] = []) {
  const output = ['-map', '0:v:0', ...EACH_PICTURE, '-f', 'framemd5', '-', ...more];
  const args = await inNamesOf(testTools, [...decoder.split(' '), '-i', file, ...output]);
  const { stdout, stderr } = await runTool('hashes', testTools.ffmpeg, args);
  const lines = stdout.split('\n').filter((line) => line && !line.startsWith('#'));
  const [pictures, rest] = [true, false].map((wanted) =>
    lines.filter((line) => line.includes(',') === wanted),
  );
  return {
    rows: (pictures ?? []).map((line) => line.split(/,\s*/)),
    rest: (rest ?? []).join('\n'),
    warnings: stderr,
  };
}

const hashesIn = (rows: readonly string[][]) => rows.map((cells) => cells[5] ?? '');

/** Only the hashes; see `listPictures`. */
export async function decodeHashes(
  file: string,
  decoder = STRICTLY,
): Promise<{ hashes: string[]; warnings: string }> {
  const { rows, warnings } = await listPictures(file, decoder);
  return { hashes: hashesIn(rows), warnings };
}

/**
 * Hashes of the decoded pictures and of the coded sound of a clip that has both, read in one go; see `listPictures` and
 * `soundHash`.
 */
export async function clipHashes(
  file: string,
): Promise<{ hashes: string[]; warnings: string; sound: string }> {
  const { rows, warnings, rest } = await readOut(file, STRICTLY, COPIED_SOUND);
  return { hashes: hashesIn(rows), warnings, sound: rest };
}

/** Types of the pictures of an intact clip in display order: I, P or B. */
export async function pictureTypes(file: string): Promise<string[]> {
  const { stdout } = await runTool('types', testTools.ffprobe, [
    ...'-v error -select_streams v:0 -show_entries frame=pict_type -of csv=p=0'.split(' '),
    file,
  ]);
  // Pictures with side data are followed by an empty line.
  return stdout.split('\n').flatMap((line) => line.replaceAll(',', '').trim() || []);
}
