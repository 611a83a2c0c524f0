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

/** What a decoder said about broken data. */
export interface DecoderMessage {
  readonly level: 'error' | 'warning';
  readonly text: string;
  /** Pictures that had come out of the decoder when it was said. */
  readonly picturesOut: number;
}

export interface DecodePass {
  /** Presentation times of the decoded pictures in the order they came out; null where unknown. */
  readonly ptsTicks: readonly (number | null)[];
  /** Coding type of each, as the decoder names it. */
  readonly types: readonly string[];
  readonly messages: readonly DecoderMessage[];
  /**
   * Whether damage was concealed before any picture came out: ffmpeg tells of corrupt pictures only among those that it hands on, so that
   * nothing else may be said of one that an edit list hides.
   */
  readonly concealsUnseen?: boolean;
  /** Of the decoded pictures and of those behind them. */
  readonly series: FrameSeries;
  /** Where the small pictures lie, in the order they came out; empty when they were not kept. */
  readonly kept: readonly KeptRun[];
}

export interface DecodePassInput {
  readonly inputPath: string;
  readonly info: MediaInfo;
  readonly stream: VideoStreamInfo;
  /** Coded pictures of the stream, the base of the progress share. */
  readonly expectedPictures: number;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
  readonly onProgress?: (share: number) => void;
  /** Called when the decoder complains or a picture looks like a repeat. */
  readonly onSign?: OnSign;
  /** A part of the stream: from the key frame at `startSeconds`, or up to a number of pictures or a time, its end not included. */
  readonly range?: {
    readonly startSeconds?: number;
    readonly maxPictures?: number;
    /** Ticks of the stream. */
    readonly endTicks?: number;
  };
  /** Pictures shown before this time go no further than the decoder, ticks of the stream. */
  readonly fromTicks?: number;
  /** Whether pictures come that an edit list hides too, with the times of the media. */
  readonly ignoresEdits?: boolean;
  /** Called once with the first `count` small pictures, fewer when there are no more. */
  readonly opening?: {
    readonly count: number;
    readonly take: (pictures: readonly Uint8Array[]) => void;
  };
  /** Small pictures that are measured behind the last decoded one, as if they had been decoded too. */
  readonly behind?: Promise<readonly Uint8Array[]>;
  /** File to keep the small pictures in; left out where nobody will look at them again. */
  readonly keepPath?: string;
}

/** Messages kept at most; a clip that is broken throughout prints one per macroblock row. */
const MAX_MESSAGES = 20_000;

/**
 * Decodes the video stream once. One thread and strict error detection, because frame threads report the
 * damage of one file differently in every run (measured: 0 to 3 of 4 reports). The small grey stream goes
 * through a pipe into numbers; `showinfo` behind the scaler says the time of each picture on the line
 * between the decoder's own messages, so that each message has a place. Where the decoder runs in a thread of its own it says
 * these times itself. Output times are replaced by a
 * running number, so that none is left out for a time that does not rise.
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
 * How strictly a decoder looks at the data. ffmpeg's MPEG-4 decoder at its strictest takes the second picture of a packed packet
 * (DivX and Xvid write B pictures so) for a broken end of the first, drops it and says so; one step below it names the same damage.
 */
const strictness = (codec: string) =>
  codec === 'mpeg4' ? 'careful+compliant+bitstream+buffer' : 'aggressive';

/**
 * Deblocking is left out where no other picture takes it over: a tenth of the decoding of H.264 with B pictures, of which
 * the area average leaves 0.005 to 0.11 grey levels. The findings in 471 clips, faults in most of them, stayed the same but for
 * the second decimal of three confidences (docs/benchmarks/speed.md).
 */
const shortcuts = (codec: string): string[] =>
  codec === 'h264' || codec === 'hevc' ? ['-skip_loop_filter', 'noref'] : [];

