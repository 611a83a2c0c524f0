import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { readAacConfig } from '#server/media/aac/aac-config.ts';
import { type AacFrameReader, createAacFrameReader } from '#server/media/aac/aac-frame.ts';
import { readGains } from '#server/media/aac/aac-gain.ts';
import { readExactly } from '#server/media/mp4/file-bytes.ts';
import { mean } from '#server/media/signal/signal.ts';
import type { Piece } from './rebuild-index-sound-types.ts';

/** What a frame of AAC tells about its neighbours in the same track. */
export interface FrameLook {
  /** Gain of each channel, steps of 1.5 dB. */
  readonly gains: readonly number[];
  readonly beginsLong: boolean;
  readonly endsLong: boolean;
  /** Equal for equal bytes. */
  readonly digest: string;
}

/** Most sounds of a clip; recorders of screens and games write up to six (microphone, game, music, chat...). */
const MOST_SOUNDS = 6;
/** Fewer frames may look like several sounds by chance. */
const FEWEST_FRAMES = 40;
/** One track never joins windows of different kinds; a damaged frame may. */
const FEWEST_BROKEN = 3;
/** Of the joins that are broken in one track, at most this share may be broken in several. */
const MOST_LEFT = 0.1;
/**
 * Gains of several sounds change from frame to frame by at most this share of what they would in one track. Measured
 * over 38 tracks of cameras, phones and editors, frame by frame: one track read as two gives 1.05 and more; of 442 pairs
 * that were put between each other, all but one gave at most 0.80, and that one was told by its windows.
 */
const MOST_CHANGE = 0.85;
/**
 * Frames that are nearer to the one before in their own sound must outnumber the others by so many standard deviations of
 * chance.
 */
const CERTAIN = 3;
/**
 * Gains of sounds that have much in common change by at most this share within a moment of what they do from one to the
 * next; one track read as two gave 0.66 and more.
 */
const MOST_APART = 0.5;
/** Several sounds of which one was recorded twice: so many moments with equal frames, ... */
const FEWEST_EQUAL = 8;
/** ...and at most this share of that across two moments. */
const MOST_EQUAL_BETWEEN = 0.1;

/**
 * Tells the frames of several sounds apart that writers have put between each other. Frames of AAC name no track, but
 * two that follow each other in one have windows that fit (ISO/IEC 14496-3, 4.6.11.3.2) and gains that are near.
 * @param stretches of the file in which the frames lie, in file order
 * @param frames in file order
 * @param entry sample description of the sound
 * @returns the frames of each sound; one list where nothing tells several
 */
export async function partSounds(
  file: FileHandle,
  stretches: readonly Piece[],
  frames: readonly Piece[],
  entry: Buffer,
  signal?: AbortSignal,
): Promise<Piece[][]> {
  const config = readAacConfig(entry);
  const reader = config && createAacFrameReader(config, 'any');
  if (!reader || frames.length < FEWEST_FRAMES) return [[...frames]];
  const looks: FrameLook[] = [];
  for (const { offset, sizeBytes } of frames) {
    signal?.throwIfAborted();
    const look = lookOf(await readExactly(file, offset, sizeBytes), reader);
    if (!look) return [[...frames]];
    looks.push(look);
  }
  const parts = tellSounds(looks, lengthsOf(stretches, frames));
  return parts.map((part) => part.flatMap((index) => frames[index] ?? []));
}

function lookOf(bytes: Buffer, reader: AacFrameReader): FrameLook | null {
  const frame = reader.read(bytes);
  if (!frame) return null;
  const { beginsLong, endsLong } = frame;
  const digest = createHash('sha1').update(bytes).digest('base64');
  return { gains: readGains(frame), beginsLong, endsLong, digest };
}

/** Number of frames in each stretch that holds any. */
function lengthsOf(stretches: readonly Piece[], frames: readonly Piece[]): number[] {
  const lengths: number[] = [];
  let at = 0;
  for (const { offset, sizeBytes } of stretches) {
    const from = at;
    while (at < frames.length && (frames[at]?.offset ?? Infinity) < offset + sizeBytes) at += 1;
    if (at > from) lengths.push(at - from);
  }
  return lengths;
}

/**
 * Finds out which frames belong to the same sound. Writers store the sounds of a moment next to each other: frame by
 * frame, or as a piece of each between two pieces of the picture.
 * @param lengths number of frames in each stretch between pictures, in file order
 * @returns indices of the frames of each sound; one list where nothing tells several
 */
export function tellSounds(looks: readonly FrameLook[], lengths: readonly number[]): number[][] {
  const all = looks.map((_, index) => index);
  const steps = looks.slice(1).map((look, at) => changeBetween(looks[at] ?? look, look));
  const rare = rareDigests(looks);
  const tried: Trial[] = [];
  for (let count = 2; count <= MOST_SOUNDS; count += 1) {
    const byFrames = Array.from({ length: count }, (_, part) =>
      all.filter((index) => index % count === part),
    );
    tried.push(tryParts(looks, byFrames, rare, isNear(steps, count)));
    const byPieces = partPieces(lengths, count);
    if (byPieces) tried.push(tryParts(looks, byPieces, rare, false));
  }
  tried.sort((a, b) => a.broken - b.broken || b.equal - a.equal || a.share - b.share);
  const [best] = tried;
  return best?.isTold ? best.parts : [all];
}

