import { inPieces } from '#server/media/in-pieces.ts';
import { probeFile } from '#server/media/probe/probe-file.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { placedSoundFilters, uploadedSoundOptions } from '#server/media/ffmpeg/whole-sound.ts';
import { samplePictures } from '#server/media/sample-pictures.ts';
import { powerToDb } from '#server/media/signal/signal.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { SAMPLES_PER_S, type ClipSeries, type PictureFigures } from './clip-series.ts';
import { createPictureMeter, LOOK_BYTES, LOOK_HEIGHT, LOOK_WIDTH } from './measure-pictures.ts';

/** Sample rate that is enough for levels, the only use of the sound. */
const SOUND_RATE_HZ = 8000;
const SAMPLES_A_STEP = SOUND_RATE_HZ / SAMPLES_PER_S;
const SAMPLE_BYTES = 2;
const FULL_SCALE = 32_768;
/** Share of the progress bar for pictures, whose decoding takes most of the time. */
const PICTURE_SHARE = 0.9;

export interface ReadClipInput {
  readonly path: string;
  readonly tools: ToolPaths;
  readonly threads: number;
  readonly signal: AbortSignal;
  /** Share of the clip that was read, 0 to 1, measured by ffmpeg. */
  readonly onProgress: (share: number) => void;
}

/**
 * Reads five small pictures and five sound levels per second of a clip. No thread is needed: a minute of video gives
 * 300 pictures of 64 x 36, and the ffmpeg processes do the rest.
 * @throws MediaToolError when the file is not a clip, cannot be decoded, or the run is cancelled
 */
export async function readClip(input: ReadClipInput): Promise<Omit<ClipSeries, 'speech'>> {
  const info = await probeFile(input.tools, input.path, input.signal);
  const pictures = info.video.length > 0 ? await readPictures(info, input) : [];
  const levelsDb = info.audio.length > 0 ? await readLevels(info, input) : [];
  const seenMs = (Math.max(pictures.length, levelsDb.length) * 1000) / SAMPLES_PER_S;
  return { durationMs: info.durationMs ?? info.video[0]?.durationMs ?? seenMs, pictures, levelsDb };
}

async function readPictures(info: MediaInfo, input: ReadClipInput): Promise<PictureFigures[]> {
  const { tools, signal, threads } = input;
  const meter = createPictureMeter();
  const pictures: PictureFigures[] = [];
  await samplePictures({
    inputPath: input.path,
    info,
    filters: [`fps=${SAMPLES_PER_S}`, `scale=${LOOK_WIDTH}:${LOOK_HEIGHT}:flags=area`, 'format=rgb24'],
    pictureBytes: LOOK_BYTES,
    take: (rgb) => pictures.push(meter(rgb)),
    tools,
    threads,
    signal,
    onProgress: (share) => input.onProgress(PICTURE_SHARE * share),
  });
  return pictures;
}

async function readLevels(info: MediaInfo, input: ReadClipInput): Promise<number[]> {
  const { tools, signal } = input;
  const levelsDb: number[] = [];
  const collect = inPieces(SAMPLES_A_STEP * SAMPLE_BYTES, (bytes) => {
    let power = 0;
    for (let at = 0; at < bytes.length; at += SAMPLE_BYTES)
      power += (bytes.readInt16LE(at) / FULL_SCALE) ** 2;
    levelsDb.push(powerToDb(power / SAMPLES_A_STEP));
  });
  const sound = ['-map', `0:${info.audio[0]?.index ?? 0}`, '-vn', '-sn', '-dn'];
  const samples = ['-ac', '1', '-ar', `${SOUND_RATE_HZ}`, '-c:a', 'pcm_s16le', '-f', 's16le'];
  await runFfmpeg(
    {
      label: 'measure the level of the sound',
      inputs: [{ path: input.path, format: info.format, options: uploadedSoundOptions(info) }],
      outputs: [
        {
          path: 'pipe:1',
          options: [...sound, '-af', placedSoundFilters(info).join(','), ...samples],
        },
      ],
      expectedDurationMs: info.durationMs,
    },
    {
      tools,
      signal,
      onStdout: collect,
      onProgress: ({ share }) => input.onProgress(PICTURE_SHARE + (1 - PICTURE_SHARE) * (share ?? 0)),
    },
  );
  return levelsDb;
}
