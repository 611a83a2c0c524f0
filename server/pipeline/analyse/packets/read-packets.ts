import { ticksToMs, type TimeBase } from '#server/media/time-base.ts';
import { uploadedInputOptions, type MediaInfo } from '#server/media/probe/probe.ts';
import { runTool, type ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { withoutUncoded } from './uncoded-pictures.ts';

/** One coded picture as the container lists it; ticks are of the video stream's time base. */
export interface VideoPacket {
  /** Null when the container stores no presentation time (AVI, damaged transport streams). */
  readonly ptsTicks: number | null;
  readonly dtsTicks: number | null;
  readonly durationTicks: number | null;
  readonly sizeBytes: number;
  /** Place of the payload in the file; null when the demuxer does not know it. */
  readonly offsetBytes: number | null;
  readonly keyframe: boolean;
  /** False for pictures that an edit list cuts away: decoded for reference, never displayed. */
  readonly shown: boolean;
}

/** Times of the sound packets in file order, ticks of the audio stream's time base. */
export interface AudioPackets {
  readonly timeBase: TimeBase;
  readonly ptsTicks: number[];
  readonly durationTicks: number[];
  /** How much picture an edit list hides before the first shown one, ms; absent when nothing is hidden. */
  readonly hiddenPictureMs?: number;
}

export interface PacketScan {
  /** In decode order. */
  readonly video: readonly VideoPacket[];
  /** Null when the clip has no sound that can be decoded. */
  readonly audio: AudioPackets | null;
}

export interface ReadPacketsInput {
  readonly inputPath: string;
  readonly info: MediaInfo;
  readonly tools: ToolPaths;
  readonly signal?: AbortSignal;
}

/**
 * Lists the packets of the first video and the first audio stream without decoding anything (0.13 s for a 1080p clip of
 * 15 s).
 * @throws MediaToolError when ffprobe cannot read the file at all.
 */
export async function readPackets(input: ReadPacketsInput): Promise<PacketScan> {
  const { info } = input;
  const args = ['-v', 'error', '-protocol_whitelist', 'file', ...uploadedInputOptions(info.format)];
  args.push('-f', info.format, '-show_entries', 'packet=stream_index,pts,dts,duration,size,pos,flags');
  args.push('-of', 'compact=p=0', `file:${input.inputPath}`);
  const { stdout } = await runTool('list the packets', input.tools.ffprobe, args, { signal: input.signal });
  const scan = toPacketScan(stdout, info);
  return { ...scan, video: await withoutUncoded(input.inputPath, info, scan.video) };
}

/** Parses ffprobe's compact packet list into typed rows; a pure function. */
export function toPacketScan(listing: string, info: MediaInfo): PacketScan {
  const videoIndex = info.video[0]?.index ?? -1;
  const sound = info.audio[0];
  const video: VideoPacket[] = [];
  const ptsTicks: number[] = [];
  const durationTicks: number[] = [];
  for (const line of listing.split('\n')) {
    const fields = toFields(line);
    const index = fields.get('stream_index');
    if (index === undefined) continue;
    if (Number(index) === videoIndex) video.push(toVideoPacket(fields));
    else if (sound && Number(index) === sound.index) {
      const pts = integer(fields.get('pts')) ?? integer(fields.get('dts'));
      if (pts === null) continue;
      ptsTicks.push(pts);
      durationTicks.push(integer(fields.get('duration')) ?? 0);
    }
  }
  const timed = withDisplayTimes(video, info.video[0]?.codec ?? '');
  if (!sound) return { video: timed, audio: null };
  const hiddenPictureMs = hiddenHeadMs(timed, info);
  return { video: timed, audio: { timeBase: sound.timeBase, ptsTicks, durationTicks, hiddenPictureMs } };
}

/** Codecs in which B pictures are shown as they come, and all others when the next one that is no B picture comes. */
const REORDERED_BY_TYPE = new Set(['mpeg4', 'msmpeg4v2', 'mpeg1video', 'mpeg2video']);

/**
 * Adds display times to packets of AVI files, which list pictures in decode order only. In older codecs, ffmpeg's
 * demuxer recognises B pictures by their headers and times them by their place. Each other picture takes the place of
 * the next one that is no B picture (ISO/IEC 14496-2, 7.6.7), as in a decoder.
 */
function withDisplayTimes(video: readonly VideoPacket[], codec: string): readonly VideoPacket[] {
  const untimed = video.filter(({ ptsTicks }) => ptsTicks === null);
  if (untimed.length === 0 || untimed.length === video.length || !REORDERED_BY_TYPE.has(codec)) return video;
  if (video.some(({ dtsTicks }) => dtsTicks === null)) return video;
  const last = video.at(-1)?.dtsTicks ?? 0;
  const step = Math.max(1, last - (video.at(-2)?.dtsTicks ?? last));
  const places = [...untimed.slice(1).map(({ dtsTicks }) => dtsTicks), last + step].values();
  return video.map((packet) =>
    packet.ptsTicks === null ? { ...packet, ptsTicks: places.next().value ?? null } : packet,
  );
}

/** Time from the first coded picture to the first shown one, ms; 0 when none is hidden before it. */
function hiddenHeadMs(video: readonly VideoPacket[], info: MediaInfo): number {
  const timeBase = info.video[0]?.timeBase;
  let firstTicks = Number.POSITIVE_INFINITY;
  let shownTicks = Number.POSITIVE_INFINITY;
  for (const { ptsTicks, shown } of video) {
    if (ptsTicks === null) continue;
    firstTicks = Math.min(firstTicks, ptsTicks);
    if (shown) shownTicks = Math.min(shownTicks, ptsTicks);
  }
  if (!timeBase || !Number.isFinite(shownTicks)) return 0;
  return ticksToMs(shownTicks - firstTicks, timeBase);
}

function toVideoPacket(fields: ReadonlyMap<string, string>): VideoPacket {
  const flags = fields.get('flags') ?? '';
  return {
    ptsTicks: integer(fields.get('pts')),
    dtsTicks: integer(fields.get('dts')),
    durationTicks: integer(fields.get('duration')),
    sizeBytes: integer(fields.get('size')) ?? 0,
    offsetBytes: integer(fields.get('pos')),
    keyframe: flags.includes('K'),
    shown: !flags.includes('D'),
  };
}

function toFields(line: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const part of line.split('|')) {
    const equals = part.indexOf('=');
    if (equals > 0) fields.set(part.slice(0, equals), part.slice(equals + 1));
  }
  return fields;
}

function integer(value: string | undefined): number | null {
  return value !== undefined && /^-?\d+$/.test(value) ? Number(value) : null;
}
