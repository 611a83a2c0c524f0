import { open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { EACH_PICTURE } from '#server/media/ffmpeg/ffmpeg-names.ts';
import { ONCE, sumOf, type FfmpegPlan } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import { readExactly, writeFully } from '#server/media/mp4/file-bytes.ts';
import { readHashes } from '#server/media/ffmpeg/frame-hashes.ts';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import { pictureTicks } from '#server/media/ffmpeg/showinfo.ts';
import { collectPictures } from '../../rebuild-pictures/rebuild-pictures-decode.ts';
import type { PixelSource } from '../../picture-edit.ts';
import type { BridgePlan, FreshSample } from './smart-render-bridge-plan.ts';
import type { StandInNumbers } from '../smart-render-encode.ts';
import type { EncodedPicture } from '../smart-render-encoder.ts';
import { cropPicture } from '../smart-render-crop.ts';
import { isComplaint } from '../exchange/smart-render-exchange-decode.ts';
import type { Exchange, ExchangeInput } from '../exchange/smart-render-exchange.ts';
import { verbatimBytes, type DamagedSample } from '../exchange/smart-render-exchange-plan.ts';
import { AS_CODED, HASHED, hashClip } from '../smart-render-hashes.ts';
import { samplesOfPart, writeTrialClip, type Part, type ReplacedSamples } from '../smart-render-part.ts';
import { wantedOf, type SeenPictures } from '../smart-render-seen.ts';
import { newClip, oldClip, straysOf } from './smart-render-bridge-strays.ts';
import { verbatimSample } from '../smart-render-verbatim.ts';

export interface BridgeInput extends Omit<ExchangeInput, 'edit' | 'damaged' | 'spent'> {
  /** Encodes raw pictures independently of each other, to replace others. */
  readonly encode: (
    pictures: readonly PixelSource[],
    numbers: readonly StandInNumbers[],
  ) => Promise<{ readonly pictures: readonly EncodedPicture[]; readonly pps: Buffer }>;
}

/** Either the bridge, or the samples that came out differently and must not. */
export interface TriedBridge {
  readonly bridge: Exchange | null;
  readonly strays: readonly number[];
}

/**
 * Puts new pictures into a group and codes verbatim those after them that the rest refers to. Then it decodes the part
 * that the new ones can affect: what stays must decode to exactly the same samples as before, without a complaint.
 * @returns null if it does not
 * @throws MediaToolError when ffmpeg fails or the run is cancelled
 */
export async function makeBridge(input: BridgeInput, plan: BridgePlan): Promise<TriedBridge | null> {
  const { source } = input;
  const coded = new Map<number, EncodedPicture>();
  if (isUnseen(plan)) return { bridge: await withoutTrial(input, plan), strays: [] };
  const kept = await decodeOld(input, plan, async (item, pixels) => {
    const bytes = await verbatimSample(source, item, pixels, input.verbatimPps);
    const offset = input.takeSpool(bytes.length);
    await writeFully(input.spool, bytes, offset);
    coded.set(item.sample, { bytes: { file: input.spool, offset, sizeBytes: bytes.length }, sync: false });
  });
  input.onShare?.(DECODED);
  if (!kept) return null;
  const wanted = plan.fresh.map(({ pixels }, index): PixelSource => {
    return pixels ?? { kind: 'raw', path: kept.path, index: kept.numbers.get(index) ?? 0 };
  });
  const encoded = wanted.length > 0 ? await input.encode(wanted, plan.fresh.map(toNumbers)) : null;
  for (const [index, { sample }] of plan.fresh.entries()) {
    const picture = encoded?.pictures[index];
    if (picture) coded.set(sample, picture);
  }
  input.onShare?.(ENCODED);
  const replaced = { coded, pps: [...(encoded ? [encoded.pps] : []), input.verbatimPps.unit] };
  const after = await decodeNew(input, plan, replaced);
  const shown = inDisplayOrder(input, plan);
  if (!after || after.hashes.length !== shown.length) return null;
  const { hashes, seen } = after;
  const fresh = new Set(plan.fresh.map(({ sample }) => sample));
  const changed = shown.filter((sample, at) => {
    return sample < plan.part.end && !fresh.has(sample) && hashes[at] !== kept.hashes.get(sample);
  });
  const strays = await straysOf(input, plan, changed);
  if (strays.length > 0) return { bridge: null, strays };
  const { spans, endSample } = plan;
  const samples = [...coded.keys()];
  const pps = encoded?.pps ?? null;
  const altered = [...alteredBy(plan), ...changed];
  return {
    bridge: { spans, samples, pictures: [...coded.values()], endSample, pps, altered, seen },
    strays,
  };
}

/** Progress of a bridge when its part is decoded, and when the new pictures are encoded. */
const DECODED = 0.45;
const ENCODED = 0.55;

/** Whether no picture refers to the new ones, so that no other can change. */
const isUnseen = ({ fresh, verbatim }: BridgePlan): boolean =>
  verbatim.length === 0 && fresh.every(({ head, pixels }) => head.refIdc === 0 && pixels !== null);

async function withoutTrial(input: BridgeInput, { spans, fresh, endSample }: BridgePlan): Promise<Exchange> {
  const wanted = fresh.flatMap(({ pixels }) => pixels ?? []);
  const { pictures, pps } = await input.encode(wanted, fresh.map(toNumbers));
  const samples = fresh.map(({ sample }) => sample);
  return { spans, samples, pictures, endSample, pps, altered: samples, seen: null };
}

const toNumbers = ({ head }: FreshSample): StandInNumbers => ({
  frameNum: head.frameNum,
  pocLsb: head.pocLsb,
  ...(head.refIdc > 0 && { reference: { refIdc: head.refIdc, marking: head.marking } }),
});

/** Samples of the trial in display order. */
function inDisplayOrder({ order }: BridgeInput, plan: BridgePlan): number[] {
  return samplesOfPart(trialPart(plan)).sort((a, b) => (order.placeOf[a] ?? 0) - (order.placeOf[b] ?? 0));
}

interface DecodedBefore {
  /** Hash of each picture that came out, by sample. */
  readonly hashes: ReadonlyMap<number, string>;
  /** Raw file of the fresh pictures that stay as decoded, and their numbers by index in `plan.fresh`. */
  readonly path: string;
  readonly numbers: ReadonlyMap<number, number>;
}

/**
 * Decodes a part as it is and passes on the pictures to be coded verbatim. Null if none comes out, or one has no time.
 */
async function decodeOld(
  input: BridgeInput,
  plan: BridgePlan,
  onVerbatim: (item: DamagedSample, pixels: Uint8Array) => Promise<void>,
): Promise<DecodedBefore | null> {
  const { source, workDir, order } = input;
  const clipPath = oldClip(input);
  const rawPath = path.join(workDir, `bridge-kept-${plan.part.from}.raw`);
  const placeAt = await writeTrialClip({ ...input, part: plan.part, replaced: null, outputPath: clipPath });
  const verbatim = new Map(plan.verbatim.map((item) => [item.sample, item]));
  const keptAt = new Map(
    plan.fresh.flatMap(({ sample, pixels }, at) => (pixels === null ? [[sample, at]] : [])),
  );
  const numbers = new Map<number, number>();
  let rawBytes = 0;
  const store = async (sample: number, pixels: Uint8Array): Promise<void> => {
    const item = verbatim.get(sample);
    if (item) await onVerbatim(item, pixels);
    const at = keptAt.get(sample);
    if (at === undefined) return;
    const shown = cropPicture(pixels, source.sps, input.shown);
    numbers.set(at, numbers.size);
    await writeFully(raw, shown, rawBytes);
    rawBytes += shown.length;
  };
  // Pictures that are lost from the file have a time as well, but never come out.
  const origin = source.samples[plan.part.from]?.dts ?? 0;
  const wanted = [...verbatim.keys(), ...keptAt.keys()]
    .map((sample) => ({ ticks: (source.samples[sample]?.pts ?? origin) - origin, sample }))
    .sort((a, b) => a.ticks - b.ticks);
  const raw = await open(rawPath, 'w');
  try {
    const seen = await takePictures(input, clipPath, wanted, store);
    if (!seen || seen.size === 0) return null;
    // For a picture that never comes out, the one before it stays on the screen.
    const missing = wanted.filter(({ ticks }) => !seen.has(ticks));
    const before = missing.map(({ ticks, sample }) => ({
      ticks: lastBefore([...seen.keys()], ticks),
      sample,
    }));
    if (missing.length > 0 && !(await takePictures(input, clipPath, before, store))) return null;
    const hashes = new Map(
      [...seen].map(([ticks, hash]) => [order.samples[placeAt.get(ticks) ?? -1] ?? -1, hash]),
    );
    for (const { ticks, sample } of before) hashes.set(sample, seen.get(ticks) ?? '');
    return { hashes, path: rawPath, numbers };
  } finally {
    await raw.close();
  }
}

const lastBefore = (times: readonly number[], ticks: number): number =>
  Math.max(times[0] ?? ticks, ...times.filter((time) => time < ticks));

/**
 * Decodes a clip and passes on the pictures at certain times, in display order.
 * @returns hashes of all pictures by their times; null if a picture has no time
 */
async function takePictures(
  input: BridgeInput,
  clipPath: string,
  wanted: readonly { readonly ticks: number; readonly sample: number }[],
  onPicture: (sample: number, pixels: Uint8Array) => Promise<void>,
): Promise<Map<number, string> | null> {
  const hashPath = path.join(input.workDir, 'bridge-old.hashes');
  const times: number[] = [];
  const onStderrLine = (line: string) => {
    const ticks = pictureTicks(line);
    if (typeof ticks === 'number') times.push(ticks);
  };
  // Which pictures these are is only known at the end; until then they wait in a file.
  const waiting = await open(path.join(input.workDir, 'bridge-old.raw'), 'w+');
  const size = verbatimBytes(input.source.sps);
  let count = 0;
  const onStdout = collectPictures(size, async (pixels, index) => {
    await writeFully(waiting, Buffer.from(pixels.buffer, pixels.byteOffset, size), index * size);
    count = index + 1;
  });
  const chosen = [...new Set(wanted.map(({ ticks }) => ticks))];
  try {
    const plan = oldPlan(input, clipPath, hashPath, chosen);
    await runFfmpeg(plan, { ...input, onStderrLine, ...(chosen.length > 0 && { onStdout }) });
    const hashes = readHashes(await readFile(hashPath, 'utf8'));
    if (hashes.length !== times.length) return null;
    const out = times.filter((ticks) => chosen.includes(ticks)).slice(0, count);
    for (const [index, ticks] of out.entries()) {
      const pixels = await readExactly(waiting, index * size, size);
      for (const { sample } of wanted.filter((item) => item.ticks === ticks)) await onPicture(sample, pixels);
    }
    return new Map(times.map((ticks, at) => [ticks, hashes[at] ?? '']));
  } finally {
    await waiting.close();
  }
}

/** Samples whose pictures are new, or were damaged and may be shown differently by another decoder. */
const alteredBy = ({ fresh, verbatim, inSpans }: BridgePlan): Set<number> =>
  new Set([...[...fresh, ...verbatim].map(({ sample }) => sample), ...inSpans]);

/** The part up to the end of the spans. Nothing after its own end can change, but it is compared too. */
function trialPart({ part, inSpans, endSample }: BridgePlan): Part {
  return {
    ...part,
    end: Math.min(endSample, Math.max(part.end, ...[...inSpans].map((sample) => sample + 1))),
  };
}

/** Decodes the part with the new pictures; null if the decoder complains. */
async function decodeNew(
  input: BridgeInput,
  plan: BridgePlan,
  replaced: ReplacedSamples,
): Promise<{ readonly hashes: readonly string[]; readonly seen: SeenPictures } | null> {
  const clipPath = newClip(input);
  const part = trialPart(plan);
  const placeAt = await writeTrialClip({ ...input, part, replaced, outputPath: clipPath });
  let complaints = 0;
  const onLine = (line: string) => {
    if (isComplaint(line)) complaints += 1;
  };
  const label = 'decode the group with its new pictures';
  const altered = alteredBy(plan);
  const smallPath = path.join(input.workDir, `bridge-${Math.min(...altered)}.small`);
  const small = wantedOf(smallPath, altered, placeAt, input.order);
  const { shown } = input;
  const hashes = await hashClip(clipPath, {
    ...input,
    codec: 'h264',
    label,
    onLine,
    small: { ...small, shown },
  });
  return complaints === 0 ? { hashes, seen: small } : null;
}

/** @param taken times of the pictures that go to the pipe, ticks of the clip */
function oldPlan(
  { pixelFormat }: BridgeInput,
  clipPath: string,
  hashPath: string,
  taken: readonly number[],
): FfmpegPlan {
  const chosen = sumOf(taken.map((at) => `eq(pts,${at})`));
  const all = `showinfo=checksum=0,${ONCE}[all]`;
  const some = {
    path: 'pipe:1',
    options: ['-map', '[some]', '-pix_fmt', pixelFormat, ...EACH_PICTURE, '-f', 'rawvideo'],
  };
  return {
    label: 'decode the group of new pictures',
    logLevel: 'repeat+level+info',
    isLogRead: true,
    globalOptions: ['-copyts'],
    inputs: [{ path: clipPath, format: 'mov', options: AS_CODED }],
    filterComplex:
      taken.length === 0
        ? `[0:v:0]${all}`
        : `[0:v:0]split[one][two];[one]${all};[two]select='${chosen}',${ONCE}[some]`,
    outputs: [
      { path: hashPath, options: ['-map', '[all]', '-pix_fmt', pixelFormat, ...HASHED] },
      ...(taken.length === 0 ? [] : [some]),
    ],
    expectedDurationMs: null,
  };
}
