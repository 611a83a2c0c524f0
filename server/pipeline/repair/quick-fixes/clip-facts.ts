import type { FixFigure } from '#common/api/quick-fixes.ts';
import type { MediaInfo, VideoStreamInfo } from '#server/media/probe/probe.ts';
import type { Finding } from '../../analyse/analysis.ts';
import type { MediaLimits } from '../../worker-protocol.ts';
import type { LightFigures } from './measure-light.ts';
import type { Loudness } from './measure-loudness.ts';

/** Everything that the fixes are planned from. What no chosen fix needs is not measured and null. */
export interface ClipFacts {
  readonly info: MediaInfo;
  readonly stream: VideoStreamInfo;
  /** Names of the filters that this ffmpeg has. */
  readonly filters: ReadonlySet<string>;
  readonly limits: MediaLimits;
  /** Fast part of the camera motion, share of the picture width; see `shakeOf`. */
  readonly shake: number | null;
  readonly light: LightFigures | null;
  /** Mean step between neighbouring pixels of the full-size picture, percent of its contrast. */
  readonly edges: number | null;
  readonly loudness: Loudness | null;
  /** Findings of the engine's own detectors about the sound that are strong enough to act on. */
  readonly sound: readonly Finding[];
  /** What was measured of sound and picture beside them, in sentences. */
  readonly syncNotes: readonly string[];
}

/** A fix that has nothing to do or cannot be done here, with the reason in one sentence. */
export interface Skip {
  readonly kind: 'skip';
  readonly state: 'unchanged' | 'failed';
  readonly detail: string;
  readonly figures: readonly FixFigure[];
}

export function unchanged(detail: string, figures: readonly FixFigure[] = []): Skip {
  return { kind: 'skip', state: 'unchanged', detail, figures };
}

export function impossible(detail: string): Skip {
  return { kind: 'skip', state: 'failed', detail, figures: [] };
}

/** A value with one decimal, for people to read. */
export function figure(name: string, unit: string, before: number | null, after: number | null): FixFigure {
  const rounded = (value: number | null) => (value === null ? null : Math.round(value * 10) / 10);
  return { name, unit, before: rounded(before), after: rounded(after) };
}
