import { type RefObject, useCallback, useEffect, useRef, useState } from 'react';

export type Side = 'before' | 'after';

/** Fade in seconds: long enough to avoid a click, short enough to seem immediate. */
const FADE_S = 0.02;

interface Mixer {
  readonly context: AudioContext;
  readonly gains: Readonly<Record<Side, GainNode>>;
}

function createMixer(video: HTMLVideoElement): Mixer {
  const context = new AudioContext();
  const source = context.createMediaElementSource(video);
  const splitter = context.createChannelSplitter(2);
  source.connect(splitter);
  const gainOf = (channel: number): GainNode => {
    const gain = context.createGain();
    splitter.connect(gain, channel);
    // The one channel goes to both speakers.
    gain.connect(context.destination);
    return gain;
  };
  return { context, gains: { before: gainOf(0), after: gainOf(1) } };
}

/**
 * Plays one channel of a video on both speakers: the left channel has the original's sound, the right one the repaired
 * sound. One element plays both, so they cannot drift apart. Set up at the first playback, because browsers allow sound
 * only then.
 * @returns whether this browser can separate the sounds, and a function to call when playback starts
 */
export function useChannelSound(video: RefObject<HTMLVideoElement | null>, heard: Side) {
  const mixer = useRef<Mixer | null>(null);
  const [canSplit] = useState(() => typeof AudioContext === 'function');

  const start = useCallback(() => {
    if (!canSplit || !video.current) return;
    mixer.current ??= createMixer(video.current);
    if (mixer.current.context.state === 'suspended') void mixer.current.context.resume();
  }, [canSplit, video]);

  const hear = useCallback((side: Side) => {
    if (!mixer.current) return;
    const { context, gains } = mixer.current;
    for (const one of ['before', 'after'] as const) {
      gains[one].gain.setTargetAtTime(one === side ? 1 : 0, context.currentTime, FADE_S / 3);
    }
  }, []);

  useEffect(() => hear(heard), [hear, heard]);
  useEffect(
    () => () => {
      void mixer.current?.context.close();
      mixer.current = null;
    },
    [],
  );
  const begin = useCallback(() => {
    start();
    hear(heard);
  }, [start, hear, heard]);
  return { canSplit, begin };
}
