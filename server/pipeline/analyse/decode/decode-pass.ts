import {
  DECODER_MARKS,
  EACH_PICTURE,
  runsInThreads,
  tellsCorruptPictures,
  versionOf,
} from '#server/media/ffmpeg/ffmpeg-names.ts';
import { concealedMacroblocks, endsPreparations } from '#server/media/ffmpeg/decoder-log.ts';
import { ONCE, type FfmpegPlan } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import { smallGrey, smallSize, type GreySize } from '#server/media/grey/grey-frame.ts';
import { createGreySeries, type FrameSeries } from '#server/media/grey/grey-series.ts';
import { uploadedPictureOptions } from '#server/media/ffmpeg/every-picture.ts';
import type { MediaInfo, VideoStreamInfo } from '#server/media/probe/probe.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { damageReason } from '../damage/detect-corruption.ts';
import { createPictureKeeper, type KeptRun } from './kept-pictures.ts';
import { createRepeatWatch, type OnSign } from '../repair-signs.ts';

/** A decoder's message about broken data. */
export interface DecoderMessage {
  readonly level: 'error' | 'warning';
  readonly text: string;
  /** Number of pictures that had come out of the decoder by then. */
  readonly picturesOut: number;
}

export interface DecodePass {
  /** Presentation times of the decoded pictures, in output order; null when unknown. */
  readonly ptsTicks: readonly (number | null)[];
  /** Coding type of each, as the decoder names it. */
  readonly types: readonly string[];
  readonly messages: readonly DecoderMessage[];
  /**
   * Whether damage was concealed before any picture came out. ffmpeg only reports corrupt pictures that it outputs, so
   * this may be the only sign of damage in a picture that an edit list hides.
   */
  readonly concealsUnseen?: boolean;
  /** Measures of the decoded pictures, and of those in `behind`. */
  readonly series: FrameSeries;
  /** Where the small pictures lie, in output order; empty when they were not kept. */
  readonly kept: readonly KeptRun[];
}

export interface DecodePassInput {
  readonly inputPath: string;
  readonly info: MediaInfo;
  readonly stream: VideoStreamInfo;
  /** Number of coded pictures in the stream, for the progress. */
  readonly expectedPictures: number;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
  readonly onProgress?: (share: number) => void;
  /** Called when the decoder complains or a picture looks like a repeat. */
  readonly onSign?: OnSign;
  /** A part of the stream: from the key frame at `startSeconds`, or up to a number of pictures or a time (excluded). */
  readonly range?: {
    readonly startSeconds?: number;
    readonly maxPictures?: number;
    /** Ticks of the stream. */
    readonly endTicks?: number;
  };
  /** Pictures shown before this time are decoded but not measured, ticks of the stream. */
  readonly fromTicks?: number;
  /** Whether pictures that an edit list hides are output too, with times of the media. */
  readonly ignoresEdits?: boolean;
  /** Called once with the first `count` small pictures, or fewer if there are no more. */
  readonly opening?: {
    readonly count: number;
    readonly take: (pictures: readonly Uint8Array[]) => void;
  };
  /** Small pictures to measure after the last decoded one, as if they had been decoded too. */
  readonly behind?: Promise<readonly Uint8Array[]>;
  /** File for keeping the small pictures; absent if nobody will look at them again. */
  readonly keepPath?: string;
}

/** Most messages to keep; a clip that is broken throughout prints one for each row of macroblocks. */
const MAX_MESSAGES = 20_000;

/**
 * Decodes the video stream once, with one thread and strict error detection. Frame threads would report the damage of
 * one file differently in every run (measured: 0 to 3 of 4 reports).
 *
 * The small grey pictures go through a pipe and are measured. `showinfo` after the scaler logs the time of each picture
 * between the decoder's own messages, so that each message has a place. A decoder that runs in its own thread logs
 * these times itself. Output times are replaced by a running number, so that no picture is dropped for a time that does
 * not rise.
 * @throws MediaToolError when ffmpeg cannot run; a decoder that complains is a result, not an error.
 */
export async function decodePass(input: DecodePassInput): Promise<DecodePass> {
  const { stream } = input;
  const size = smallSize(stream.width, stream.height);
  const builder = createGreySeries(size);
  const version = await versionOf(input.tools, input.signal);
  const reader = createLogReader({
    passes: (ptsTicks) => isInRange(input, ptsTicks),
    hearsConcealing: !tellsCorruptPictures(version),
  });
  const looksRepeated = createRepeatWatch();
  const opening: Uint8Array[] = [];
  const { keepPath } = input;
  const keeper =
    keepPath === undefined ? null : await createPictureKeeper(keepPath, size.width * size.height);
  const assemble = createAssembler(size.width * size.height, (picture) => {
    const change = builder.add(picture);
    keeper?.add(picture);
    if (input.opening && opening.length < input.opening.count) {
      opening.push(picture.slice());
      if (opening.length === input.opening.count) input.opening.take(opening);
    }
    if (looksRepeated(change)) input.onSign?.('repeat');
    if (reader.complained()) input.onSign?.('damage');
    const share = ++pictures / Math.max(1, input.expectedPictures);
    input.onProgress?.(Math.min(1, share));
  });
  let pictures = 0;
  let kept: readonly KeptRun[] = [];
  try {
    await runFfmpeg(decodePlan(input, size, runsInThreads(version) ? 'decoder' : 'filter'), {
      tools: input.tools,
      signal: input.signal,
      onStderrLine: reader.read,
      onStdout: (chunk) => {
        assemble(chunk);
        return keeper?.drain();
      },
    });
  } finally {
    kept = (await keeper?.finish()) ?? [];
  }
  if (input.opening && opening.length < input.opening.count) input.opening.take(opening);
  for (const picture of (await input.behind) ?? []) builder.add(picture);
  return { ...reader.finish(pictures), series: builder.finish(), kept };
}

