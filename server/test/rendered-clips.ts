import { inNamesOf } from '#server/media/ffmpeg-names.ts';
import { afterAll, beforeAll } from 'vitest';
import { runFfmpeg } from '#server/media/run-ffmpeg.ts';
import { runTool } from '#server/media/tools.ts';
import { makeFolder, testTools } from './media-job.ts';

/** Limits under which rendering is tested. */
export const renderLimits = {
  threads: 2,
  preset: 'veryfast',
  maxEncodePixels: 4096 * 2304,
  maxDurationMs: 3_600_000,
  maxPictures: 200_000,
} as const;

/** A folder that exists while the tests of a file run; its path is known inside the tests. */
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

/** Encodes ffmpeg's own sources (a lavfi graph) into a file. */
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

/** Hash of the coded sound of a clip. */
export async function soundHash(file: string): Promise<string> {
  const options = '-map 0:a -c copy -f streamhash -'.split(' ');
  const { stdout } = await runTool('sound', testTools.ffmpeg, ['-v', 'error', '-i', file, ...options]);
  return stdout;
}

/** Hash of each decoded picture, display order, and everything the decoder had to say. */
export async function decodeHashes(file: string): Promise<{ hashes: string[]; warnings: string }> {
  const { stdout, stderr } = await runTool(
    'hashes',
    testTools.ffmpeg,
    await inNamesOf(testTools, [
      ...'-v warning -threads 1 -err_detect aggressive -noautorotate -i'.split(' '),
      file,
      ...'-map 0:v:0 -fps_mode passthrough -f framemd5 -'.split(' '),
    ]),
  );
  const lines = stdout.split('\n').filter((line) => line && !line.startsWith('#'));
  return { hashes: lines.map((line) => line.split(/,\s*/)[5] ?? ''), warnings: stderr };
}

/** Types of the pictures of an intact clip, display order: I, P or B. */
export async function pictureTypes(file: string): Promise<string[]> {
  const { stdout } = await runTool('types', testTools.ffprobe, [
    ...'-v error -select_streams v:0 -show_entries frame=pict_type -of csv=p=0'.split(' '),
    file,
  ]);
  // Pictures with data beside them have an empty line behind them.
  return stdout.split('\n').flatMap((line) => line.replaceAll(',', '').trim() || []);
}
