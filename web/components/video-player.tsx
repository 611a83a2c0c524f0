import { type Ref, useEffect, useImperativeHandle, useRef, useState } from 'react';
import styled from 'styled-components';
import { playerTexts } from '../texts/player.ts';
import { radius } from '../theme.ts';
import { Controls } from './player/controls.tsx';
import { toggleFullscreen } from './player/fullscreen.ts';
import { KeyHelp } from './player/key-help.tsx';
import { deviceOf, PlaybackFallback } from './player/playback-fallback.tsx';
import { type PlayerDeeds, PlayerFrame } from './player/player-frame.tsx';
import { neighbourSpan } from './player/player-keys.ts';
import { Timeline } from './player/timeline.tsx';
import { usePlayback } from './player/use-playback.ts';
import type { ThreadMark } from './thread-strip.tsx';

/** Delay from a failed playback to the fallback (specification section 2). */
export const FALLBACK_DELAY_MS = 1000;

const Picture = styled.div<{ $ratio: number }>`
  position: relative;
  width: 100%;
  /* In a scrolling area, that area sets the height that leaves room for the controls. */
  max-height: var(--player-height, 62vh);
  aspect-ratio: ${({ $ratio }) => $ratio};
  border-radius: ${radius.s};
  overflow: hidden;
  background: #05070f;
  video {
    width: 100%;
    height: 100%;
    object-fit: contain;
  }
`;

export interface PlayerHandle {
  /** Jumps to a position on the clip's axis, ms. */
  seek(ms: number): void;
  /** Current position on the same axis, ms. */
  nowMs(): number;
}

interface VideoPlayerProps {
  readonly title: string;
  readonly src: string;
  readonly downloadHref: string;
  readonly downloadName: string;
  readonly poster?: string | undefined;
  readonly captionsSrc?: string | undefined;
  readonly durationMs: number | null;
  readonly width: number | null;
  readonly height: number | null;
  /** Pictures per second, for stepping; 30 when unknown. */
  readonly frameRate?: number | null;
  readonly marks?: readonly ThreadMark[];
  /** Opens the comparison with the original; omitted if there is none. */
  readonly onCompare?: (() => void) | undefined;
  /** Called with the position, ms, a few times a second while playing and at every jump. */
  readonly onTime?: ((ms: number) => void) | undefined;
  readonly ref?: Ref<PlayerHandle>;
}

/** Plays a clip with its defects on the timeline; every control also has a key while the player has the focus. */
export function VideoPlayer({
  title,
  src,
  downloadHref,
  downloadName,
  poster,
  captionsSrc,
  durationMs,
  width,
  height,
  frameRate,
  marks = [],
  onCompare,
  onTime,
  ref,
}: VideoPlayerProps) {
  const frame = useRef<HTMLDivElement>(null);
  const { video, state, nowMs, seek, toggle, toggleMute, setVolume, toggleCaptions } =
    usePlayback(durationMs);
  const [failed, setFailed] = useState(false);
  const [fallback, setFallback] = useState(false);
  const [help, setHelp] = useState(false);
  const [fullscreen, setFullscreen] = useState(false);

  useEffect(() => {
    if (!failed) return;
    const timer = setTimeout(() => setFallback(true), FALLBACK_DELAY_MS);
    return () => clearTimeout(timer);
  }, [failed]);
  useEffect(() => {
    const read = (): void => setFullscreen(document.fullscreenElement === frame.current);
    document.addEventListener('fullscreenchange', read);
    return () => document.removeEventListener('fullscreenchange', read);
  }, []);
  const { currentMs } = state;
  useEffect(() => onTime?.(currentMs), [onTime, currentMs]);
  useImperativeHandle(ref, () => ({ seek, nowMs }), [seek, nowMs]);

  const retry = (): void => {
    setFailed(false);
    setFallback(false);
    video.current?.load();
  };
  const toSpan = (direction: 1 | -1): void => {
    const starts = marks.map(({ startMs }) => startMs);
    const target = neighbourSpan(starts, nowMs(), direction);
    if (target !== null) seek(target);
  };
  const deeds: PlayerDeeds = {
    toggle,
    toggleMute,
    toggleCaptions,
    seek,
    nowMs,
    pause: () => video.current?.pause(),
    toSpan,
    showHelp: () => setHelp(true),
    compare: onCompare,
    durationMs: state.durationMs,
    frameMs: 1000 / (frameRate || 30),
  };

  return (
    <PlayerFrame ref={frame} label={playerTexts.label(title)} deeds={deeds}>
      <Picture $ratio={width && height ? width / height : 16 / 9}>
        {/* Clips without speech have no captions track. */}
        {/* oxlint-disable-next-line jsx-a11y/media-has-caption */}
        <video
          ref={video}
          src={src}
          poster={poster}
          playsInline
          preload="metadata"
          tabIndex={-1}
          onClick={toggle}
          onError={() => setFailed(true)}
        >
          {captionsSrc && (
            <track kind="captions" src={captionsSrc} srcLang="en" label={playerTexts.captionsTrack} />
          )}
        </video>
        {fallback && (
          <PlaybackFallback
            device={deviceOf(navigator)}
            src={src}
            downloadHref={downloadHref}
            downloadName={downloadName}
            onRetry={retry}
          />
        )}
      </Picture>
      <Controls
        playback={state}
        hasCaptions={captionsSrc !== undefined}
        fullscreen={fullscreen}
        onToggle={toggle}
        onMute={toggleMute}
        onVolume={setVolume}
        onCaptions={toggleCaptions}
        onFullscreen={() => toggleFullscreen(frame.current)}
        onHelp={() => setHelp(true)}
      />
      <Timeline currentMs={state.currentMs} durationMs={state.durationMs} marks={marks} onSeek={seek} />
      <KeyHelp open={help} onOpenChange={setHelp} />
    </PlayerFrame>
  );
}
