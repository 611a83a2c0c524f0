import { median } from '#server/media/statistics.ts';
import { ROOM_FOR_ANOTHER } from '#server/media/time-base.ts';
import { PACKET_REFUSED } from '#server/media/ffmpeg/ffmpeg-names.ts';
import type { DecodePass } from '../decode/decode-pass.ts';
import type { DamagedFrame } from './check-structure.ts';
import type { PictureIndex } from '../packets/picture-times.ts';
import type { VideoPacket } from '../packets/read-packets.ts';

export type CorruptionEvidence = 'structure' | 'decoder' | 'picture';

/** A stretch of damaged pictures: display-order numbers, both ends included. */
export interface CorruptedSpan {
  readonly first: number;
  readonly last: number;
  readonly evidence: CorruptionEvidence;
  /** Number of pictures of the span that never came out of the decoder. */
  readonly undecoded: number;
  /** Pictures whose own coded data are damaged, ascending; the others refer to them. */
  readonly damagedData: readonly number[];
  /**
   * Damaged pictures of the same group that an edit list hides before the first shown one. Their display numbers are
   * below 0; the last of them is -1.
   */
  readonly hiddenData?: readonly number[];
  /** Only data beside the pictures are damaged: they decode without them. */
  readonly besideOnly?: boolean;
  /** The first complaint, in the words of the check that found it. */
  readonly reason: string;
  readonly confidence: number;
}

export interface CorruptionInput {
  /** Codec name as in ffprobe. */
  readonly codec: string;
  readonly packets: readonly VideoPacket[];
  readonly index: PictureIndex;
  readonly pass: Pick<DecodePass, 'messages' | 'types'>;
  /** Number of pictures that the decoder holds back for reordering (`has_b_frames`). */
  readonly reorderDepth: number;
  /** Damaged pictures found by the structure check, display order. */
  readonly structure: readonly DamagedFrame[];
}

/** A coded picture known to be damaged, by its place in decode order. */
export interface BadPacket {
  readonly packet: number;
  readonly evidence: CorruptionEvidence;
  readonly reason: string;
  /** Only data beside the picture are damaged: no other picture suffers. */
  readonly beside?: boolean;
  /** Its own data are intact, but a reference picture is missing from the file. */
  readonly isWhole?: boolean;
}

/** Decoder names before a message. Containers, scalers and parsers log messages too; those do not count. */
const DECODER =
  /^(h264|hevc|mpeg4|msmpeg4\w*|mpeg1video|mpeg2video|h263|mjpeg|prores|vp8|vp9|av1|libdav1d): (.*)$/;
/** Messages of ffmpeg itself about one packet or picture. */
const isOfPipeline = (text: string) => ABOUT_OUTPUT.test(text) || PACKET_REFUSED.test(text);
/**
 * Complaints about unusual streams that are not damaged, and "missing picture" of a parser that reads ahead: the
 * decoder repeats that when it gets there.
 */
const HARMLESS =
  /missing picture in access unit|reorder buffer|deprecated|SEI type|mmco: unref|number of reference frames|co located POCs|Unsupported|film grain|skipping|VBV|unknown SEI/i;
/** Warnings that do mean damage. */
const DAMAGE = /conceal|corrupt|damaged|error|missing|invalid|truncat/i;

/** The part of a decoder message that reports damage; null when it reports none. */
export function damageReason(message: { level: 'error' | 'warning'; text: string }): string | null {
  const spoken = DECODER.exec(message.text)?.[2];
  const text = spoken ?? (isOfPipeline(message.text) ? message.text : null);
  if (text === null || HARMLESS.test(text)) return null;
  return message.level === 'error' || DAMAGE.test(text) ? text : null;
}

/** A message about the picture that comes out next, not about the one being decoded. */
const ABOUT_OUTPUT = /corrupt decoded frame/;
/**
 * From ffmpeg 8 on, every HEVC picture that depends on a missing one gets that message, however indirectly and even if
 * its own data are intact. The decoder reports damaged data itself.
 */
const MARKS_INHERITED = 'hevc';

/**
 * The coded pictures that the decoder complained about. In the log, a message stands between two output pictures. The
 * picture being decoded at that moment is later in decode order by the reordering delay.
 */
function blamedPackets(input: CorruptionInput): BadPacket[] {
  const { packets, index, reorderDepth } = input;
  const rank = presentationRanks(packets);
  const packetOfFrame = new Map<number, number>();
  index.frameOfPacket.forEach((frame, packet) => {
    if (frame !== null) packetOfFrame.set(frame, packet);
  });
  const undecoded = new Set(index.undecoded);
  const doneAt = (output: number): number => {
    const frame = index.frameOfDecoded[output];
    if (frame === undefined) return output < 0 ? -1 : packets.length - 1;
    const packet = packetOfFrame.get(frame);
    return Math.min(
      packets.length - 1,
      (packet === undefined ? frame : (rank[packet] ?? frame)) + reorderDepth,
    );
  };
  const bad: BadPacket[] = [];
  for (const message of input.pass.messages) {
    const reason = damageReason(message);
    if (reason === null) continue;
    if (ABOUT_OUTPUT.test(reason)) {
      if (input.codec === MARKS_INHERITED) continue;
      const packet = packetOfFrame.get(index.frameOfDecoded[message.picturesOut] ?? -1);
      if (packet !== undefined) bad.push({ packet, evidence: 'decoder', reason });
      continue;
    }
    const from = doneAt(message.picturesOut - 1) + 1;
    const to = Math.max(Math.min(from, packets.length - 1), doneAt(message.picturesOut));
    const range = Array.from({ length: to - Math.min(from, to) + 1 }, (_, k) => Math.min(from, to) + k);
    const lost = range.filter((packet) => undecoded.has(index.frameOfPacket[packet] ?? -1));
    for (const packet of lost.length > 0 ? lost : range) bad.push({ packet, evidence: 'decoder', reason });
  }
  return bad;
}

