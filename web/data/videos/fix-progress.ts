import { useEffect, useState } from 'react';

/** After this long without updates, the pace of the specification applies. */
const SILENCE_MS = 5000;
/** The fallback stops here until the server has said that it is done. */
const MOST_ESTIMATED = 95;
const STEP = { leastPercent: 5, mostPercent: 20, leastMs: 1000, mostMs: 2000 } as const;

/** One step of the specified pace: its size, and its duration. */
function nextStep(random: () => number): { readonly percent: number; readonly afterMs: number } {
  const between = (least: number, most: number) => least + random() * (most - least);
  return {
    percent: between(STEP.leastPercent, STEP.mostPercent),
    afterMs: between(STEP.leastMs, STEP.mostMs),
  };
}

export interface FixProgress {
  readonly percent: number;
  /** Whether the last steps came from the timer and not from the server's measurement. */
  readonly estimated: boolean;
}

/**
 * The progress of a running request, as the server measures it. After five seconds without updates it advances by
 * itself, by 5 to 20 percent every 1 to 2 s as specified, and stops at 95 until the server answers. It never goes back.
 * @param measured percent as the server measured it
 * @param news changes with every answer of the server
 */
export function useFixProgress(
  measured: number,
  news: number,
  random: () => number = Math.random,
): FixProgress {
  const [estimate, setEstimate] = useState({ percent: 0, madeAfter: -1 });
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const wait = (ms: number): void => {
      timer = setTimeout(() => {
        const step = nextStep(random);
        setEstimate(({ percent }) => {
          const from = Math.max(measured, percent);
          return { percent: Math.max(from, Math.min(MOST_ESTIMATED, from + step.percent)), madeAfter: news };
        });
        wait(step.afterMs);
      }, ms);
    };
    wait(SILENCE_MS);
    return () => clearTimeout(timer);
  }, [measured, news, random]);
  return { percent: Math.max(measured, estimate.percent), estimated: estimate.madeAfter === news };
}

/**
 * The pace of the specification from 0 to 100, for a server that returns only the number of accepted fixes and no
 * progress.
 * @param onEnd called once at 100; must not change between renders
 */
export function useSpecifiedPace(onEnd: () => void, random: () => number = Math.random): number {
  const [percent, setPercent] = useState(0);
  useEffect(() => {
    if (percent >= 100) {
      onEnd();
      return;
    }
    const step = nextStep(random);
    const timer = setTimeout(() => setPercent(Math.min(100, percent + step.percent)), step.afterMs);
    return () => clearTimeout(timer);
  }, [percent, onEnd, random]);
  return percent;
}
