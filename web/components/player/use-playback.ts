import { useCallback, useEffect, useRef, useState } from 'react';

export interface Playback {
  readonly playing: boolean;
  readonly currentMs: number;
  readonly durationMs: number;
  readonly muted: boolean;
  readonly volume: number;
  readonly captions: boolean;
}

/** Shows or hides a text track; returns whether it is shown now. */
function toggleTrack(track: TextTrack | undefined): boolean {
  if (!track) return false;
  track.mode = track.mode === 'showing' ? 'disabled' : 'showing';
  return track.mode === 'showing';
}

/** The state of a video element, and the few commands on it. */
export function usePlayback(knownDurationMs: number | null) {
  const video = useRef<HTMLVideoElement>(null);
  const [state, setState] = useState<Playback>({
    playing: false,
    currentMs: 0,
    durationMs: knownDurationMs ?? 0,
    muted: false,
    volume: 1,
    captions: false,
  });

  useEffect(() => {
    const element = video.current;
    if (!element) return;
    const read = (): void =>
      setState((old) => ({
        ...old,
        playing: !element.paused,
        currentMs: element.currentTime * 1000,
        durationMs: Number.isFinite(element.duration) ? element.duration * 1000 : old.durationMs,
        muted: element.muted,
        volume: element.volume,
      }));
    const events = [
      'play',
      'pause',
      'timeupdate',
      'seeking',
      'seeked',
      'durationchange',
      'volumechange',
      'ended',
    ];
    for (const name of events) element.addEventListener(name, read);
    return () => {
      for (const name of events) element.removeEventListener(name, read);
    };
  }, []);

  const seek = useCallback((ms: number) => {
    const element = video.current;
    if (!element) return;
    const end = Number.isFinite(element.duration) ? element.duration : ms / 1000;
    element.currentTime = Math.min(end, Math.max(0, ms / 1000));
  }, []);
  /** The current position of the element, ms; the state follows its events a little later. */
  const nowMs = useCallback(() => (video.current?.currentTime ?? 0) * 1000, []);
  const toggle = useCallback(() => {
    const element = video.current;
    if (!element) return;
    // The error event reports a refused start; a start overtaken by another click is no error.
    if (element.paused) void element.play().catch(() => undefined);
    else element.pause();
  }, []);
  const toggleMute = useCallback(() => {
    if (video.current) video.current.muted = !video.current.muted;
  }, []);
  const setVolume = useCallback((volume: number) => {
    if (!video.current) return;
    video.current.volume = volume;
    video.current.muted = volume === 0;
  }, []);
  const toggleCaptions = useCallback(() => {
    const captions = toggleTrack(video.current?.textTracks[0]);
    setState((old) => ({ ...old, captions }));
  }, []);

  return { video, state, nowMs, seek, toggle, toggleMute, setVolume, toggleCaptions };
}