/**
 * How strictly a decoder checks the data. DivX and Xvid pack B pictures into one packet. At its strictest, ffmpeg's
 * MPEG-4 decoder takes the second picture of such a packet for a broken end of the first and drops it. One level lower
 * finds the same damage.
 */
const strictness = (codec: string) =>
  codec === 'mpeg4' ? 'careful+compliant+bitstream+buffer' : 'aggressive';

/**
 * Skips deblocking of pictures that no other refers to. That saves a tenth of the decoding of H.264 with B pictures and
 * changes the small pictures by 0.005 to 0.11 grey levels. In 471 clips, most with defects, the findings stayed the
 * same; three confidences changed in the second decimal (docs/benchmarks/speed.md).
 */
const shortcuts = (codec: string): string[] =>
  codec === 'h264' || codec === 'hevc' ? ['-skip_loop_filter', 'noref'] : [];

/** @param teller who logs the time of each picture */
function decodePlan(input: DecodePassInput, size: GreySize, teller: 'decoder' | 'filter'): FfmpegPlan {
  const { stream } = input;
  const most = input.range?.maxPictures;
  const limit = most === undefined ? [] : ['-frames:v', String(most)];
  const from = input.fromTicks === undefined ? '' : `select='not(lt(pts,${input.fromTicks}))',`;
  const to = input.range?.endTicks === undefined ? '' : `trim=end_pts=${input.range.endTicks},`;
  const chain = [
    `[0:${input.stream.index}]${from}${to}${smallGrey(size)}`,
    // A checksum of each picture for the log would cost a sixth of the scaling.
    ...(teller === 'filter' ? ['showinfo=checksum=0'] : []),
    `${ONCE}[grey]`,
  ].join(',');
  return {
    label: 'decode for analysis',
    logLevel: 'repeat+level+info',
    isLogRead: true,
    // A second filter thread does not pay, because scaling takes only a tenth of the decoding.
    globalOptions: [
      ...(teller === 'decoder' ? [DECODER_MARKS] : []),
      '-copyts',
      '-filter_complex_threads',
      '1',
    ],
    inputs: [
      {
        path: input.inputPath,
        format: input.info.format,
        options: [
          ...uploadedPictureOptions(input.info),
          '-threads',
          '1',
          '-err_detect',
          strictness(stream.codec),
          '-noautorotate',
          ...shortcuts(stream.codec),
          ...(input.ignoresEdits ? ['-ignore_editlist', '1'] : []),
          ...seek(input.range?.startSeconds),
        ],
      },
    ],
    filterComplex: chain,
    outputs: [{ path: 'pipe:1', options: [...limit, '-map', '[grey]', ...EACH_PICTURE, '-f', 'rawvideo'] }],
    expectedDurationMs: null,
  };
}

/** Whether the filters pass a picture with this time. */
function isInRange({ fromTicks, range }: DecodePassInput, ptsTicks: number): boolean {
  return ptsTicks >= (fromTicks ?? -Infinity) && ptsTicks < (range?.endTicks ?? Infinity);
}

/** Starts at the key frame that has exactly this time, without decoding up to it. */
function seek(startSeconds: number | undefined): string[] {
  if (startSeconds === undefined) return [];
  return ['-noaccurate_seek', '-seek_timestamp', '1', '-ss', startSeconds.toFixed(6)];
}

/** Cuts a byte stream into pictures of `bytes` each. The buffer that is passed on is only valid during the call. */
function createAssembler(bytes: number, onPicture: (picture: Uint8Array) => void): (chunk: Buffer) => void {
  const pending = new Uint8Array(bytes);
  let filled = 0;
  return (chunk) => {
    let at = 0;
    while (at < chunk.length) {
      const take = Math.min(bytes - filled, chunk.length - at);
      pending.set(chunk.subarray(at, at + take), filled);
      filled += take;
      at += take;
      if (filled === bytes) {
        onPicture(pending);
        filled = 0;
      }
    }
  };
}

