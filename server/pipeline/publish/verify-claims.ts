import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { BY_HAND } from '#common/noticed.ts';
import { isRebuiltIndex, type Defect, type RepairReport } from '#common/report.ts';
import { asMadeFrom, probe, type MediaInfo } from '#server/media/probe/probe.ts';
import { sniffFile } from '#server/media/probe/sniff-container.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { ACT_CONFIDENCE, type Analysis, type Finding } from '../analyse/analysis.ts';
import { analyseVideo } from '../analyse/analyse-video.ts';
import { analyseNoticed } from '../analyse/noticed/analyse-noticed.ts';
import { MediaFailure } from '../media-failure.ts';
import { openOriginal } from '../open/open-original.ts';
import { hashFile } from '../steps/step-store.ts';
import type { MediaLimits } from '../worker-protocol.ts';
import { isNear } from './near-figure.ts';
import { clock } from './build-report.ts';
import { markedClaims } from './verify-marked.ts';
import { hiddenClaim, isOwnStep, isSameDetector, isTrace } from './verify-traces.ts';
import { hashPackets, inCommon, hashPictures, type HashedPacket } from './packet-hashes.ts';

export interface ClaimInput {
  readonly originalPath: string;
  readonly repairedPath: string;
  readonly report: RepairReport;
  readonly tools: ToolPaths;
}

/** One statement of the report, checked against the files. */
export interface Claim {
  readonly claim: string;
  readonly confirmed: boolean;
  readonly detail: string;
}

interface OpenFile {
  readonly path: string;
  readonly info: MediaInfo;
  readonly analysis: Analysis;
}

interface OpenedOriginal extends OpenFile {
  readonly isRebuilt: boolean;
}

/**
 * Checks each claim of a repair report by the two files alone: hashes, carried-over streams, and the detectors run
 * again on both.
 * @throws MediaToolError when a tool cannot run
 */
