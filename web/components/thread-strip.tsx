import styled, { css, keyframes } from 'styled-components';
import type { LiveState } from '#common/live-findings.ts';
import type { DefectKind } from '#common/report.ts';
import { colour } from '../theme.ts';

/** One defect on the clip's time axis. */
export interface ThreadMark {
  readonly id: string;
  readonly kind: DefectKind;
  readonly startMs: number;
  readonly endMs: number;
  readonly outcome: LiveState;
  /** One line for tooltips and screen readers. */
  readonly label: string;
  /** What it means for viewers of the clip. */
  readonly meaning?: string;
}

/** Faults of single pictures break the thread itself; faults over a stretch run below it. */
const BREAKS_THREAD: ReadonlySet<DefectKind> = new Set([
  'stuttered_cut',
  'dropped_frames',
  'corrupted_section',
]);

/** Share of the strip that one stitch or fray takes on a phone; closer marks would overlap. */
const STITCH_SHARE = 0.02;

/** The marks as drawn: adjacent breaks of the thread with the same outcome are joined to one seam or one gap. */
function seamsOf(marks: readonly ThreadMark[], durationMs: number): ThreadMark[] {
  const seams: ThreadMark[] = [];
  const breaks = marks.filter(({ kind }) => BREAKS_THREAD.has(kind));
  for (const mark of breaks.toSorted((a, b) => a.startMs - b.startMs)) {
    const last = seams.at(-1);
    const isNear = last && mark.startMs - last.endMs < STITCH_SHARE * durationMs;
    if (isNear && last.outcome === mark.outcome)
      seams[seams.length - 1] = { ...last, endMs: Math.max(last.endMs, mark.endMs) };
    else seams.push(mark);
  }
  const isMended = ({ outcome }: ThreadMark) => outcome === 'repaired';
  // Drawn last and so on top, because remaining defects must not be hidden below a seam.
  return [
    ...seams.filter(isMended),
    ...marks.filter(({ kind }) => !BREAKS_THREAD.has(kind)),
    ...seams.filter((seam) => !isMended(seam)),
  ];
}

/** Position of a mark, in percent of the strip. */
function placeOf(mark: ThreadMark, durationMs: number): { left: number; width: number } {
  const clamp = (ms: number): number => Math.min(100, Math.max(0, (ms / durationMs) * 100));
  const left = clamp(mark.startMs);
  return { left, width: clamp(mark.endMs) - left };
}

const shape = (width: number, height: number, path: string, stroke = 2): string =>
  `url("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 ${width} ${height}' width='${width}' height='${height}'%3E%3Cpath d='${path}' fill='none' stroke='black' stroke-width='${stroke}' stroke-linecap='round'/%3E%3C/svg%3E")`;

const CROSS = shape(12, 16, 'M2.5 3.5l7 9m0-9l-7 9', 2.2);
const WAVE = shape(16, 8, 'M0 4c4-5 4-5 8 0s4 5 8 0', 1.8);
const FRAY_LEFT = shape(8, 16, 'M0 8h2l4-5M2 8h5M2 8l4 5', 1.5);
const FRAY_RIGHT = shape(8, 16, 'M8 8H6L2 3m4 5H1m5 0l-4 5', 1.5);

const HEIGHT = { s: 20, m: 28, l: 40 } as const;
/** Only the large strip has room for a second lane, so that wind below a late sound stays legible. */
const LANE_PX = { s: 0, m: 0, l: 9 } as const;