/** @param teller who says the time of each picture */
function decodePlan(input: DecodePassInput, size: GreySize, teller: 'decoder' | 'filter'): FfmpegPlan {
  const { stream } = input;
  const most = input.range?.maxPictures;
  const limit = most === undefined ? [] : ['-frames:v', String(most)];
  const from = input.fromTicks === undefined ? '' : `select='not(lt(pts,${input.fromTicks}))',`;
  const to = input.range?.endTicks === undefined ? '' : `trim=end_pts=${input.range.endTicks},`;
  const chain = [
    `[0:${input.stream.index}]${from}${to}${smallGrey(size)}`,
    // A sum over each picture for its line in the log would cost as much as a sixth of the scaling.
    ...(teller === 'filter' ? ['showinfo=checksum=0'] : []),
    `${ONCE}[grey]`,
  ].join(',');
  return {
    label: 'decode for analysis',
    logLevel: 'repeat+level+info',
    isLogRead: true,
    // Two filter threads would share a picture of which scaling takes a tenth of its decoding.
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

/** Whether the filters let a picture of this time pass. */
function isInRange({ fromTicks, range }: DecodePassInput, ptsTicks: number): boolean {
  return ptsTicks >= (fromTicks ?? -Infinity) && ptsTicks < (range?.endTicks ?? Infinity);
}

/** Starts at the key frame that has exactly this time, without decoding up to it. */
function seek(startSeconds: number | undefined): string[] {
  if (startSeconds === undefined) return [];
  return ['-noaccurate_seek', '-seek_timestamp', '1', '-ss', startSeconds.toFixed(6)];
}

/** Cuts a byte stream into pictures of `bytes` each; the view handed on is only valid during the call. */
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
  /** True once the decoder has named damage. */
  readonly complained: () => boolean;
  finish(count: number): Pick<DecodePass, 'ptsTicks' | 'types' | 'messages' | 'concealsUnseen'>;
}

/**
 * Who speaks, at which address, how loudly, and what is said. Since version 7 of ffmpeg the name of a stream may stand in front of
 * that of its decoder, which then is called `dec:h264` and has an address of its own.
 */
const SAID =
  /^(?:\[[^\]@]+ @ [^\]]+\] )*?(?:\[(?:dec:([^\]@]+)|([^\]@]+)) @ ([^\]]+)\] )?\[(error|warning|fatal|info)\] (.+)$/;
/** What `DECODER_MARKS` makes a decoder say; without its name in front where another thread has not ended its line. */
const HANDED_ON = /decoder -> pts:(-?\d+|NOPTS) .*?frame_type:(\d)/;
/** Of ffmpeg's `AVPictureType`, as it names them. */
const PICTURE_TYPES = ['?', 'I', 'P', 'B'];
/** What the scaler says is about formats, never about the coded data. */
const SCALER = 'swscaler';

interface Hearing {
  /** Whether the filters let a picture pass that the decoder says it hands on. */
  readonly passes?: (ptsTicks: number) => boolean;
  /** Whether what a decoder conceals is a complaint, as with builds that do not tell of corrupt pictures. */
  readonly hearsConcealing?: boolean;
}

/**
 * Reads the log of the pass: one showinfo line per picture, and whatever the decoder says between them.
 * Exported for tests with captured logs.
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
    // What was said before is about the look at the first packets that every file gets, not about this decode.
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
  /** Address of who said it; null where ffmpeg itself speaks. */
  readonly by: string | null;
}

/** What a parser alone says. */
const OF_PARSER = /missing picture in access unit/;

/**
 * Leaves out what a parser says, which reads ahead of the decoder, in a thread of its own since version 7 of ffmpeg and since then
 * under the decoder's name. It is known by its words, or because the decoder says all of that too when it comes to the place.
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
    // The first to speak of two that say the same is looked at first.
    if (isEcho || [...texts].some((text) => OF_PARSER.test(text))) textsOf.delete(by);
  }
  return messages.flatMap(({ by, ...message }) => (by === null || textsOf.has(by) ? [message] : []));
}