interface LogReader {
  readonly read: (line: string) => void;
  /** True once the decoder has reported damage. */
  readonly complained: () => boolean;
  finish(count: number): Pick<DecodePass, 'ptsTicks' | 'types' | 'messages' | 'concealsUnseen'>;
}

/**
 * Splits a log line into name, address, level and text. Since ffmpeg 7, the name of a stream may stand before that of
 * its decoder, which is then called `dec:h264` and has an address of its own.
 */
const SAID =
  /^(?:\[[^\]@]+ @ [^\]]+\] )*?(?:\[(?:dec:([^\]@]+)|([^\]@]+)) @ ([^\]]+)\] )?\[(error|warning|fatal|info)\] (.+)$/;
/**
 * The line that `DECODER_MARKS` makes a decoder log. Its name is missing when another thread has not finished its line.
 */
const HANDED_ON = /decoder -> pts:(-?\d+|NOPTS) .*?frame_type:(\d)/;
/** Names of ffmpeg's `AVPictureType`, by number. */
const PICTURE_TYPES = ['?', 'I', 'P', 'B'];
/** The scaler's messages are about formats, never about the coded data. */
const SCALER = 'swscaler';

interface Hearing {
  /** Whether the filters pass a picture that the decoder outputs. */
  readonly passes?: (ptsTicks: number) => boolean;
  /** Whether concealing counts as a complaint, for builds that do not report corrupt pictures. */
  readonly hearsConcealing?: boolean;
}

/**
 * Reads the log of the pass: one showinfo line for each picture, and the decoder's messages between them. Exported for
 * tests with captured logs.
 */
export function createLogReader({ passes = () => true, hearsConcealing = false }: Hearing = {}): LogReader {
  const ptsTicks: (number | null)[] = [];
  const types: string[] = [];
  const messages: PlacedMessage[] = [];
  let complained = false;
  let concealsUnseen = false;
  const take = (time: string | undefined, type: string) => {
    ptsTicks.push(time === 'NOPTS' ? null : Number(time));
    types.push(type);
  };
  const read = (line: string): void => {
    const shown = line.includes('_showinfo_') && / n:\s*\d+ pts:\s*(-?\d+|NOPTS) .*?type:(\S)/.exec(line);
    if (shown) return take(shown[1], shown[2] ?? '?');
    const mark = HANDED_ON.exec(line);
    if (mark) {
      if (mark[1] === 'NOPTS' || passes(Number(mark[1])))
        take(mark[1], PICTURE_TYPES[Number(mark[2])] ?? '?');
      return;
    }
    // Earlier messages are about the probing of the first packets, not about this decode.
    if (endsPreparations(line)) {
      messages.length = 0;
      concealsUnseen = false;
    }
    const said = SAID.exec(line);
    if (!said) return;
    const [, stream, own, address, loudness, words = ''] = said;
    concealsUnseen ||= ptsTicks.length === 0 && concealedMacroblocks(words) !== null;
    if (loudness === 'info' && !(hearsConcealing && concealedMacroblocks(words) !== null)) return;
    const name = (stream ?? own)?.trim();
    if (messages.length >= MAX_MESSAGES || name === SCALER) return;
    const text = name === undefined ? words : `${name}: ${words}`;
    const level = loudness === 'warning' || loudness === 'info' ? 'warning' : 'error';
    const by = own === undefined ? null : (address ?? null);
    messages.push({ level, text, picturesOut: ptsTicks.length, by });
    complained ||= damageReason({ level, text }) !== null;
  };
  return {
    complained: () => complained,
    read,
    finish(count) {
      while (ptsTicks.length < count) {
        ptsTicks.push(null);
        types.push('?');
      }
      return {
        ptsTicks: ptsTicks.slice(0, count),
        types: types.slice(0, count),
        messages: ofDecoder(messages),
        ...(concealsUnseen && { concealsUnseen }),
      };
    },
  };
}

interface PlacedMessage extends DecoderMessage {
  /** Address of the context that logged it; null for ffmpeg itself. */
  readonly by: string | null;
}

/** Only parsers log this. */
const OF_PARSER = /missing picture in access unit/;

/**
 * Removes messages of a parser, which reads ahead of the decoder. Since ffmpeg 7 it runs in its own thread and logs
 * under the decoder's name. It is recognised by its words, or because the decoder repeats all of its messages when it
 * gets there.
 */
function ofDecoder(messages: readonly PlacedMessage[]): DecoderMessage[] {
  const textsOf = new Map<string, Set<string>>();
  for (const { by, text } of messages) {
    if (by !== null) textsOf.set(by, (textsOf.get(by) ?? new Set<string>()).add(text));
  }
  for (const [by, texts] of textsOf) {
    const isEcho = [...textsOf].some(
      ([other, others]) => other !== by && [...texts].every((text) => others.has(text)),
    );
    // Of two contexts with the same messages, the first one is checked first.
    if (isEcho || [...texts].some((text) => OF_PARSER.test(text))) textsOf.delete(by);
  }
  return messages.flatMap(({ by, ...message }) => (by === null || textsOf.has(by) ? [message] : []));
}
