import type { KeyboardEvent, RefObject } from 'react';
import styled from 'styled-components';
import { comparisonTexts as texts } from '../../texts/comparison.ts';
import { colour, radius, space, text } from '../../theme.ts';
import { Icon } from '../icons.tsx';
import { type Arrangement, canvasSize } from './halves.ts';
import { useCanvas } from './use-canvas.ts';
import type { Side } from './use-channel-sound.ts';

const Box = styled.div<{ $ratio: number }>`
  position: relative;
  width: 100%;
  /* Upright clips are limited by height, others by width; the aspect ratio is always kept. */
  max-width: calc(var(--player-height, 66vh) * ${({ $ratio }) => $ratio});
  aspect-ratio: ${({ $ratio }) => $ratio};
  margin-inline: auto;
  border-radius: ${radius.s};
  overflow: hidden;
  background: #05070f;
  video {
    position: absolute;
    inset: 0;
    width: 100%;
    height: 100%;
    opacity: 0;
    pointer-events: none;
  }
  canvas {
    position: relative;
    display: block;
    width: 100%;
    height: 100%;
  }
`;
const Tag = styled.span<{ $heard: boolean }>`
  position: absolute;
  display: inline-flex;
  align-items: center;
  gap: ${space(0.5)};
  padding: ${space(0.25, 1)};
  border-radius: ${radius.s};
  background: rgb(5 7 15 / 82%);
  color: #f1f2ee;
  font-size: ${text.xs};
  font-weight: 600;
  pointer-events: none;
  box-shadow: ${({ $heard }) => ($heard ? 'inset 0 0 0 1.5px #f5ab35' : 'none')};
  transition: opacity 0.15s var(--ease);
`;
const Seam = styled.span`
  position: absolute;
  inset-block: 0;
  width: 3px;
  margin-left: -1.5px;
  background: repeating-linear-gradient(180deg, #f5ab35 0 13px, rgb(5 7 15 / 55%) 13px 20px);
  pointer-events: none;
  &::after {
    content: '';
    position: absolute;
    top: 50%;
    left: 50%;
    width: 36px;
    height: 36px;
    margin: -18px;
    border: 2px solid #f5ab35;
    border-radius: 50%;
    background: rgb(5 7 15 / 82%)
      url("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Cpath d='M9.5 7 5 12l4.5 5m5-10 4.5 5-4.5 5' fill='none' stroke='%23f5ab35' stroke-width='2' stroke-linecap='round' stroke-linejoin='round'/%3E%3C/svg%3E")
      center / 26px no-repeat;
  }
`;
const Wipe = styled.input`
  position: absolute;
  inset: 0;
  width: 100%;
  height: 100%;
  margin: 0;
  opacity: 0;
  cursor: ew-resize;
  /* Vertical swipes still scroll the page. */
  touch-action: pan-y;
  &:focus-visible + ${Seam} {
    outline: 2px solid #f5ab35;
    outline-offset: 3px;
  }
`;

/** A wipe's label is hidden when its side is narrower than the label. */
const LEAST_SHOWN_PERCENT = 14;

interface StageProps {
  readonly video: RefObject<HTMLVideoElement | null>;
  readonly src: string;
  /** Size of one half, pixels. */
  readonly width: number;
  readonly height: number;
  readonly arrangement: Arrangement;
  /** How much of the original a wipe shows, 0 to 100 percent. */
  readonly wipePercent: number;
  readonly heard: Side;
  readonly onWipe: (percent: number) => void;
  readonly onPlay: () => void;
  readonly onToggle: () => void;
  readonly onError: () => void;
}

/** The picture of the comparison: one hidden video, drawn as a wipe or side by side. */
export function Stage(props: StageProps) {
  const { video, width, height, arrangement, wipePercent, heard } = props;
  const canvas = useCanvas(video, { arrangement, width, height, seamShare: wipePercent / 100 });
  const size = canvasSize(arrangement, width, height);
  const isWipe = arrangement === 'wipe';
  const keepKeys = (event: KeyboardEvent<HTMLInputElement>): void => {
    // Arrows, Home and End move the wipe here and not the clip; all other keys reach the player.
    if (/^(Arrow|Home|End|Page)/.test(event.key)) event.stopPropagation();
  };
  return (
    <Box $ratio={size.width / size.height}>
      {/* The whole clip has captions; this comparison shows only seconds of it. */}
      {/* oxlint-disable-next-line jsx-a11y/media-has-caption */}
      <video
        ref={video}
        src={props.src}
        playsInline
        preload="auto"
        tabIndex={-1}
        aria-hidden="true"
        onPlay={props.onPlay}
        onError={props.onError}
      />
      <canvas
        ref={canvas}
        width={size.width}
        height={size.height}
        role="img"
        aria-label={texts.picture(isWipe ? texts.arrangements.wipe : texts.arrangements.beside)}
        onClick={props.onToggle}
      />
      {isWipe && (
        <>
          <Wipe
            type="range"
            min={0}
            max={100}
            step={1}
            value={wipePercent}
            aria-label={texts.wipe}
            aria-valuetext={texts.wipeText(wipePercent)}
            onChange={(event) => props.onWipe(event.target.valueAsNumber)}
            onKeyDown={keepKeys}
          />
          <Seam style={{ left: `${wipePercent}%` }} />
        </>
      )}
      <SideTag
        side="before"
        heard={heard}
        hidden={isWipe && wipePercent < LEAST_SHOWN_PERCENT}
        style={{ top: 8, left: 8 }}
      />
      <SideTag
        side="after"
        heard={heard}
        hidden={isWipe && wipePercent > 100 - LEAST_SHOWN_PERCENT}
        style={AFTER_PLACE[arrangement]}
      />
    </Box>
  );
}

const AFTER_PLACE: Record<Arrangement, Record<string, number | string>> = {
  wipe: { top: 8, right: 8 },
  beside: { top: 8, left: 'calc(50% + 8px)' },
  stacked: { top: 'calc(50% + 8px)', left: 8 },
};

interface SideTagProps {
  readonly side: Side;
  readonly heard: Side;
  readonly hidden: boolean;
  readonly style: Record<string, number | string>;
}

function SideTag({ side, heard, hidden, style }: SideTagProps) {
  return (
    <Tag $heard={side === heard} style={{ ...style, opacity: hidden ? 0 : 1 }} data-side={side}>
      {side === 'before' ? texts.original : texts.mended}
      {side === heard && <Icon name="sound" size={14} />}
    </Tag>
  );
}

export const StageFallback = styled.p`
  padding: ${space(4, 2)};
  border: 1px dashed ${colour.chalk};
  border-radius: ${radius.s};
  text-align: center;
`;
