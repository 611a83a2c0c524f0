import type { CodingPps, CodingSps } from '#server/media/hevc/hevc-coding-sets.ts';

/** Parameter set for pictures of 320 x 192 as a plain encoder codes them, without reference picture sets. */
export const PLAIN_SPS: CodingSps = {
  id: 0,
  width: 320,
  height: 192,
  bitDepthLuma: 8,
  bitDepthChroma: 8,
  pocBits: 8,
  minCbLog2: 3,
  ctbLog2: 5,
  minTbLog2: 2,
  maxTbLog2: 5,
  interDepth: 0,
  intraDepth: 0,
  amp: false,
  sao: false,
  pcm: null,
  shortTermSets: [],
  longTerm: null,
  temporalMotion: true,
  scalingLists: null,
  strongSmoothing: false,
};

export const PLAIN_PPS: CodingPps = {
  id: 0,
  spsId: 0,
  dependentSlices: false,
  outputFlag: false,
  extraHeaderBits: 0,
  signHiding: true,
  cabacInit: false,
  activeReferences: [1, 1],
  initQp: 26,
  transformSkip: false,
  qpDeltaDepth: 1,
  chromaQpOffsets: false,
  weightedPred: false,
  weightedBipred: false,
  transquantBypass: false,
  tiles: null,
  wavefronts: false,
  loopFilterAcross: true,
  deblockingOverride: false,
  deblockingOff: false,
  listModification: false,
  headerExtension: false,
};

/** Slice data that needs emulation prevention. */
export const PREVENTED_DATA = Buffer.from([0, 0, 1, 7, 0, 0, 0, 0x80]);
