import styled from 'styled-components';
import { playerTexts } from '../../texts/player.ts';
import { colour, radius } from '../../theme.ts';
import { type ThreadMark, ThreadStrip } from '../thread-strip.tsx';
import { formatMark } from '../time-text.ts';
import { MarkJumps } from './mark-jumps.tsx';

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
interface TimelineProps {
  readonly currentMs: number;
  readonly durationMs: number;
  readonly marks: readonly ThreadMark[];
  readonly onSeek: (ms: number) => void;
}

/** The seek bar: the clip's thread with its marks, and a button below each mark that jumps there and describes it. */
export function Timeline({ currentMs, durationMs, marks, onSeek }: TimelineProps) {
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
      <MarkJumps
        marks={marks}
        durationMs={durationMs}
        currentMs={currentMs}
        onJump={({ startMs }) => onSeek(startMs)}
      />
    </div>
  );
}
