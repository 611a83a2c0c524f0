import type { ComparisonPiece } from '#common/api/comparison.ts';
import { toSeconds, type FfmpegInput, type FfmpegPlan } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import { uploadedPictureOptions } from '#server/media/ffmpeg/every-picture.ts';
import { placedSoundFilters, wholeSoundOptions } from '#server/media/ffmpeg/whole-sound.ts';
import type { MediaInfo } from '#server/media/probe/probe.ts';
import type { Rate } from './preview-shape.ts';

export const PREVIEW_RATE_HZ = 48_000;
/** How far beyond the end of a piece is read, so that its last picture is certainly there. */
const READ_ON_MS = 500;

/** One of the two files that are compared. */
export interface PreviewSource {
  readonly path: string;
  readonly info: MediaInfo;
}

export interface PieceInput {
  readonly original: PreviewSource;
  readonly result: PreviewSource;
  readonly piece: ComparisonPiece;
  readonly frames: number;
  readonly samples: number;
  readonly rate: Rate;
  /** Size of one half, pixels. */
  readonly width: number;
  readonly height: number;
  readonly hasSound: boolean;
  readonly threads: number;
  /** QuickTime file: it holds exact picture times and plain samples, which a join needs. */
  readonly outputPath: string;
}

/**
 * Plan for one piece: the original left, the result right, each held where it has no picture (holes, its end). The
 * sound of the original is in the left channel, that of the result in the right, with silence where there is none.
 * Exactly `frames` pictures and `samples` samples, so that joined pieces stay in step.
 */
export function piecePlan(input: PieceInput): FfmpegPlan {
  const { piece, rate, frames, width, height, hasSound } = input;
  const fps = `${rate.num}/${rate.den}`;
  const lengthMs = (frames * rate.den * 1000) / rate.num;
  const half = (index: number) =>
    `[${index}:v:0]scale=${width}:${height},setsar=1,fps=${fps}:start_time=0[half${index}]`;
  const filters = [
    `color=black:size=${width * 2}x${height}:rate=${fps},trim=end_frame=${frames}[ground]`,
    half(0),
    half(1),
    '[ground][half0]overlay=0:0:eof_action=repeat[left]',
    `[left][half1]overlay=${width}:0:eof_action=repeat,trim=end_frame=${frames},format=yuv420p[picture]`,
    ...(hasSound ? soundFilters(input) : []),
  ];
  const output = ['-map', '[picture]', ...(hasSound ? ['-map', '[sound]', '-c:a', 'pcm_s16le'] : [])];
  return {
    label: 'write a piece of the comparison',
    inputs: [
      read(input.original, piece.originalStartMs, lengthMs),
      read(input.result, piece.resultStartMs, lengthMs),
    ],
    filterComplex: filters.join(';'),
    outputs: [{ path: input.outputPath, options: [...output, ...encode(input), '-f', 'mov'] }],
    expectedDurationMs: lengthMs,
  };
}

function read({ path, info }: PreviewSource, startMs: number, lengthMs: number): FfmpegInput {
  // ffmpeg seeks from the first timestamp of the file, while the times of a report count from zero.
  const seekMs = Math.max(0, startMs - (info.startMs ?? 0));
  const stretch = ['-ss', toSeconds(seekMs), '-t', toSeconds(lengthMs + READ_ON_MS)];
  const options = [...uploadedPictureOptions(info), ...wholeSoundOptions(info), ...stretch];
  return { path, format: info.format, options };
}

function soundFilters({ original, result, samples }: PieceInput): string[] {
  const side = (index: number, { info }: PreviewSource) => {
    const rated = [...placedSoundFilters(info), `aresample=${PREVIEW_RATE_HZ}`].join(',');
    const source =
      info.audio.length > 0
        ? `[${index}:a:0]${rated},aformat=sample_fmts=fltp:channel_layouts=mono,apad`
        : `anullsrc=sample_rate=${PREVIEW_RATE_HZ}:channel_layout=mono,aformat=sample_fmts=fltp`;
    return `${source},atrim=end_sample=${samples}[sound${index}]`;
  };
  return [
    side(0, original),
    side(1, result),
    '[sound0][sound1]join=inputs=2:channel_layout=stereo:map=0.0-FL|1.0-FR[sound]',
  ];
}

function encode({ rate, threads }: PieceInput): string[] {
  const keyEvery = String(Math.max(1, Math.round(rate.num / rate.den)));
  // Without B pictures, the first picture is at zero without an edit list, which the join would lose.
  const video = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '26', '-bf', '0', '-g', keyEvery];
  // The filters end both streams. `-frames:v` would cut off the sound where its last samples come later.
  return [...video, '-threads', String(threads), '-r', `${rate.num}/${rate.den}`];
}

/** The list that ffmpeg's concat demuxer reads; names are ours, beside the list. */
export function joinList(names: readonly string[], durationsMs: readonly number[]): string {
  const lines = names.map(
    (name, index) => `file '${name}'\nduration ${toSeconds(durationsMs[index] ?? 0)}\n`,
  );
  return `ffconcat version 1.0\n${lines.join('')}`;
}

/** Plan that joins the pieces: pictures as they are, the sound coded once over all, so that no piece adds a gap. */
export function joinPlan(listPath: string, outputPath: string, durationMs: number): FfmpegPlan {
  const tracks = ['-map', '0:v:0', '-c:v', 'copy', '-map', '0:a:0?', '-c:a', 'aac', '-b:a', '160k'];
  // The channels come from two different files, so the coder must not share anything between them.
  const apart = ['-aac_ms', '0', '-aac_is', '0', '-aac_pns', '0'];
  return {
    label: 'join the comparison',
    inputs: [{ path: listPath, format: 'concat', options: ['-safe', '0'] }],
    outputs: [
      {
        path: outputPath,
        options: [...tracks, ...apart, '-map_metadata', '-1', '-movflags', '+faststart', '-f', 'mp4'],
      },
    ],
    expectedDurationMs: durationMs,
  };
}
