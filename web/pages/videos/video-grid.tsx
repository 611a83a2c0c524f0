import { useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useRef, useState } from 'react';
import styled from 'styled-components';
import type { VideoDto } from '#common/api/videos.ts';
import { videoTexts } from '../../texts/videos.ts';
import { colour, radius, space } from '../../theme.ts';
import { VideoCard } from './video-card.tsx';
import { VideoDetails } from './video-details.tsx';

const MIN_CARD_WIDTH_PX = 300;
const GAP_PX = 16;
const ESTIMATED_CARD_HEIGHT_PX = 420;

const Panel = styled.div`
  height: 75vh;
  overflow: auto;
  overscroll-behavior: contain;
  scroll-margin-bottom: ${space(1)};
  padding: ${space(1)};
  margin: ${space(-1)};
  border-radius: ${radius.m};
  &:focus-visible {
    outline: 2px solid ${colour.liveThread};
  }
`;
const Canvas = styled.ul`
  position: relative;
  width: 100%;
`;
const Row = styled.li`
  position: absolute;
  inset: 0 0 auto;
  padding-bottom: ${GAP_PX}px;
`;
const Cells = styled.ul<{ $columns: number }>`
  display: grid;
  grid-template-columns: repeat(${({ $columns }) => $columns}, minmax(0, 1fr));
  gap: ${GAP_PX}px;
`;

type GridRow =
  | { readonly kind: 'cards'; readonly videos: readonly VideoDto[] }
  | { readonly kind: 'details'; readonly video: VideoDto };

/** Groups cards in rows, with the opened video's details as a separate row below its card. */
export function toRows(videos: readonly VideoDto[], columns: number, openId: string | null): GridRow[] {
  const rows: GridRow[] = [];
  for (let start = 0; start < videos.length; start += columns) {
    const cards = videos.slice(start, start + columns);
    rows.push({ kind: 'cards', videos: cards });
    const open = cards.find(({ id }) => id === openId);
    if (open) rows.push({ kind: 'details', video: open });
  }
  return rows;
}

interface VideoGridProps {
  readonly videos: readonly VideoDto[];
  /** End of the backup of each video, by its id. */
  readonly backups?: ReadonlyMap<string, string>;
  readonly aiTools: boolean;
  readonly selected: ReadonlySet<string>;
  readonly onSelect: (id: string) => void;
  /** Called when the last row becomes visible. */
  readonly onReachEnd?: () => void;
}

/** The scrolling area of the library; only visible rows exist, so that 500 videos scroll like ten. */
export function VideoGrid({ videos, backups, aiTools, selected, onSelect, onReachEnd }: VideoGridProps) {
  const panel = useRef<HTMLDivElement>(null);
  const [columns, setColumns] = useState(1);
  const [openId, setOpenId] = useState<string | null>(null);
  useEffect(() => {
    const element = panel.current;
    if (!element) return;
    const measure = (): void =>
      setColumns(Math.max(1, Math.floor((element.clientWidth + GAP_PX) / (MIN_CARD_WIDTH_PX + GAP_PX))));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const toggle = useCallback((id: string) => setOpenId((open) => (open === id ? null : id)), []);
  const rows = toRows(videos, columns, openId);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => panel.current,
    estimateSize: () => ESTIMATED_CARD_HEIGHT_PX,
    overscan: 2,
    getItemKey: (index) => {
      const row = rows[index];
      if (!row) return index;
      return row.kind === 'details' ? `details-${row.video.id}` : `cards-${row.videos[0]?.id ?? index}`;
    },
  });
  const virtualRows = virtualizer.getVirtualItems();
  const atEnd = rows.length > 0 && virtualRows.at(-1)?.index === rows.length - 1;
  useEffect(() => {
    if (atEnd) onReachEnd?.();
  }, [atEnd, onReachEnd]);
  const openIndex = rows.findIndex((row) => row.kind === 'details');
  const { scrollToIndex } = virtualizer;
  useEffect(() => {
    if (openId !== null && openIndex >= 0) {
      scrollToIndex(openIndex, { align: 'start' });
      // Scrolls the whole area into view too, because a player half below the fold is useless.
      panel.current?.scrollIntoView({ block: 'nearest' });
    }
    // Only opening scrolls; rows that move while it is open do not.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [openId]);
  return (
    // A scrolling area must be reachable by keyboard (WCAG 2.1.1).
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <Panel ref={panel} tabIndex={0} role="region" aria-label={videoTexts.library.list}>
      <Canvas style={{ height: virtualizer.getTotalSize() }}>
        {virtualRows.map((item) => {
          const row = rows[item.index];
          if (!row) return null;
          return (
            <Row
              key={item.key}
              ref={virtualizer.measureElement}
              data-index={item.index}
              style={{ transform: `translateY(${item.start}px)` }}
            >
              {row.kind === 'details' ? (
                <VideoDetails video={row.video} aiTools={aiTools} onClose={() => setOpenId(null)} />
              ) : (
                <Cells $columns={columns}>
                  {row.videos.map((video) => (
                    <VideoCard
                      key={video.id}
                      video={video}
                      backupUntil={backups?.get(video.id)}
                      open={video.id === openId}
                      selected={selected.has(video.id)}
                      onSelect={onSelect}
                      onToggle={toggle}
                    />
                  ))}
                </Cells>
              )}
            </Row>
          );
        })}
      </Canvas>
    </Panel>
  );
}
