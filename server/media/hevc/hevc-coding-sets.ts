import { type BitReader, createBitReader } from '../h264/bits.ts';
import { toRbsp } from '../h264/nal.ts';
import { HevcError, HevcUnsupportedError } from './hevc-error.ts';
import { HEVC_NAL, hevcNalType } from './hevc-nal.ts';
import { readShortTermSet, type ShortTermReference } from './hevc-reference-set.ts';
import { limited, readProfileTierLevel, skipScalingLists } from './hevc-sps.ts';

/** A long-term reference that slices may name by its number in the set. */
export interface LongTermCandidate {
  readonly pocLsb: number;
  /** Whether the picture itself refers to it, or only later ones. */
  readonly used: boolean;
}

/**
 * The fields of a sequence parameter set (ITU-T H.265, 7.3.2.2) that determine how slices are coded; sizes as exponents
 * of 2.
 */
export interface CodingSps {
  readonly id: number;
  /** Luma samples, before cropping. */
  readonly width: number;
  readonly height: number;
  readonly bitDepthLuma: number;
  readonly bitDepthChroma: number;
  readonly pocBits: number;
  readonly minCbLog2: number;
  readonly ctbLog2: number;
  readonly minTbLog2: number;
  readonly maxTbLog2: number;
  readonly interDepth: number;
  readonly intraDepth: number;
  readonly amp: boolean;
  readonly sao: boolean;
  readonly pcm: {
    readonly lumaBits: number;
    readonly chromaBits: number;
    readonly minLog2: number;
    readonly maxLog2: number;
  } | null;
  readonly shortTermSets: readonly (readonly ShortTermReference[])[];
  /** Null without long-term references; else the candidates that the set names. */
  readonly longTerm: readonly LongTermCandidate[] | null;
  readonly temporalMotion: boolean;
  /** Lists that scale coefficients: the standard's own or those of the set; null without any. */
  readonly scalingLists: 'standard' | 'own' | null;
  readonly strongSmoothing: boolean;
}

/** The fields of a picture parameter set (7.3.2.3) that determine how slices are coded. */
export interface CodingPps {
  readonly id: number;
  readonly spsId: number;
  readonly dependentSlices: boolean;
  readonly outputFlag: boolean;
  readonly extraHeaderBits: number;
  readonly signHiding: boolean;
  readonly cabacInit: boolean;
  /** num_ref_idx_default_active of both lists. */
  readonly activeReferences: readonly [number, number];
  readonly initQp: number;
  readonly transformSkip: boolean;
  /** diff_cu_qp_delta_depth; null when the quantiser stays the same within a slice. */
  readonly qpDeltaDepth: number | null;
  readonly chromaQpOffsets: boolean;
  readonly weightedPred: boolean;
  readonly weightedBipred: boolean;
  readonly transquantBypass: boolean;
  readonly tiles: {
    readonly columns: number;
    readonly rows: number;
    /** Widths and heights of all tiles except the last ones, in coding tree blocks; null when they are even. */
    readonly sizes: { readonly widths: readonly number[]; readonly heights: readonly number[] } | null;
  } | null;
  readonly wavefronts: boolean;
  readonly loopFilterAcross: boolean;
  readonly deblockingOverride: boolean;
  readonly deblockingOff: boolean;
  readonly listModification: boolean;
  readonly headerExtension: boolean;
}

/** general_profile_idc of Main, Main 10 and Main Still Picture, none of which has extensions. */
const MOST_PROFILE = 3;

/** Size of the pictures in coding tree blocks. */
export function sizeInBlocks({ width, height, ctbLog2 }: CodingSps): {
  readonly columns: number;
  readonly rows: number;
} {
  const blocks = (length: number) => Math.ceil(length / 2 ** ctbLog2);
  return { columns: blocks(width), rows: blocks(height) };
}

/**
 * Parses a sequence parameter set NAL unit of the base layer.
 * @throws HevcUnsupportedError for other profiles than Main and Main 10, and other formats than 4:2:0
 * @throws HevcError or H264Error when it is cut off or holds impossible numbers
 */
export function parseCodingSps(unit: Buffer): CodingSps {
  const reader = createBitReader(toRbsp(unit));
  reader.bits(20);
  const subLayers = reader.bits(3) + 1;
  reader.flag();
  const { profile } = readProfileTierLevel(reader, subLayers);
  if (profile === 0 || profile > MOST_PROFILE)
    throw new HevcUnsupportedError('The profile is not supported.');
  const id = limited(reader.ue(), 15);
  if (reader.ue() !== 1) throw new HevcUnsupportedError('The chroma format is not supported.');
  const width = limited(reader.ue(), 16_384);
  const height = limited(reader.ue(), 16_384);
  if (reader.flag()) for (let side = 0; side < 4; side++) reader.ue();
  const bitDepthLuma = 8 + limited(reader.ue(), 2);
  const bitDepthChroma = 8 + limited(reader.ue(), 2);
  const pocBits = 4 + limited(reader.ue(), 12);
  for (let layer = reader.flag() ? 0 : subLayers - 1; layer < subLayers; layer++) {
    for (let number = 0; number < 3; number++) reader.ue();
  }
  const minCbLog2 = 3 + limited(reader.ue(), 3);
  const ctbLog2 = minCbLog2 + limited(reader.ue(), 3);
  const minTbLog2 = 2 + limited(reader.ue(), 3);
  const maxTbLog2 = minTbLog2 + limited(reader.ue(), 3);
  if (ctbLog2 > 6 || minTbLog2 >= minCbLog2 || maxTbLog2 > Math.min(ctbLog2, 5)) {
    throw new HevcError('The block sizes of a parameter set are impossible.');
  }
  const interDepth = limited(reader.ue(), 4);
  const intraDepth = limited(reader.ue(), 4);
  const scalingLists = reader.flag() ? (reader.flag() ? 'own' : 'standard') : null;
  if (scalingLists === 'own') skipScalingLists(reader);
  const amp = reader.flag();
  const sao = reader.flag();
  const pcm = reader.flag() ? readPcm(reader) : null;
  const shortTermSets: ShortTermReference[][] = [];
  for (let left = limited(reader.ue(), 64); left > 0; left--) {
    shortTermSets.push(readShortTermSet(reader, shortTermSets, false));
  }
  const longTerm = reader.flag() ? readLongTerm(reader, pocBits) : null;
  const temporalMotion = reader.flag();
  const strongSmoothing = reader.flag();
  return {
    id,
    width,
    height,
    bitDepthLuma,
    bitDepthChroma,
    pocBits,
    minCbLog2,
    ctbLog2,
    minTbLog2,
    maxTbLog2,
    interDepth,
    intraDepth,
    amp,
    sao,
    pcm,
    shortTermSets,
    longTerm,
    temporalMotion,
    scalingLists,
    strongSmoothing,
  };
}

