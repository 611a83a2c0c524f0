import { type Ref, useEffect, useImperativeHandle, useRef, useState } from 'react';
import styled from 'styled-components';
import type { ComparisonLayout } from '#common/api/comparison.ts';
import type { Defect, DefectKind } from '#common/report.ts';
import { formatTimecode } from '#common/format.ts';
import { comparisonTexts as texts } from '../../texts/comparison.ts';
import { colour, figures, space, text } from '../../theme.ts';
import { KeyHelp } from '../player/key-help.tsx';
import { type PlayerDeeds, PlayerFrame } from '../player/player-frame.tsx';
import { neighbourSpan } from '../player/player-keys.ts';
import { Timeline } from '../player/timeline.tsx';
import { toggleFullscreen } from '../player/fullscreen.ts';
import { usePlayback } from '../player/use-playback.ts';
import { marksOf } from '../defect-marks.ts';
import type { ThreadMark } from '../thread-strip.tsx';
import { useWidth } from '../use-width.ts';
import { ComparisonControls } from './comparison-controls.tsx';
import { arrange } from './halves.ts';
import { placeNumber, toOriginalMs, toPreviewMs } from './places.ts';
import { Stage, StageFallback } from './stage.tsx';
import { type Side, useChannelSound } from './use-channel-sound.ts';

const Facts = styled.p`
  ${figures}
  display: flex;
  flex-wrap: wrap;
  justify-content: space-between;
  gap: ${space(0, 2)};
  min-height: 1.6em;
  font-size: ${text.s};
  color: ${colour.inkSoft};
`;

export interface ComparisonHandle {
  /**
   * Jumps to a time of the original, ms.
   * @returns false when the comparison does not show it
   */
  seekOriginal(ms: number): boolean;
}

/** Defects whose repair leaves the pictures unchanged. */
const SOUND_KINDS: ReadonlySet<DefectKind> = new Set(['audio_sync', 'wind_noise']);

interface ComparisonPlayerProps {
  readonly title: string;
  readonly src: string;
  readonly layout: ComparisonLayout;
  /** The report's defects, for names and figures of the places. */
  readonly defects: readonly Defect[];
  /** Moves the focus here when it appears. */
  readonly takeFocus?: boolean;
  readonly ref?: Ref<ComparisonHandle>;
}

/** Plays original and repaired clip at the same moment, drawn from one decoder, with keys to jump between places. */
export function ComparisonPlayer({
  title,
  src,
  layout,
  defects,
  takeFocus = false,
  ref,
}: ComparisonPlayerProps) {
  const frame = useRef<HTMLDivElement>(null);
  const { video, state, nowMs, seek, toggle, toggleMute } = usePlayback(layout.durationMs);
  const [view, setView] = useState<'wipe' | 'beside'>('wipe');
  const [wipePercent, setWipePercent] = useState(50);
  const [chosen, setChosen] = useState<Side>('after');
  const [failed, setFailed] = useState(false);
  const [help, setHelp] = useState(false);
  const widthPx = useWidth(frame, 900);

  // In a wipe the sound is that of the larger side; in the middle, of the last choice.
  const seen: Side | null = wipePercent > 50 ? 'before' : wipePercent < 50 ? 'after' : null;
  const heard = view === 'wipe' ? (seen ?? chosen) : chosen;
  const { canSplit, begin } = useChannelSound(video, heard);

  const starts = layout.places.map(({ previewStartMs }) => previewStartMs);
  const first = firstToSee(layout);
  useEffect(() => {
    // Starts at the repaired place; the second before it matters only while playing.
    if (first !== null) seek(first);
  }, [first, seek]);

  useEffect(() => {
    if (takeFocus) frame.current?.focus({ preventScroll: true });
  }, [takeFocus]);

  useImperativeHandle(
    ref,
    () => ({
      seekOriginal(ms) {
        const previewMs = toPreviewMs(ms, layout);
        if (previewMs !== null) seek(previewMs);
        return previewMs !== null;
      },
    }),
    [layout, seek],
  );

  const flip = (): void => {
    const next: Side = heard === 'before' ? 'after' : 'before';
    setChosen(next);
    setWipePercent(next === 'before' ? 100 : 0);
  };
  const toPlace = (direction: 1 | -1): void => {
    const target = neighbourSpan(starts, nowMs(), direction);
    if (target !== null) seek(target);
  };
  const deeds: PlayerDeeds = {
    toggle,
    toggleMute,
    seek,
    nowMs,
    pause: () => video.current?.pause(),
    toSpan: toPlace,
    showHelp: () => setHelp(true),
    compare: flip,
    durationMs: layout.durationMs,
    frameMs: 1000 / layout.frameRate,
  };

  const soundOnly = layout.places.every(({ kind }) => SOUND_KINDS.has(kind));
  const arrangement = arrange(view, widthPx, layout.width / layout.height);
  return (
    <PlayerFrame ref={frame} label={texts.label(title)} deeds={deeds} focusable>
      {failed ? (
        <StageFallback role="alert">{texts.playFailed}</StageFallback>
      ) : (
        <Stage
          video={video}
          src={src}
          width={layout.width}
          height={layout.height}
          arrangement={arrangement}
          wipePercent={wipePercent}
          heard={heard}
          onWipe={setWipePercent}
          onPlay={begin}
          onToggle={toggle}
          onError={() => setFailed(true)}
        />
      )}
      <ComparisonControls
        playing={state.playing}
        muted={state.muted}
        view={view}
        heard={heard}
        hasPrevious={neighbourSpan(starts, state.currentMs, -1) !== null}
        hasNext={neighbourSpan(starts, state.currentMs, 1) !== null}
        onToggle={toggle}
        onMute={toggleMute}
        onView={setView}
        onFlip={flip}
        onPlace={toPlace}
        onFullscreen={() => toggleFullscreen(frame.current)}
        onHelp={() => setHelp(true)}
      />
      <Timeline
        currentMs={state.currentMs}
        durationMs={layout.durationMs}
        marks={placeMarks(layout, defects)}
        onSeek={seek}
      />
      <Facts>
        <span>{texts.at(formatTimecode(toOriginalMs(state.currentMs, layout)))}</span>
        <span>{texts.place(placeNumber(state.currentMs, starts), new Set(starts).size)}</span>
      </Facts>
      {soundOnly && <Facts>{texts.soundOnly}</Facts>}
      {layout.hasSound && !canSplit && <Facts>{texts.noSplit}</Facts>}
      {layout.leftOut > 0 && <Facts>{texts.leftOut(layout.leftOut)}</Facts>}
      <KeyHelp open={help} onOpenChange={setHelp} keys={texts.keys} title={texts.keysTitle} />
    </PlayerFrame>
  );
}

/** The first place where the pictures differ, ms; the very first place if only sounds differ. */
function firstToSee({ places }: ComparisonLayout): number | null {
  const seen = places.filter(({ kind }) => !SOUND_KINDS.has(kind));
  const starts = (seen.length > 0 ? seen : places).map(({ previewStartMs }) => previewStartMs);
  return starts.length > 0 ? Math.min(...starts) : null;
}

/** The report's marks on the time axis of the comparison. */
function placeMarks({ places }: ComparisonLayout, defects: readonly Defect[]): ThreadMark[] {
  const placeOf = new Map(places.map((place) => [place.defectId, place]));
  return marksOf(defects).flatMap((mark) => {
    const place = placeOf.get(mark.id);
    return place ? [{ ...mark, startMs: place.previewStartMs, endMs: place.previewEndMs }] : [];
  });
}
