import type { KeyboardEvent, ReactNode, RefObject } from 'react';
import styled from 'styled-components';
import { colour, space } from '../../theme.ts';
import { toggleFullscreen } from './fullscreen.ts';
import { actionOf, type PlayerAction, takesText } from './player-keys.ts';

const Frame = styled.div`
  display: grid;
  grid-template-columns: minmax(0, 1fr);
  gap: ${space(1)};
  --strip-ground: ${colour.raised};
  &:fullscreen {
    align-content: center;
    padding: ${space(2)};
    background: ${colour.raised};
  }
`;

/** Actions of a player's keys; omitted ones have no meaning there. */
export interface PlayerDeeds {
  toggle(): void;
  toggleMute(): void;
  seek(ms: number): void;
  nowMs(): number;
  pause(): void;
  /** Jumps to the next or previous marked place. */
  toSpan(direction: 1 | -1): void;
  showHelp(): void;
  compare?: (() => void) | undefined;
  toggleCaptions?: () => void;
  readonly durationMs: number;
  /** Length of one picture, ms. */
  readonly frameMs: number;
}

function act(action: PlayerAction, deeds: PlayerDeeds, frame: HTMLElement | null): void {
  switch (action.do) {
    case 'toggle':
      return deeds.toggle();
    case 'mute':
      return deeds.toggleMute();
    case 'captions':
      return deeds.toggleCaptions?.();
    case 'fullscreen':
      return toggleFullscreen(frame);
    case 'help':
      return deeds.showHelp();
    case 'compare':
      return deeds.compare?.();
    case 'start':
      return deeds.seek(0);
    case 'end':
      return deeds.seek(deeds.durationMs);
    case 'skip':
      return deeds.seek(deeds.nowMs() + action.seconds * 1000);
    case 'frame':
      deeds.pause();
      return deeds.seek(deeds.nowMs() + action.frames * deeds.frameMs);
    case 'span':
      return deeds.toSpan(action.direction);
  }
}

interface PlayerFrameProps {
  readonly label: string;
  readonly deeds: PlayerDeeds;
  /** Lets the frame itself be focused by script. */
  readonly focusable?: boolean;
  readonly ref: RefObject<HTMLDivElement | null>;
  readonly children: ReactNode;
}

/** Surrounds picture, timeline and controls of a player, and handles its keys. */
export function PlayerFrame({ label, deeds, focusable = false, ref, children }: PlayerFrameProps) {
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>): void => {
    if (takesText(event.target)) return;
    // Space on a focused button presses that button.
    if (event.target instanceof HTMLButtonElement && event.key === ' ') return;
    const action = actionOf(event);
    if (!action) return;
    event.preventDefault();
    act(action, deeds, ref.current);
  };
  return (
    // Keys are only shortcuts: each has an equivalent button or slider.
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions
    <Frame
      ref={ref}
      role="group"
      aria-label={label}
      tabIndex={focusable ? -1 : undefined}
      onKeyDown={onKeyDown}
    >
      {children}
    </Frame>
  );
}
