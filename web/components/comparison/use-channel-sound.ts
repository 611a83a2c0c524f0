import { type RefObject, useCallback, useEffect, useRef, useState } from 'react';

export type Side = 'before' | 'after';

/** Long enough to make no click, short enough to seem at once; seconds. */
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
    // One channel goes to both loudspeakers.
    gain.connect(context.destination);
    return gain;
  };
  return { context, gains: { before: gainOf(0), after: gainOf(1) } };
}

/**
 * Lets one channel of a video be heard on both sides: the left is the original's sound, the right the mended
 * one. One element plays both, so they cannot drift apart. Made at the first playback, because browsers start
 * sound only then.
 * @returns whether the sounds can be told apart in this browser, and what to call when playback begins
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
