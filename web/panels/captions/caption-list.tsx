import { defaultRangeExtractor, type Range, useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useRef } from 'react';
import styled from 'styled-components';
import type { CueProblemKind } from '#common/captions.ts';
import type { CaptionAction, CaptionHistory } from '../../data/captions/caption-history.ts';
import { usePlayedCue, useReachedCue } from '../../data/videos/play-clock.ts';
import { captionTexts as texts } from '../../texts/captions.ts';
import { colour, radius } from '../../theme.ts';
import type { CaptionPlayer } from './caption-editor.tsx';
import { CaptionRow } from './caption-row.tsx';

const Area = styled.div`
  max-height: min(70vh, 640px);
  overflow: auto;
  @media (prefers-reduced-motion: no-preference) {
    scroll-behavior: smooth;
  }
  border: 1px solid ${colour.line};
  border-radius: ${radius.s};
  ol {
    position: relative;
    margin: 0;
    padding: 0;
    list-style: none;
  }
`;

const Item = styled.li`
  width: 100%;
  &:not([data-index='0']) {
    border-top: 1px dashed ${colour.chalk};
  }
`;

/** More cues than this exist only where they are in sight: a text field for each of 2000 takes a browser seconds. */
const PLAIN_MOST = 60;
const ESTIMATED_ROW_PX = 96;

/** Scrolls the list alone, never the page, and only as far as it takes. */
function bringIntoSight(list: HTMLElement, row: Element | null): void {
  if (!row) return;
  const [outer, inner] = [list.getBoundingClientRect(), row.getBoundingClientRect()];
  const byPx = inner.top < outer.top ? inner.top - outer.top : Math.max(0, inner.bottom - outer.bottom);
  if (byPx === 0) return;
  list.scrollBy({ top: byPx });
}

interface CaptionListProps {
  readonly history: CaptionHistory;
  readonly problems: ReadonlyMap<number, CueProblemKind>;
  readonly act: (action: CaptionAction) => void;
  readonly player: CaptionPlayer;
}

/** The cues, as many as are in sight; the chosen one always, so that the focus is not lost by scrolling. */
export function CaptionList({ history, problems, act, player }: CaptionListProps) {
  const { cues, selected, focus } = history;
  const area = useRef<HTMLDivElement>(null);
  // A wish for the focus is granted once, whatever is chosen afterwards.
  const granted = useRef(0);
  const grantFocus = useCallback((wish: number) => {
    if (wish <= granted.current) return false;
    granted.current = wish;
    return true;
  }, []);
  const isLong = cues.length > PLAIN_MOST;
  const rangeExtractor = useCallback(
    (range: Range) => {
      const inSight = defaultRangeExtractor(range);
      if (selected < 0 || selected >= range.count || inSight.includes(selected)) return inSight;
      return [...inSight, selected].toSorted((a, b) => a - b);
    },
    [selected],
  );
  // Its functions are for this component alone, which nothing memoizes; rows get plain values.
  // oxlint-disable-next-line react/incompatible-library
  const virtualizer = useVirtualizer({
    count: isLong ? cues.length : 0,
    getScrollElement: () => area.current,
    estimateSize: () => ESTIMATED_ROW_PX,
    overscan: 6,
    rangeExtractor,
  });
  const played = usePlayedCue(cues, player.clock);
  // Between two cues nothing is played, but a jump to there is a jump in the list too.
  const reached = useReachedCue(cues, player.clock);
  useEffect(() => {
    const list = area.current;
    // Not away under the hands: whoever points at the list or works in it keeps it where it is.
    if (reached < 0 || !list || list.matches(':hover') || list.contains(document.activeElement)) return;
    if (isLong) virtualizer.scrollToIndex(reached, { align: 'auto' });
    else bringIntoSight(list, list.querySelector(`[data-index='${reached}']`));
    // The virtualizer is another one at each drawing; the cue alone says when to look.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [reached]);
  const places = isLong
    ? virtualizer.getVirtualItems().map(({ index, start }) => ({ index, topPx: start }))
    : cues.map((_, index) => ({ index, topPx: null }));
  return (
    <Area ref={area}>
      <ol aria-label={texts.list} style={isLong ? { height: virtualizer.getTotalSize() } : undefined}>
        {places.map(({ index, topPx }) => {
          const cue = cues[index];
          if (!cue) return null;
          return (
            <Item
              // A cue is its place in the list: focus and cursor stay where they are while texts change.
              key={index}
              ref={isLong ? virtualizer.measureElement : undefined}
              data-index={index}
              style={
                topPx === null ? undefined : { position: 'absolute', transform: `translateY(${topPx}px)` }
              }
              aria-posinset={index + 1}
              aria-setsize={cues.length}
              aria-current={index === selected ? 'true' : undefined}
            >
              <CaptionRow
                cue={cue}
                index={index}
                count={cues.length}
                isSelected={index === selected}
                isPlayed={index === played}
                takeFocus={index === selected ? focus : 0}
                grantFocus={grantFocus}
                problem={problems.get(index) ?? null}
                act={act}
                player={player}
              />
            </Item>
          );
        })}
      </ol>
    </Area>
  );
}
