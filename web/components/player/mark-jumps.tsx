import { useRef, useState } from 'react';
import styled from 'styled-components';
import { playerTexts } from '../../texts/player.ts';
import { colour, screen, text } from '../../theme.ts';
import { OUTCOME_COLOUR, placeOf, type ThreadMark } from '../thread-strip.tsx';
import { useWidth } from '../use-width.ts';
import { assignLanes, BUTTON_PX } from './lanes.ts';

const Jumps = styled.ul<{ $lanes: number }>`
  position: relative;
  /* One lane is always kept free, so that the report's arrival seldom moves the controls. */
  height: ${({ $lanes }) => Math.max(1, $lanes) * BUTTON_PX}px;
`;
const Jump = styled.button<{ $colour: string }>`
  position: absolute;
  display: grid;
  place-items: center;
  min-width: ${BUTTON_PX}px;
  height: ${BUTTON_PX}px;
  padding: 0;
  border: 0;
  background: none;
  &::before {
    content: '';
    width: 100%;
    height: 4px;
    border-radius: 2px;
    background: ${({ $colour }) => $colour};
    opacity: 0.6;
    transition: height 0.15s var(--ease);
  }
  &:hover::before,
  &:focus-visible::before,
  &[aria-current='true']::before {
    height: 8px;
    opacity: 1;
  }
`;
const Facts = styled.p`
  display: -webkit-box;
  -webkit-box-orient: vertical;
  -webkit-line-clamp: 3;
  overflow: hidden;
  /* The lines are kept, so that nothing below moves when another mark is read. */
  min-height: 3lh;
  ${screen.tablet} {
    -webkit-line-clamp: 2;
    min-height: 2lh;
  }
  font-size: ${text.s};
  color: ${colour.inkSoft};
`;

interface MarkJumpsProps {
  readonly marks: readonly ThreadMark[];
  readonly durationMs: number;
  /** Where the clip stands: the mark that lies there says what it means. Left out where nothing plays. */
  readonly currentMs?: number;
  readonly onJump: (mark: ThreadMark) => void;
}

/**
 * A button below each mark of the time axis, in as many rows as keep them apart, and a line that says what the one
 * means that is pointed at, has the focus, or plays.
 */
export function MarkJumps({ marks, durationMs, currentMs, onJump }: MarkJumpsProps) {
  const list = useRef<HTMLUListElement>(null);
  const widthPx = useWidth(list, 640);
  const [pointed, setPointed] = useState<string | null>(null);
  const [focused, setFocused] = useState<string | null>(null);
  const lanes = assignLanes(marks, durationMs, widthPx);
  const playing = currentMs === undefined ? undefined : markAt(marks, currentMs);
  const shown = marks.find(({ id }) => id === (pointed ?? focused)) ?? playing;
  return (
    <div>
      <Jumps ref={list} aria-label={playerTexts.defects} $lanes={Math.max(0, ...lanes.values()) + 1}>
        {durationMs > 0 &&
          marks.map((mark) => {
            const { left, width } = placeOf(mark, durationMs);
            return (
              <li key={mark.id}>
                <Jump
                  type="button"
                  data-drawn=""
                  $colour={OUTCOME_COLOUR[mark.outcome]}
                  aria-label={playerTexts.jump(mark.label)}
                  aria-current={mark === playing ? 'true' : undefined}
                  style={{
                    top: (lanes.get(mark.id) ?? 0) * BUTTON_PX,
                    left: `min(${left}%, calc(100% - ${BUTTON_PX}px))`,
                    width: `${width}%`,
                  }}
                  onClick={() => onJump(mark)}
                  onPointerEnter={() => setPointed(mark.id)}
                  onPointerLeave={() => setPointed(null)}
                  onFocus={() => setFocused(mark.id)}
                  onBlur={() => setFocused(null)}
                />
              </li>
            );
          })}
      </Jumps>
      {marks.length > 0 && (
        <Facts data-testid="mark-facts">
          {shown ? (
            <>
              {shown.label}
              {shown.meaning !== undefined && (
                <>
                  {' · '}
                  {shown.meaning}
                </>
              )}
            </>
          ) : (
            playerTexts.marks(marks.length)
          )}
        </Facts>
      )}
    </div>
  );
}

/** The mark that lies at a moment; of several the shortest, because the long ones are there all the time. */
function markAt(marks: readonly ThreadMark[], ms: number): ThreadMark | undefined {
  return marks
    .filter(({ startMs, endMs }) => ms >= startMs - 1 && ms <= Math.max(endMs, startMs + 40))
    .toSorted((a, b) => a.endMs - a.startMs - (b.endMs - b.startMs))[0];
}
