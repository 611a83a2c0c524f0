import type { FixId } from '#common/fixes.ts';
import type { Platform } from '#common/platform-check.ts';
import type { VideoStreamInfo } from '#server/media/probe/probe.ts';
import type { Finding } from '../../analyse/analysis.ts';
import { isFullRange, isHdr } from '../full-encode/full-encode-pictures.ts';
import { figure, impossible, unchanged, type ClipFacts, type Skip } from './clip-facts.ts';
import { castPercent } from './measure-light.ts';
import { lightFilters, planLight, type LightSetting } from './plan-light.ts';
import { keepsLimits } from './platform-plan.ts';
import { sharpenFilter } from './sharpen-filter.ts';
import { isLevelled, LOUDNESS_TARGET } from './voice-chain.ts';

/** A change of the pictures; all of one request are encoded in one go, in `VISUAL_ORDER`. */
export type VisualStep =
  | {
      readonly kind: 'visual';
      readonly fix: 'color-correct';
      readonly hdr: true;
      readonly filters: readonly string[];
    }
  | {
      readonly kind: 'visual';
      readonly fix: 'color-correct';
      readonly hdr: false;
      readonly setting: LightSetting;
      readonly filters: readonly string[];
    }
  | { readonly kind: 'visual'; readonly fix: 'stabilize'; readonly looks: boolean }
  | { readonly kind: 'visual'; readonly fix: 'sharpen'; readonly filters: readonly string[] };

export type FixStep =
  | Skip
  | VisualStep
  | { readonly kind: 'repair-sound'; readonly findings: readonly Finding[] }
  | { readonly kind: 'voice' }
  | { readonly kind: 'export'; readonly platform: Platform };

export type FixBuilder = (facts: ClipFacts, chosen: ReadonlySet<FixId>) => FixStep;

/** Colours come first, because what follows works in eight bits; sharpening comes last. */
export const VISUAL_ORDER = ['color-correct', 'stabilize', 'sharpen'] as const;

/** Camera motion below this is steady: a quarter of what the detector calls shaky. */
export const STEADY = 0.00125;

const NO_SOUND = 'This clip has no sound, so there is nothing to change.';

const NOTHING_APART = 'Nothing shows clearly how far sound and picture are apart, so nothing was moved.';

/** The nine fixes: from the facts of a clip to what will be done; pure. */
export const FIX_BUILDERS: Readonly<Record<FixId, FixBuilder>> = {
  'wind-noise': (facts) =>
    repairSound(facts, 'wind_noise', 'No wind was heard in this clip, so its sound was left as it is.'),
  'audio-sync': (facts) => repairSound(facts, 'audio_sync', [NOTHING_APART, ...facts.syncNotes].join(' ')),
  'voice-enhance': (facts) => {
    const { loudness } = facts;
    if (facts.info.audio.length === 0 || !loudness) return unchanged(NO_SOUND);
    if (loudness.lufs === null || loudness.lufs < LOUDNESS_TARGET.silentLufs)
      return unchanged('The sound of this clip is next to silent, so there is no voice to enhance.');
    if (isLevelled(loudness)) {
      const figures = [figure('loudness', 'LUFS', loudness.lufs, null)];
      return unchanged('The voice already has the right loudness, so it was left as it is.', figures);
    }
    return { kind: 'voice' };
  },
  stabilize: buildStabilize,
  'color-correct': buildColour,
  sharpen: (facts) => {
    const obstacle = pictureObstacle(facts);
    if (obstacle) return obstacle;
    const filter = sharpenFilter(facts.filters);
    if (filter === null) return impossible(missing('cas or unsharp', 'sharpen'));
    return { kind: 'visual', fix: 'sharpen', filters: [filter] };
  },
  'tiktok-optimize': (facts) => buildExport(facts, 'tiktok'),
  'instagram-optimize': (facts) => buildExport(facts, 'instagram'),
  'youtube-optimize': (facts) => buildExport(facts, 'youtube'),
};

function repairSound(facts: ClipFacts, kind: 'wind_noise' | 'audio_sync', nothing: string): FixStep {
  if (facts.info.audio.length === 0) return unchanged(NO_SOUND);
  const findings = facts.sound.filter((finding) => finding.kind === kind);
  return findings.length === 0 ? unchanged(nothing) : { kind: 'repair-sound', findings };
}

