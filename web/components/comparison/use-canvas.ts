import { type RefObject, useEffect, useRef } from 'react';
import { type Arrangement, blitsOf } from './halves.ts';

interface CanvasPicture {
  readonly arrangement: Arrangement;
  /** Size of one half, pixels. */
  readonly width: number;
  readonly height: number;
  readonly seamShare: number;
}

/** Draws the video picture on a canvas whenever either changes; nothing runs while the video is paused. */
export function useCanvas(video: RefObject<HTMLVideoElement | null>, picture: CanvasPicture) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { arrangement, width, height, seamShare } = picture;

  useEffect(() => {
    const element = video.current;
    const context = canvas.current?.getContext('2d');
    if (!element || !context) return;
    const draw = (): void => {
      if (element.readyState < HTMLMediaElement.HAVE_CURRENT_DATA) return;
      for (const { fromX, toX, toY, width: w, height: h } of blitsOf(arrangement, width, height, seamShare)) {
        context.drawImage(element, fromX, 0, w, h, toX, toY, w, h);
      }
    };
    let pending = 0;
    // Uses the video's own frame callback where available: it draws each decoded picture once, also after a seek.
    const perPicture = 'requestVideoFrameCallback' in element;
    const ask = (): number =>
      perPicture ? element.requestVideoFrameCallback(again) : requestAnimationFrame(again);
    const again = (): void => {
      draw();
      pending = ask();
    };
    draw();
    pending = ask();
    const events = ['loadeddata', 'seeked', 'pause'];
    for (const name of events) element.addEventListener(name, draw);
    return () => {
      if (perPicture) element.cancelVideoFrameCallback(pending);
      else cancelAnimationFrame(pending);
      for (const name of events) element.removeEventListener(name, draw);
    };
  }, [video, arrangement, width, height, seamShare]);

  return canvas;
}