const Root = styled.div<{ $height: number }>`
  position: relative;
  height: ${({ $height }) => $height}px;
  --middle: ${({ $height }) => Math.round($height * 0.42)}px;
`;
const Line = styled.span<{ $colour: string; $fine?: boolean }>`
  position: absolute;
  inset: calc(var(--middle) - 1.5px) 0 auto 0;
  height: 3px;
  color: ${({ $colour }) => $colour};
  ${({ $fine }) =>
    $fine
      ? css`
          height: 2px;
          margin-top: 0.5px;
          background: repeating-linear-gradient(90deg, currentColor 0 2px, transparent 2px 7px);
        `
      : css`
          background: repeating-linear-gradient(90deg, currentColor 0 13px, transparent 13px 20px);
          border-radius: 2px;
        `}
`;
const Sewn = styled.span`
  position: absolute;
  inset: 0;
  transition: clip-path 0.4s var(--ease);
`;
const Needle = styled.span`
  position: absolute;
  top: calc(var(--middle) - 9px);
  width: 3px;
  height: 18px;
  margin-left: -1.5px;
  border-radius: 2px;
  background: ${colour.liveThread};
  transition: left 0.4s var(--ease);
`;
const drawIn = keyframes`
  from { clip-path: inset(0 100% 0 0); }
  to { clip-path: inset(0 0 0 0); }
`;
const masked = (image: string, repeat: string): ReturnType<typeof css> => css`
  background: currentColor;
  -webkit-mask: ${image} left center ${repeat};
  mask: ${image} left center ${repeat};
`;
const Place = styled.span`
  position: absolute;
  inset-block: 0;
  min-width: 14px;
  pointer-events: none;
`;
const Gap = styled.span<{ $colour: string }>`
  position: absolute;
  inset: calc(var(--middle) - 8px) 0 auto 0;
  height: 16px;
  min-width: 16px;
  color: ${({ $colour }) => $colour};
  background: var(--strip-ground, ${colour.raised});
  &::before,
  &::after {
    content: '';
    position: absolute;
    inset-block: 0;
    width: 8px;
  }
  &::before {
    left: 0;
    ${masked(FRAY_LEFT, 'no-repeat')}
  }
  &::after {
    right: 0;
    ${masked(FRAY_RIGHT, 'no-repeat')}
  }
`;
const Mend = styled.span`
  position: absolute;
  inset: calc(var(--middle) - 8px) 0 auto 0;
  height: 16px;
  color: ${colour.liveThread};
  background: var(--strip-ground, ${colour.raised});
  animation: ${drawIn} 0.7s var(--ease) backwards;
  &::before {
    content: '';
    position: absolute;
    inset: 0;
    ${masked(CROSS, 'round')}
  }
`;
const Under = styled.span<{ $colour: string; $mended: boolean; $bottomPx: number }>`
  position: absolute;
  inset: auto 0 ${({ $bottomPx }) => $bottomPx}px 0;
  height: 8px;
  color: ${({ $colour }) => $colour};
  ${({ $mended, $bottomPx }) =>
    $mended
      ? css`
          height: 2px;
          bottom: ${$bottomPx + 3}px;
          background: repeating-linear-gradient(90deg, currentColor 0 6px, transparent 6px 10px);
          animation: ${drawIn} 0.7s var(--ease) backwards;
        `
      : masked(WAVE, 'repeat-x')}
`;

/** The colour of each outcome, wherever a defect is drawn. */
export const OUTCOME_COLOUR: Record<ThreadMark['outcome'], string> = {
  found: colour.defect,
  repaired: colour.liveThread,
  left_alone: colour.defect,
  flagged: colour.warn,
};

interface ThreadStripProps {
  readonly marks?: readonly ThreadMark[];
  /** Length of the axis; needed by marks. */
  readonly durationMs?: number | null;
  /** How far the thread is sewn (or played), 0 to 1. */
  readonly sewn?: number;
  /** What follows the needle: a chalk line still to be sewn, or stitches not yet played. */
  readonly rest?: 'chalk' | 'stitches';
  readonly needle?: boolean;
  readonly size?: keyof typeof HEIGHT;
}

interface MarkProps {
  readonly mark: ThreadMark;
  readonly durationMs: number;
  readonly order: number;
  readonly lanePx: number;
}

function Mark({ mark, durationMs, order, lanePx }: MarkProps) {
  const { left, width } = placeOf(mark, durationMs);
  const mended = mark.outcome === 'repaired';
  const tint = OUTCOME_COLOUR[mark.outcome];
  const delay = { animationDelay: `${Math.min(order, 12) * 90}ms` };
  const position = { left: `min(${left}%, calc(100% - 14px))`, width: `${width}%` };
  return (
    <Place style={position} data-mark={mark.kind} data-outcome={mark.outcome}>
      {BREAKS_THREAD.has(mark.kind) ? (
        mended ? (
          <Mend style={delay} />
        ) : (
          <Gap $colour={tint} />
        )
      ) : (
        <Under
          $colour={tint}
          $mended={mended}
          $bottomPx={mark.kind === 'audio_sync' ? lanePx : 0}
          style={delay}
        />
      )}
    </Place>
  );
}

/**
 * The clip's time axis as a thread: intact stretches are running stitches, defects are frayed gaps, repairs are cross
 * stitches that draw themselves in. Only a picture: progress bar and seek bar wrap it with their roles.
 */
export function ThreadStrip({
  marks = [],
  durationMs,
  sewn = 1,
  rest = 'chalk',
  needle = false,
  size = 'm',
}: ThreadStripProps) {
  const share = Math.min(1, Math.max(0, sewn));
  return (
    <Root $height={HEIGHT[size]} aria-hidden="true" data-thread="">
      <Sewn style={{ clipPath: `inset(0 0 0 ${share * 100}%)` }}>
        <Line $colour={colour.chalk} $fine={rest === 'chalk'} />
      </Sewn>
      <Sewn style={{ clipPath: `inset(0 ${(1 - share) * 100}% 0 0)` }}>
        <Line $colour={colour.thread} />
      </Sewn>
      {durationMs
        ? seamsOf(marks, durationMs).map((mark, order) => (
            <Mark key={mark.id} mark={mark} durationMs={durationMs} order={order} lanePx={LANE_PX[size]} />
          ))
        : null}
      {needle && <Needle style={{ left: `${share * 100}%` }} />}
    </Root>
  );
}
