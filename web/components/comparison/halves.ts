/** How the two halves of the comparison are arranged on the canvas. */
export type Arrangement = 'wipe' | 'beside' | 'stacked';

/** A part of the video picture and its target, as arguments of `drawImage`; pixels. */
export interface Blit {
  readonly fromX: number;
  readonly toX: number;
  readonly toY: number;
  readonly width: number;
  readonly height: number;
}

/** Size of the canvas for halves of this size. */
export function canvasSize(arrangement: Arrangement, width: number, height: number) {
  return {
    width: arrangement === 'beside' ? width * 2 : width,
    height: arrangement === 'stacked' ? height * 2 : height,
  };
}

/**
 * What to copy from the video, whose left half is the original and whose right half is the repaired clip.
 * @param seamShare where the original ends in a wipe, 0 to 1 from the left
 */
export function blitsOf(
  arrangement: Arrangement,
  width: number,
  height: number,
  seamShare: number,
): readonly Blit[] {
  if (arrangement === 'beside') return [{ fromX: 0, toX: 0, toY: 0, width: width * 2, height }];
  if (arrangement === 'stacked') {
    return [
      { fromX: 0, toX: 0, toY: 0, width, height },
      { fromX: width, toX: 0, toY: height, width, height },
    ];
  }
  const seam = Math.round(width * Math.min(1, Math.max(0, seamShare)));
  return [
    { fromX: 0, toX: 0, toY: 0, width: seam, height },
    { fromX: width + seam, toX: seam, toY: 0, width: width - seam, height },
  ].filter((blit) => blit.width > 0);
}

/** Below this width two wide pictures side by side are too small to compare, pixels. */
const NARROW_PX = 620;

/** On a narrow page the halves are stacked instead of side by side, unless the clip is upright. */
export function arrange(view: 'wipe' | 'beside', pageWidthPx: number, ratio: number): Arrangement {
  if (view === 'wipe') return 'wipe';
  return pageWidthPx < NARROW_PX && ratio > 1 ? 'stacked' : 'beside';
}