function buildStabilize(facts: ClipFacts, chosen: ReadonlySet<FixId>): FixStep {
  const { shake, filters, stream } = facts;
  const obstacle = pictureObstacle(facts);
  if (obstacle) return obstacle;
  const looks = filters.has('vidstabdetect') && filters.has('vidstabtransform');
  if (!looks && !filters.has('deshake')) return impossible(missing('vidstab or deshake', 'stabilize'));
  if (shake === null || shake < STEADY) {
    return unchanged('No shake of the camera was measured in this clip, so nothing was changed.', [
      shakeFigure(shake, null),
    ]);
  }
  if (isHdr(stream) && !chosen.has('color-correct')) {
    return impossible(
      'This clip has high dynamic range, which the stabilizer would lose. Choose Color Correction with it.',
    );
  }
  return { kind: 'visual', fix: 'stabilize', looks };
}

function buildColour(facts: ClipFacts): FixStep {
  const { light, filters, stream } = facts;
  const obstacle = pictureObstacle(facts);
  if (obstacle) return obstacle;
  if (isHdr(stream)) {
    if (!filters.has('zscale') || !filters.has('tonemap'))
      return impossible(missing('zscale and tonemap', 'convert high dynamic range'));
    return { kind: 'visual', fix: 'color-correct', hdr: true, filters: toneMapFilters(stream) };
  }
  const setting = light && planLight(light);
  if (!light || !setting) {
    const figures = light
      ? [
          figure('middle brightness', 'of 255', light.middle, null),
          figure('colour cast', '%', castPercent(light), null),
        ]
      : [];
    return unchanged('Light and colours are balanced, so nothing was changed.', figures);
  }
  const { matrix, range } = codedColours(stream);
  return {
    kind: 'visual',
    fix: 'color-correct',
    hdr: false,
    setting,
    filters: lightFilters(setting, matrix, range),
  };
}

function buildExport(facts: ClipFacts, platform: Platform): FixStep {
  const made = { kind: 'export', platform } as const;
  // Copying pictures needs no encoder memory.
  return keepsLimits(facts.info, facts.stream, platform) ? made : (pictureObstacle(facts) ?? made);
}

/** What prevents encoding pictures on this server; null if nothing does. */
function pictureObstacle({ stream, limits, filters }: ClipFacts): Skip | null {
  if (!filters.has('scale')) return impossible(missing('scale', 'change pictures'));
  if (stream.width * stream.height <= limits.maxEncodePixels) return null;
  return impossible(
    `Pictures of ${stream.width} x ${stream.height} need more memory than this server may have, so nothing was changed.`,
  );
}

function missing(what: string, deed: string): string {
  return `The ffmpeg of this server cannot ${deed}: it comes without ${what}. Nothing was changed.`;
}

export function shakeFigure(before: number | null, after: number | null) {
  const percent = (share: number | null) => (share === null ? null : share * 100);
  const rounded = (share: number | null) =>
    share === null ? null : Math.round((percent(share) ?? 0) * 100) / 100;
  return { name: 'shake', unit: '% of the width', before: rounded(before), after: rounded(after) };
}

/** Matrix and range as the stream states them, else as players assume: high definition is BT.709. */
export function codedColours(stream: VideoStreamInfo): { matrix: string; range: 'tv' | 'pc' } {
  const { colorSpace: said } = stream;
  const isSd = said === 'smpte170m' || said === 'bt470bg' || said === 'fcc';
  const known = said !== null && said !== 'unknown' && said !== 'reserved';
  const small = Math.min(stream.width, stream.height) < 720;
  return { matrix: isSd || (!known && small) ? 'bt601' : 'bt709', range: isFullRange(stream) ? 'pc' : 'tv' };
}

/** Peak of the light that becomes white, cd/m2. Reference white of HDR is 203; highlights above it are rolled off. */
const NOMINAL_PEAK = 203;

/**
 * Converts high dynamic range to BT.709. The input is stated explicitly, because clips of phones lack some tags, and a
 * guess would make them washed out. Highlights are rolled off, not clipped (Hable's curve).
 */
function toneMapFilters({ colorTransfer, colorRange }: VideoStreamInfo): string[] {
  const range = colorRange === 'pc' ? 'full' : 'limited';
  const said = `tin=${colorTransfer ?? 'smpte2084'}:min=2020_ncl:pin=2020:rin=${range}`;
  return [
    `zscale=${said}:t=linear:npl=${NOMINAL_PEAK}`,
    'format=gbrpf32le',
    'zscale=p=709',
    'tonemap=tonemap=hable:desat=0',
    'zscale=t=709:m=709:p=709:r=limited',
    'format=yuv420p',
  ];
}
