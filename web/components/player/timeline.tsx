import styled from 'styled-components';
import { playerTexts } from '../../texts/player.ts';
import { colour, radius } from '../../theme.ts';
import { OUTCOME_COLOUR, placeOf, type ThreadMark, ThreadStrip } from '../thread-strip.tsx';
import { formatMark } from '../time-text.ts';
import { assignLanes } from './lanes.ts';

const Track = styled.div`
  position: relative;
  &:has(input:focus-visible) {
    outline: 2px solid ${colour.liveThread};
    outline-offset: 3px;
    border-radius: ${radius.s};
  }
`;
const Range = styled.input`
  position: absolute;
  inset: 0;
  width: 100%;
  height: 100%;
  margin: 0;
  opacity: 0;
  cursor: pointer;
`;
const Jumps = styled.ul<{ $lanes: number }>`
  position: relative;
  /* One lane is always kept free, so that the report's arrival seldom moves the controls. */
  height: ${({ $lanes }) => Math.max(1, $lanes) * 24}px;
`;
const Jump = styled.button<{ $colour: string }>`
  position: absolute;
  display: grid;
  place-items: center;
  min-width: 24px;
  height: 24px;
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
  }
  &:hover::before {
    opacity: 1;
  }
`;

interface TimelineProps {
  readonly currentMs: number;
  readonly durationMs: number;
  readonly marks: readonly ThreadMark[];
  readonly onSeek: (ms: number) => void;
}

/** The seek bar: the clip's thread with its marks, and a button below each mark that jumps there. */
export function Timeline({ currentMs, durationMs, marks, onSeek }: TimelineProps) {
  const lanes = assignLanes(marks, durationMs);
  const share = durationMs > 0 ? currentMs / durationMs : 0;
  return (
    <div>
      <Track>
        <ThreadStrip marks={marks} durationMs={durationMs} sewn={share} rest="stitches" needle size="l" />
        <Range
          type="range"
          min={0}
          max={Math.max(1, Math.round(durationMs))}
          step={10}
          value={Math.round(currentMs)}
          aria-label={playerTexts.position}
          aria-valuetext={playerTexts.positionText(formatMark(currentMs), formatMark(durationMs))}
          onChange={(event) => onSeek(event.target.valueAsNumber)}
        />
      </Track>
      <Jumps aria-label={playerTexts.defects} $lanes={Math.max(0, ...lanes.values()) + 1}>
        {durationMs > 0 &&
          marks.map((mark) => {
            const { left, width } = placeOf(mark, durationMs);
            return (
              <li key={mark.id}>
                <Jump
                  type="button"
                  $colour={OUTCOME_COLOUR[mark.outcome]}
                  title={mark.label}
                  aria-label={playerTexts.jump(mark.label)}
                  style={{
                    top: (lanes.get(mark.id) ?? 0) * 24,
                    left: `min(${left}%, calc(100% - 24px))`,
                    width: `${width}%`,
                  }}
                  onClick={() => onSeek(mark.startMs)}
                />
              </li>
            );
          })}
      </Jumps>
    </div>
  );
}