export async function verifyClaims(input: ClaimInput): Promise<Claim[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'verify-'));
  try {
    return await holdAgainst(input, await openAsRepaired(input, folder));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function holdAgainst(input: ClaimInput, original: OpenedOriginal | null): Promise<Claim[]> {
  const { report, tools } = input;
  const claims = [
    await fileClaim('original', input.originalPath, report.original),
    await fileClaim('result', input.repairedPath, report.result),
  ];
  if (report.outcome === 'unchanged') {
    const same = report.original.sha256 === report.result.sha256;
    claims.push({
      claim: 'the result is the original',
      confirmed: same,
      detail: 'Both hashes are compared.',
    });
    return original === null ? claims : [...claims, ...foundClaims(original, report)];
  }
  // A sound that somebody moved was found by no detector.
  const found = { ...report, defects: report.defects.filter(({ detector }) => detector !== BY_HAND) };
  const said = report.defects.some(({ action }) => isRebuiltIndex(action));
  const result = await tryOpen(input.repairedPath, tools, original?.info);
  if (result === null) {
    return [...claims, { claim: 'the result is a clip', confirmed: false, detail: 'It cannot be read.' }];
  }
  if (original === null) {
    claims.push({ claim: 'the original cannot be read', confirmed: said, detail: 'Its index is damaged.' });
  } else {
    if (original.isRebuilt || said) claims.push(indexClaim(original.isRebuilt, said));
    claims.push(...(await streamClaims(original, result, report, tools)), ...foundClaims(original, found));
    claims.push(...(await markedClaims(original, result, report, tools)));
  }
  return [
    ...claims,
    ...goneClaims(result, found),
    await orderClaim(result, tools),
    countClaim(result, report),
  ];
}

async function fileClaim(
  what: string,
  filePath: string,
  said: { readonly sha256: string; readonly sizeBytes: number },
): Promise<Claim> {
  const { size } = await stat(filePath);
  const sha256 = await hashFile(filePath);
  return {
    claim: `SHA-256 and size of the ${what}`,
    confirmed: sha256 === said.sha256 && size === said.sizeBytes,
    detail: `${sha256.slice(0, 16)}..., ${size} bytes.`,
  };
}

function indexClaim(isRebuilt: boolean, said: boolean): Claim {
  return {
    claim: 'the index of the original had to be rebuilt',
    confirmed: isRebuilt === said,
    detail: isRebuilt ? 'It was, from the file alone.' : 'The file can be read without that.',
  };
}

/** Nothing is encoded here, and whoever checks has enough memory for the clip. */
const NO_LIMITS: MediaLimits = {
  threads: 1,
  preset: 'medium',
  maxEncodePixels: Infinity,
  maxDurationMs: Infinity,
  maxPictures: Infinity,
};

/**
 * The original as the repair reads it: with a rebuilt index, or in MP4. Null if it cannot be opened by itself, because
 * the repair may have used earlier clips of the same device.
 */
async function openAsRepaired(
  { originalPath: inputPath, report, tools }: ClaimInput,
  folder: string,
): Promise<OpenedOriginal | null> {
  const rebuiltPath = path.join(folder, 'original.mp4');
  try {
    const clip = await openOriginal({ inputPath, rebuiltPath, referencePaths: [], tools, limits: NO_LIMITS });
    const places = report.marked?.places ?? [];
    const look = { inputPath: clip.path, info: clip.info, tools };
    const analysis = await (places.length > 0 ? analyseNoticed({ ...look, places }) : analyseVideo(look));
    return { path: clip.path, info: clip.info, analysis, isRebuilt: clip.rebuilt !== null };
  } catch (error) {
    if (error instanceof MediaFailure) return null;
    throw error;
  }
}

/** @param upload what is known of the original */
async function tryOpen(
  filePath: string,
  tools: ToolPaths,
  upload: MediaInfo | undefined,
): Promise<OpenFile | null> {
  const format = await sniffFile(filePath);
  if (format === null) return null;
  const read = await probe(tools, filePath, format).catch(() => null);
  if (!read || read.video.length === 0) return null;
  const info = asMadeFrom(read, upload);
  // A result's own record is no proof.
  const analysis = await analyseVideo({ inputPath: filePath, info, tools, believesFile: false });
  return { path: filePath, info, analysis };
}

async function streamClaims(
  original: OpenFile,
  result: OpenFile,
  report: RepairReport,
  tools: ToolPaths,
): Promise<Claim[]> {
  const claims: Claim[] = [];
  const { video, audio } = report;
  if (video.treatment === 'copied' || video.treatment === 'smart_render') {
    const said = video.unitsKept ?? 0;
    // Kept units are counted in the whole file, because an edit list also hides pictures after the shown ones.
    const resultPackets = await hashPackets({ ...result, tools }, 'v', 'file');
    const originalPackets = await hashPackets({ ...original, tools }, 'v', 'file');
    const coded = inCommon(originalPackets, resultPackets);
    if (original.info.format === 'mov' || original.info.format === 'matroska') {
      claims.push({
        claim: `${said} coded pictures are the same bytes`,
        confirmed: coded >= said,
        detail: `${coded} have the same SHA-256 in both files.`,
      });
    }
    const shown = inCommon(
      await hashPictures({ ...original, tools }),
      await hashPictures({ ...result, tools }),
    );
    // Coded pictures that an edit list hides are carried over but never shown.
    const hidden = resultPackets.length - (result.analysis.pictures?.ptsTicks.length ?? resultPackets.length);
    // Kept pictures that refer to a damaged one decode differently once that is repaired.
    const isMended = mendedTimes(original, report.defects);
    const keptOf = (times: ReadonlySet<number>) =>
      inCommon(
        originalPackets.filter(({ ptsTicks }) => !times.has(ptsTicks)),
        resultPackets,
      );
    const undamaged = keptOf(isMended);
    const unsure =
      undamaged - keptOf(new Set([...isMended, ...timesBehind(isMended, original, originalPackets)]));
    const missing = Math.min(said, undamaged) - Math.max(0, hidden) - shown;
    claims.push({
      claim: 'untouched pictures decode to the same picture',
      confirmed: missing <= unsure,
      detail:
        `${shown} decoded pictures have the same SHA-256 in both files.` +
        (missing > 0 && missing <= unsure
          ? ` ${missing} more decode otherwise in the original, right behind damage.`
          : ''),
    });
  }
  const soundClaim = await keptSoundClaim(original, result, audio, tools);
  if (soundClaim) claims.push(soundClaim);
  return claims;
}

/** The claim that the coded sound is the original's, entirely or as the report says; null if it says nothing. */
async function keptSoundClaim(
  original: OpenFile,
  result: OpenFile,
  { treatment, unitsKept }: RepairReport['audio'],
  tools: ToolPaths,
): Promise<Claim | null> {
  const { audio, format } = original.info;
  const isCopied = treatment === 'copied' && audio.length > 0 && format === 'mov';
  if (!isCopied && treatment !== 'smart_render') return null;
  const before = await hashPackets({ ...original, tools }, 'a');
  const common = inCommon(before, await hashPackets({ ...result, tools }, 'a'));
  const said = isCopied ? before.length : (unitsKept ?? 0);
  return {
    claim: isCopied ? 'every sound packet is the same bytes' : `${said} sound packets are the same bytes`,
    confirmed: common >= said,
    detail: `${common} of ${before.length} have the same SHA-256 in both files.`,
  };
}

/** Times of the pictures inside repaired damaged stretches, ticks of the original's video. */
function mendedTimes({ analysis }: OpenFile, defects: readonly Defect[]): Set<number> {
  const mended = defects.flatMap(({ kind, outcome, firstFrame, lastFrame }) => {
    if (kind !== 'corrupted_section' || outcome !== 'repaired') return [];
    if (firstFrame === null || lastFrame === null) return [];
    return analysis.pictures?.ptsTicks.slice(firstFrame, lastFrame + 1) ?? [];
  });
  return new Set(mended);
}

/**
 * Times of the pictures that are decoded right after repaired ones. The decoder's remains of a picture that broke off
 * spoil them, although they do not refer to it. ffmpeg's H.264 decoder does so with variable-length codes: an I picture
 * after damage had 51.7 dB, a B picture too. They extend to the second key picture after each.
 */
function timesBehind(
  mended: ReadonlySet<number>,
  { analysis }: OpenFile,
  packets: readonly HashedPacket[],
): number[] {
  const { pictures } = analysis;
  const keyTimes = new Set(pictures?.ptsTicks.filter((_, frame) => pictures.keyframe[frame]));
  const behind: number[] = [];
  let keys = 2;
  for (const { ptsTicks } of packets) {
    if (mended.has(ptsTicks)) keys = 0;
    else if (keyTimes.has(ptsTicks)) keys += 1;
    if (keys < 2 && !mended.has(ptsTicks)) behind.push(ptsTicks);
  }
  return behind;
}

/** Claims that each defect of the report is found again in the original, at its place and with its value. */
function foundClaims(original: OpenFile, report: RepairReport): Claim[] {
  return report.defects
    .filter(({ action }) => !isRebuiltIndex(action))
    .map((defect) => {
      if (defect.foundIn === 'result') return hiddenClaim(defect, report.defects);
      const again = original.analysis.findings.find((finding) => isSame(finding, defect));
      const value = again?.measure.value ?? null;
      const said = defect.measure.before;
      return {
        claim: `${defect.kind} at ${clock(defect.startMs)} in the original`,
        confirmed: value !== null && said !== null && isNear(value, { ...defect.measure, before: said }),
        detail: again
          ? `${again.measure.name}: ${value} ${again.measure.unit}, the report says ${said}.`
          : 'The detector does not find it.',
      };
    });
}

function isSame(finding: Finding, defect: Defect): boolean {
  if (finding.kind !== defect.kind) return false;
  if (finding.firstFrame !== null && defect.firstFrame !== null) {
    return finding.firstFrame === defect.firstFrame && finding.lastFrame === defect.lastFrame;
  }
  return finding.startMs <= defect.endMs && finding.endMs >= defect.startMs;
}

const REPAIRABLE = ['stuttered_cut', 'dropped_frames', 'corrupted_section', 'audio_sync'] as const;

/** Claims that the result shows, of each kind, no more than the report says was left alone. */
function goneClaims(result: OpenFile, report: RepairReport): Claim[] {
  return REPAIRABLE.flatMap((kind) => {
    const mine = report.defects.filter((defect) => defect.kind === kind);
    if (mine.every(({ outcome }) => outcome !== 'repaired')) return [];
    const left = mine.filter(({ outcome }) => outcome === 'left_alone').length;
    const seen = result.analysis.findings.filter((finding) => {
      return (
        finding.kind === kind &&
        finding.confidence >= ACT_CONFIDENCE &&
        mine.some((defect) => isSameDetector(defect, finding)) &&
        !isTrace(finding, report.defects) &&
        !isOwnStep(finding, report.defects)
      );
    });
    const places = seen.map((finding) => clock(finding.startMs)).join(', ');
    return [
      {
        claim: `${mine.length - left} of ${mine.length} ${kind} gone from the result`,
        confirmed: seen.length <= left,
        detail: seen.length === 0 ? 'The detector finds none.' : `The detector still finds: ${places}.`,
      },
    ];
  });
}

async function orderClaim(result: OpenFile, tools: ToolPaths): Promise<Claim> {
  const packets = await hashPackets({ ...result, tools }, 'v');
  const falls = packets.filter((packet, index) => {
    const previous = packets[index - 1];
    return previous !== undefined && packet.dtsTicks <= previous.dtsTicks;
  }).length;
  return {
    claim: 'decode times rise',
    confirmed: falls === 0,
    detail: `${falls} of ${packets.length} do not.`,
  };
}

function countClaim(result: OpenFile, report: RepairReport): Claim {
  const seen = result.analysis.pictures?.ptsTicks.length ?? 0;
  const said = report.result.media.frameCount;
  return { claim: `${said} pictures in the result`, confirmed: seen === said, detail: `${seen} counted.` };
}
