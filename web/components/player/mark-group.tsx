import { type KeyboardEvent, useEffect, useRef } from 'react';
import styled from 'styled-components';
import { formatTimecode } from '#common/format.ts';
import { playerTexts } from '../../texts/player.ts';
import { videoTexts } from '../../texts/videos.ts';
import { colour, figures, radius, space, text } from '../../theme.ts';
import { IconButton } from '../button.tsx';
import { NoteLine } from '../note-line.tsx';
import { OUTCOME_COLOUR, type ThreadMark } from '../thread-strip.tsx';

const Sheet = styled.div`
  display: grid;
  gap: ${space(0.5)};
  margin-top: ${space(0.5)};
  padding: ${space(0.5, 1, 1)};
  border: 1px solid ${colour.lineStrong};
  border-radius: ${radius.m};
  background: ${colour.raised};
`;
const Head = styled(NoteLine)`
  font-size: ${text.s};
  font-weight: 600;
`;
const Places = styled.ul`
  display: grid;
  grid-template-columns: repeat(auto-fill, minmax(148px, 1fr));
  gap: ${space(0.5)};
  /* Five and a half rows: the half row shows that there are more. */
  max-height: ${44 * 5.5 + 5 * 4}px;
  overflow-y: auto;
  overscroll-behavior: contain;
  padding: 3px;
`;
const Place = styled.button<{ $colour: string }>`
  display: grid;
  align-content: center;
  width: 100%;
  min-height: 44px;
  padding: ${space(0.25, 1)};
  border: 0;
  border-left: 4px solid ${({ $colour }) => $colour};
  border-radius: ${radius.s};
  background: ${colour.sunken};
  font-size: ${text.xs};
  line-height: 1.3;
  text-align: start;
  color: ${colour.inkSoft};
  b {
    ${figures}
    font-size: ${text.s};
    font-weight: 500;
    color: ${colour.ink};
  }
  &:hover,
  &[aria-current='true'] {
    background: ${colour.hover};
  }
`;

interface MarkGroupProps {
  readonly id: string;
  readonly label: string;
  readonly marks: readonly ThreadMark[];
  readonly playing: ThreadMark | undefined;
  readonly onJump: (mark: ThreadMark) => void;
  readonly onClose: () => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  /** Event handlers that make the line below describe a mark. */
  readonly watch: (id: string) => object;
}

/**
 * An expanded group of marks that are too close for separate buttons: one button per mark with its time; the first
 * takes the focus.
 */
export function MarkGroup({ id, label, marks, playing, onJump, onClose, onKeyDown, watch }: MarkGroupProps) {
  const first = useRef<HTMLButtonElement>(null);
  useEffect(() => first.current?.focus({ preventScroll: true }), []);
  return (
    <Sheet id={id} role="group" aria-label={label} onKeyDown={onKeyDown}>
      <Head $fixedStart={false}>
        <span>{label}</span>
        <IconButton icon="close" label={playerTexts.closeGroup} onClick={onClose} />
      </Head>
      <Places>
        {marks.map((mark, index) => (
          <li key={mark.id}>
            <Place
              ref={index === 0 ? first : undefined}
              type="button"
              $colour={OUTCOME_COLOUR[mark.outcome]}
              aria-label={playerTexts.jump(mark.label)}
              aria-current={mark === playing ? 'true' : undefined}
              onClick={() => onJump(mark)}
              {...watch(mark.id)}
            >
              <b>{formatTimecode(mark.startMs)}</b>
              {videoTexts.defects[mark.kind]}
            </Place>
          </li>
        ))}
      </Places>
    </Sheet>
  );
}