interface Trial {
  readonly parts: number[][];
  /** Whether the frames tell that there are these sounds. */
  readonly isTold: boolean;
  /** Number of joins whose windows do not fit. */
  readonly broken: number;
  /** Number of equal frames that two sounds have at the same time. */
  readonly equal: number;
  /** Changes of gains in these sounds, as a share of those in one. */
  readonly share: number;
}

function tryParts(
  looks: readonly FrameLook[],
  parts: number[][],
  rare: ReadonlySet<string>,
  isTold: boolean,
): Trial {
  const joins = compareJoins(looks, parts);
  const equal = countEqual(looks, parts, rare);
  const { several, one } = joins;
  return {
    parts,
    isTold: isTold || equal > 0 || isSmoother(joins),
    broken: several.broken,
    equal,
    share: several.change / (one.change || 1),
  };
}

/** Each stretch in equal pieces, one of each sound; null where some cannot be parted so. */
function partPieces(lengths: readonly number[], count: number): number[][] | null {
  const parts: number[][] = Array.from({ length: count }, () => []);
  let at = 0;
  for (const length of lengths) {
    if (length % count !== 0) return null;
    for (const part of parts) for (let left = length / count; left > 0; left -= 1) part.push(at++);
  }
  return parts;
}

/** How well frames follow one another. */
interface Joins {
  /** Number of joins whose windows do not fit. */
  readonly broken: number;
  /** Sum of the changes of gains from one frame to the next, steps. */
  readonly change: number;
}

/** Joins that there are only if the sounds are parted like this, and those in their place if there is one sound. */
interface Comparison {
  readonly several: Joins;
  readonly one: Joins;
  /** Number of frames that are nearer to the one before in their own sound, less those that are not. */
  readonly wins: number;
  readonly decided: number;
}

function compareJoins(looks: readonly FrameLook[], parts: readonly (readonly number[])[]): Comparison {
  const several = { broken: 0, change: 0 };
  const one = { broken: 0, change: 0 };
  let [wins, decided] = [0, 0];
  for (const part of parts) {
    for (const [place, index] of part.entries()) {
      const look = looks[index];
      const before = looks[part[place - 1] ?? -1];
      const beside = looks[index - 1];
      if (!look || !before || !beside || before === beside) continue;
      const [change, other] = [changeBetween(before, look), changeBetween(beside, look)];
      several.change += change;
      one.change += other;
      if (before.endsLong !== look.beginsLong) several.broken += 1;
      if (beside.endsLong !== look.beginsLong) one.broken += 1;
      wins += Math.sign(other - change);
      if (other !== change) decided += 1;
    }
  }
  return { several, one, wins, decided };
}

const changeBetween = (one: FrameLook, other: FrameLook) =>
  one.gains.reduce((sum, gain, channel) => sum + Math.abs(gain - (other.gains[channel] ?? 0)), 0);

/** Whether frames follow one another better in several sounds than in one. */
function isSmoother({ several, one, wins, decided }: Comparison): boolean {
  if (one.broken >= FEWEST_BROKEN && several.broken <= MOST_LEFT * one.broken) return true;
  const isCertain = decided > 0 && wins >= CERTAIN * Math.sqrt(decided);
  return isCertain && several.broken <= one.broken && several.change <= MOST_CHANGE * one.change;
}

/** What few frames hold; those of silence recur at all times. */
function rareDigests(looks: readonly FrameLook[]): ReadonlySet<string> {
  const counts = new Map<string, number>();
  for (const { digest } of looks) counts.set(digest, (counts.get(digest) ?? 0) + 1);
  return new Set([...counts].flatMap(([digest, count]) => (count <= MOST_SOUNDS ? [digest] : [])));
}

/**
 * How often the first two sounds hold the same bytes, as that of a program to which no microphone was mixed; 0 where
 * that is by chance.
 */
function countEqual(
  looks: readonly FrameLook[],
  [first, second]: readonly (readonly number[])[],
  rare: ReadonlySet<string>,
): number {
  if (!first || !second) return 0;
  const digestAt = (index: number | undefined) => looks[index ?? -1]?.digest;
  let [equal, between] = [0, 0];
  for (const [place, index] of first.entries()) {
    const twin = digestAt(second[place]);
    if (twin === undefined || !rare.has(twin)) continue;
    if (digestAt(index) === twin) equal += 1;
    if (digestAt(first[place + 1]) === twin) between += 1;
  }
  return equal >= FEWEST_EQUAL && between <= MOST_EQUAL_BETWEEN * equal ? equal : 0;
}

/**
 * Whether the frames of one moment are nearer to each other than the last of it is to the first of the next.
 * @param steps changes from each frame to the next
 */
function isNear(steps: readonly number[], count: number): boolean {
  const isBetween = (at: number) => (at + 1) % count === 0;
  const within = steps.filter((_, at) => !isBetween(at));
  const between = steps.filter((_, at) => isBetween(at));
  if (between.length < FEWEST_FRAMES) return false;
  return mean(between) > 0 && mean(within) <= MOST_APART * mean(between);
}