/**
 * Every coded picture known to be damaged: by the structure check, by the decoder's messages, or because it never came
 * out of the decoder.
 */
export function findBadPackets(input: CorruptionInput): BadPacket[] {
  const packetOfFrame = new Map<number, number>();
  input.index.frameOfPacket.forEach((frame, packet) => {
    if (frame !== null) packetOfFrame.set(frame, packet);
  });
  const hidden = hiddenPackets(input);
  const at = (
    frame: number,
    evidence: CorruptionEvidence,
    reason: string,
    more: Pick<BadPacket, 'beside' | 'isWhole'> = {},
  ): BadPacket[] => {
    const packet = frame < 0 ? hidden.at(frame) : packetOfFrame.get(frame);
    return packet === undefined ? [] : [{ packet, evidence, reason, ...more }];
  };
  return [
    ...input.structure.flatMap(({ frame, reason, ...more }) => at(frame, 'structure', reason, more)),
    ...blamedPackets(input),
    ...input.index.undecoded.flatMap((frame) => at(frame, 'decoder', 'the picture cannot be decoded')),
  ];
}

export interface SpreadInput extends Pick<CorruptionInput, 'index' | 'packets'> {
  /** Packets (decode order) that no other picture refers to: damage stays in them. */
  readonly disposable: ReadonlySet<number>;
  /** Coding type of a packet's picture as the decoder logged it; null when it never came out. */
  readonly typeOf: (packet: number) => string | null;
  /** Packets that each one refers to, where the codec tells; null for a packet whose references are unknown. */
  readonly references?: readonly (readonly number[] | null)[] | null;
  /** Whether decoders complain about a hidden picture whatever depends on it, as for H.264; false when absent. */
  readonly hearsHidden?: boolean;
}

/**
 * Damaged stretches: every damaged coded picture and all that may depend on it. These are all pictures decoded after it
 * up to the next key frame, unless nothing refers to it or their references are known.
 */
export function spreadDamage(bad: readonly BadPacket[], input: SpreadInput): CorruptedSpan[] {
  const { index } = input;
  const damaged = new Map<number, BadPacket>();
  for (const item of bad) {
    for (const packet of item.beside ? [item.packet] : affected(item.packet, input)) {
      const frame = index.frameOfPacket[packet];
      if (frame === null || frame === undefined) continue;
      const known = damaged.get(frame);
      if (!known || (known.beside && !item.beside)) damaged.set(frame, item);
    }
  }
  // A picture whose reference is lost from the file or cannot be decoded has intact data itself.
  const isOwn = ({ packet, reason }: BadPacket) =>
    !MISSES_ANOTHER.test(reason) ||
    !(isLostBefore(input.packets, packet) || isUndecodedBefore(input, packet));
  const own = new Set(bad.filter(isOwn).map(({ packet }) => index.frameOfPacket[packet]));
  const spans = toSpans(damaged, new Set(index.undecoded), (frame) => own.has(frame));
  const hiddenData = hiddenNumbers(bad, input, (packet) => damaged.has(index.frameOfPacket[packet] ?? -1));
  return spans.map((span, at) => (at === 0 && hiddenData.length > 0 ? { ...span, hiddenData } : span));
}

/** ffmpeg's message about an HEVC picture whose reference is missing. */
const MISSES_ANOTHER = /Could not find ref with POC/;
/** How many packets back a lost reference may lie: as many as a decoder can hold. */
const HELD = 16;

/** The first packet that this one may refer to: its key frame, or as far back as a decoder holds pictures. */
function firstHeld(packets: readonly VideoPacket[], packet: number): number {
  const key = packets.findLastIndex(({ keyframe }, at) => keyframe && at <= packet);
  return Math.max(0, key, packet - HELD);
}

/** Whether the decode times between a packet and its key frame have a gap, so that packets are lost there. */
function isLostBefore(packets: readonly VideoPacket[], packet: number): boolean {
  const first = firstHeld(packets, packet);
  const times = packets.slice(first, packet + 1).map(({ dtsTicks }) => dtsTicks);
  const steps = times.slice(1).flatMap((ticks, at) => {
    const before = times[at] ?? null;
    return ticks === null || before === null ? [] : [ticks - before];
  });
  const around = packets.slice(first, packet + HELD).map(({ dtsTicks }) => dtsTicks ?? 0);
  const usual = median(around.slice(1).map((ticks, at) => ticks - (around[at] ?? 0)));
  return usual > 0 && steps.some((step) => step >= ROOM_FOR_ANOTHER * usual);
}