function readPcm(reader: BitReader): CodingSps['pcm'] {
  const lumaBits = 1 + reader.bits(4);
  const chromaBits = 1 + reader.bits(4);
  const minLog2 = 3 + limited(reader.ue(), 2);
  const maxLog2 = minLog2 + limited(reader.ue(), 2);
  reader.flag();
  return { lumaBits, chromaBits, minLog2, maxLog2 };
}

function readLongTerm(reader: BitReader, pocBits: number): LongTermCandidate[] {
  return Array.from({ length: limited(reader.ue(), 32) }, () => {
    const pocLsb = reader.bits(pocBits);
    return { pocLsb, used: reader.flag() };
  });
}

/**
 * Parses a picture parameter set NAL unit of the base layer.
 * @throws HevcUnsupportedError when it holds extensions for ranges or screen content
 * @throws HevcError or H264Error when it is cut off or holds impossible numbers
 */
export function parseCodingPps(unit: Buffer): CodingPps {
  const reader = createBitReader(toRbsp(unit));
  reader.bits(16);
  const id = limited(reader.ue(), 63);
  const spsId = limited(reader.ue(), 15);
  const dependentSlices = reader.flag();
  const outputFlag = reader.flag();
  const extraHeaderBits = reader.bits(3);
  const signHiding = reader.flag();
  const cabacInit = reader.flag();
  const activeReferences = [1 + limited(reader.ue(), 14), 1 + limited(reader.ue(), 14)] as const;
  const initQp = 26 + reader.se();
  reader.flag();
  const transformSkip = reader.flag();
  const qpDeltaDepth = reader.flag() ? limited(reader.ue(), 3) : null;
  reader.se();
  reader.se();
  const chromaQpOffsets = reader.flag();
  const weightedPred = reader.flag();
  const weightedBipred = reader.flag();
  const transquantBypass = reader.flag();
  const hasTiles = reader.flag();
  const wavefronts = reader.flag();
  const tiles = hasTiles ? readTiles(reader) : null;
  const loopFilterAcross = reader.flag();
  const [deblockingOverride, deblockingOff] = reader.flag() ? readDeblocking(reader) : [false, false];
  if (reader.flag()) skipScalingLists(reader);
  const listModification = reader.flag();
  reader.ue();
  const headerExtension = reader.flag();
  if (reader.flag() && (reader.bits(8) & RANGE_OR_SCREEN) !== 0) {
    throw new HevcUnsupportedError('The extensions of a picture parameter set are not supported.');
  }
  return {
    id,
    spsId,
    dependentSlices,
    outputFlag,
    extraHeaderBits,
    signHiding,
    cabacInit,
    activeReferences,
    initQp,
    transformSkip,
    qpDeltaDepth,
    chromaQpOffsets,
    weightedPred,
    weightedBipred,
    transquantBypass,
    tiles,
    wavefronts,
    loopFilterAcross,
    deblockingOverride,
    deblockingOff,
    listModification,
    headerExtension,
  };
}

/** pps_range_extension_flag and pps_scc_extension_flag among the eight flags of extensions. */
const RANGE_OR_SCREEN = 0x90;

function readTiles(reader: BitReader): CodingPps['tiles'] {
  const columns = 1 + limited(reader.ue(), 255);
  const rows = 1 + limited(reader.ue(), 255);
  const isEven = reader.flag();
  const side = (count: number) => Array.from({ length: count - 1 }, () => 1 + limited(reader.ue(), 1023));
  const sizes = isEven ? null : { widths: side(columns), heights: side(rows) };
  reader.flag();
  return { columns, rows, sizes };
}

function readDeblocking(reader: BitReader): [boolean, boolean] {
  const override = reader.flag();
  const isOff = reader.flag();
  if (!isOff) {
    reader.se();
    reader.se();
  }
  return [override, isOff];
}

/**
 * The sets that a slice names, the first of each id.
 * @param parameterSets NAL units
 * @throws HevcError or H264Error where they are missing or one cannot be read
 */
export function codingSetsOf(
  parameterSets: readonly Buffer[],
  ppsId: number,
): { readonly sps: CodingSps; readonly pps: CodingPps } {
  const ofType = (type: number) => parameterSets.filter((unit) => hevcNalType(unit) === type);
  const pps = ofType(HEVC_NAL.pps)
    .map((unit) => parseCodingPps(unit))
    .find(({ id }) => id === ppsId);
  const sps = ofType(HEVC_NAL.sps)
    .map((unit) => parseCodingSps(unit))
    .find(({ id }) => id === pps?.spsId);
  if (!pps || !sps) throw new HevcError('A slice names parameter sets that are not there.');
  return { sps, pps };
}
