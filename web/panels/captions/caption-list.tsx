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

/** Longer lists render only visible cues, because 2000 text fields take a browser seconds. */
const PLAIN_MOST = 60;
const ESTIMATED_ROW_PX = 96;

/** Scrolls only the list, never the page, and only as far as necessary. */
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

/** The visible cues; the selected one is always rendered, so that scrolling does not lose the focus. */
export function CaptionList({ history, problems, act, player }: CaptionListProps) {
  const { cues, selected, focus } = history;
  const area = useRef<HTMLDivElement>(null);
  // A focus request is granted once, whatever is selected afterwards.
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
  // The hook's functions are used only in this component, which is not memoized; rows get plain values.
  // oxlint-disable-next-line react/incompatible-library
  const virtualizer = useVirtualizer({
    count: isLong ? cues.length : 0,
    getScrollElement: () => area.current,
    estimateSize: () => ESTIMATED_ROW_PX,
    overscan: 6,
    rangeExtractor,
  });
  const played = usePlayedCue(cues, player.clock);
  // Between two cues none is played, but a jump to there must also scroll the list.
  const reached = useReachedCue(cues, player.clock);
  useEffect(() => {
    const list = area.current;
    // Does not scroll while somebody points at the list or works in it.
    if (reached < 0 || !list || list.matches(':hover') || list.contains(document.activeElement)) return;
    if (isLong) virtualizer.scrollToIndex(reached, { align: 'auto' });
    else bringIntoSight(list, list.querySelector(`[data-index='${reached}']`));
    // The virtualizer is new at every render; only the cue decides when to scroll.
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
              // A cue is identified by its index, so focus and cursor stay while texts change.
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