/** Whether a packet between this one and its key frame never came out of the decoder. */
function isUndecodedBefore(
  { index, packets }: Pick<CorruptionInput, 'packets' | 'index'>,
  packet: number,
): boolean {
  return index.frameOfPacket
    .slice(firstHeld(packets, packet), packet)
    .some((frame) => frame !== null && index.undecoded.includes(frame));
}

/** Packets that are hidden before the first shown one, in display order. */
function hiddenPackets({ packets, index }: Pick<CorruptionInput, 'packets' | 'index'>): number[] {
  const ranks = presentationRanks(packets);
  let first = Infinity;
  ranks.forEach((rank, packet) => {
    if (typeof index.frameOfPacket[packet] === 'number') first = Math.min(first, rank);
  });
  const hidden = ranks.flatMap((rank, packet) => (rank < first ? [packet] : []));
  return hidden.sort((a, b) => (ranks[a] ?? 0) - (ranks[b] ?? 0));
}

/** Display numbers (below 0, ascending) of damaged hidden packets on which a damaged shown one depends. */
function hiddenNumbers(
  bad: readonly BadPacket[],
  input: SpreadInput,
  isShown: (packet: number) => boolean,
): number[] {
  const own = new Set(bad.flatMap(({ packet, beside }) => (beside ? [] : [packet])));
  // Where decoders hear it, they complain before they come to the shown pictures of the group.
  const reached = (packet: number) =>
    input.references && !input.hearsHidden
      ? affected(packet, input)
      : Array.from({ length: nextRestart(packet, input) - packet }, (_, at) => packet + at);
  const all = hiddenPackets(input);
  return all.flatMap((packet, at) =>
    own.has(packet) && reached(packet).some(isShown) ? [at - all.length] : [],
  );
}

function affected(packet: number, { packets, disposable, typeOf, references }: SpreadInput): number[] {
  if (disposable.has(packet)) return [packet];
  const hit = new Set([packet]);
  const reach = (place: number) => {
    const named = references?.[place];
    if (!named || named.some((other) => hit.has(other))) hit.add(place);
  };
  const next = nextRestart(packet, { packets, typeOf });
  for (let place = packet + 1; place < next; place += 1) reach(place);
  for (const place of leading(next, packets)) reach(place);
  return [...hit];
}

/** The next packet at which decoding can restart; one past the last if there is none. */
function nextRestart(packet: number, { packets, typeOf }: Pick<SpreadInput, 'packets' | 'typeOf'>): number {
  let next = packet + 1;
  while (next < packets.length && !restarts(packets[next], typeOf(next))) next += 1;
  return next;
}

/**
 * Whether decoding can restart at a packet. Containers also mark recovery points (ITU-T H.264 D.2.8), where a gradual
 * refresh begins. Those pictures are predicted and show old damage for a while.
 */
function restarts(packet: VideoPacket | undefined, type: string | null): boolean {
  return packet?.keyframe === true && (type === null || type === 'I');
}

/**
 * Packets after a key frame that are shown before it. In open groups they also refer to pictures before the key frame.
 */
function leading(key: number, packets: readonly VideoPacket[]): number[] {
  const keyTime = packets[key]?.ptsTicks ?? null;
  const found: number[] = [];
  if (keyTime === null) return found;
  for (let at = key + 1; at < packets.length && (packets[at]?.ptsTicks ?? keyTime) < keyTime; at += 1) {
    found.push(at);
  }
  return found;
}

function toSpans(
  damaged: ReadonlyMap<number, BadPacket>,
  undecoded: ReadonlySet<number>,
  isOwn: (frame: number) => boolean,
): CorruptedSpan[] {
  const spans: CorruptedSpan[] = [];
  for (const [frame, cause] of [...damaged].sort(([a], [b]) => a - b)) {
    const lost = undecoded.has(frame) ? 1 : 0;
    const own = isOwn(frame) ? [frame] : [];
    const open = spans.at(-1);
    const besideOnly = cause.beside === true;
    if (open && open.last === frame - 1 && (open.besideOnly ?? false) === besideOnly) {
      const damagedData = [...open.damagedData, ...own];
      spans[spans.length - 1] = { ...open, last: frame, undecoded: open.undecoded + lost, damagedData };
    } else {
      const { evidence, reason } = cause;
      const span = { first: frame, last: frame, evidence, undecoded: lost, damagedData: own };
      spans.push({ ...span, reason, confidence: 0.95, ...(besideOnly && { besideOnly }) });
    }
  }
  return spans;
}

function presentationRanks(packets: readonly VideoPacket[]): number[] {
  const order = packets
    .map((packet, i) => ({ i, time: packet.ptsTicks ?? packet.dtsTicks ?? i }))
    .sort((a, b) => a.time - b.time || a.i - b.i);
  const ranks = packets.map(() => 0);
  order.forEach(({ i }, rank) => {
    ranks[i] = rank;
  });
  return ranks;
}
