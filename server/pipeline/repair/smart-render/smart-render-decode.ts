import { EACH_PICTURE } from '#server/media/ffmpeg/ffmpeg-names.ts';
import { ONCE, type FfmpegPlan } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import { CODING_WALL_MS, runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { pictureTicks } from '#server/media/ffmpeg/showinfo.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';

/** A picture as it leaves the decoder; planes are packed as by `rawvideo`. */
export interface DecodedPicture {
  /** Ticks of the decoded stream; null if the decoder knows no time. */
  readonly pts: number | null;
  readonly pixels: Buffer;
}

export interface DecodeStreamOptions {
  readonly tools: ToolPaths;
  readonly pictureBytes: number;
  readonly signal?: AbortSignal;
  /** Gets every line of the decoder's log. */
  readonly onLine?: (line: string) => void;
}

/** The decoder waits while the encoder works; the encoder's own watchdog detects a standstill. */
const DECODE_STALL_MS = 15 * 60_000;

const pictureOnce = (filters: string): readonly string[] => [
  '-vf',
  `${filters}showinfo=checksum=0,${ONCE}`,
  ...EACH_PICTURE,
  '-f',
  'rawvideo',
];

/**
 * Output options that deliver each decoded picture exactly once, whatever its time. Times are logged by showinfo, then
 * renumbered. At a constant rate (`-r`), ffmpeg 9 repeats a picture that is shown longer, whatever its number.
 */
export const EVERY_PICTURE_ONCE = pictureOnce('');

/** The same for the pictures from a time on, ticks of the decoded stream. */
export const picturesOnceFrom = (ticks: number) => pictureOnce(`select='not(lt(pts,${ticks}))',`);

/**
 * Runs a plan whose single output is `rawvideo` on `pipe:1` after a `showinfo` filter, and delivers its pictures one by
 * one. The decoder is stopped when the consumer stops asking. At most two whole pictures are held.
 * @throws MediaToolError when the decoder fails or is cancelled.
 */
export async function* streamPictures(
  plan: FfmpegPlan,
  options: DecodeStreamOptions,
): AsyncGenerator<DecodedPicture> {
  const stop = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
  const hand = createHandOver<DecodedPicture>();
  const times: (number | null)[] = [];
  let waitForTime: (() => void) | null = null;
  let picture = Buffer.allocUnsafe(options.pictureBytes);
  let filled = 0;
  let count = 0;

  // showinfo logs a picture's time before the picture is written, but the two pipes are read independently.
  const timeOf = async (index: number) => {
    while (times[index] === undefined) {
      await new Promise<void>((resolve) => {
        waitForTime = resolve;
      });
    }
    return times[index] ?? null;
  };
  const run = runFfmpeg(plan, {
    tools: options.tools,
    signal,
    stallMs: DECODE_STALL_MS,
    wallMs: CODING_WALL_MS,
    onStderrLine: (line) => {
      options.onLine?.(line);
      const ticks = pictureTicks(line);
      if (ticks === undefined) return;
      times.push(ticks);
      waitForTime?.();
    },
    onStdout: async (chunk) => {
      let at = 0;
      while (at < chunk.length) {
        const take = Math.min(chunk.length - at, options.pictureBytes - filled);
        chunk.copy(picture, filled, at, at + take);
        at += take;
        filled += take;
        if (filled < options.pictureBytes) continue;
        const pixels = picture;
        picture = Buffer.allocUnsafe(options.pictureBytes);
        filled = 0;
        await hand.give({ pts: await timeOf(count++), pixels });
      }
    },
  }).then(
    () => hand.finish(null),
    (error: unknown) => hand.finish(error),
  );
  try {
    for (;;) {
      const next = await hand.take();
      if (!next) break;
      yield next;
    }
  } finally {
    stop.abort();
    hand.discard();
    await run;
  }
}

interface HandOver<T> {
  /** Resolves when the item was taken. */
  give(item: T): Promise<void>;
  /** The next item, or null after the end. */
  take(): Promise<T | null>;
  finish(error: unknown): void;
  /** Releases a waiting producer; its items are dropped from now on. */
  discard(): void;
}

/** A hand-over with one slot between a producer and a consumer. */
function createHandOver<T>(): HandOver<T> {
  let item: T | null = null;
  let finished = false;
  let failure: unknown = null;
  let dropped = false;
  let wakeTaker: (() => void) | null = null;
  let wakeGiver: (() => void) | null = null;
  const wake = () => {
    wakeTaker?.();
    wakeTaker = null;
  };
  return {
    async give(next) {
      if (dropped) return;
      item = next;
      wake();
      await new Promise<void>((resolve) => {
        wakeGiver = resolve;
      });
    },
    async take() {
      while (item === null && !finished) {
        await new Promise<void>((resolve) => {
          wakeTaker = resolve;
        });
      }
      const taken = item;
      item = null;
      if (taken === null && failure) throw failure;
      wakeGiver?.();
      wakeGiver = null;
      return taken;
    },
    finish(error) {
      finished = true;
      failure = error;
      wake();
    },
    discard() {
      dropped = true;
      failure = null;
      wakeGiver?.();
    },
  };
}
