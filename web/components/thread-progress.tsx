import styled from 'styled-components';
import { visuallyHidden } from '../theme.ts';
import { type ThreadMark, ThreadStrip } from './thread-strip.tsx';

const Announcement = styled.span`
  ${visuallyHidden}
`;

interface ThreadProgressProps {
  readonly label: string;
  readonly percent: number;
  /** The progress in words, e.g. "Fixing stuttered cuts, 42 percent". */
  readonly valueText: string;
  readonly marks?: readonly ThreadMark[];
  readonly durationMs?: number | null;
  readonly size?: 's' | 'm' | 'l';
  readonly live?: boolean;
}

/** Measured progress as a thread being sewn; announced at every quarter, not at every step (WCAG 4.1.3). */
export function ThreadProgress({
  label,
  percent,
  valueText,
  marks,
  durationMs,
  size = 'm',
  live = true,
}: ThreadProgressProps) {
  const whole = Math.round(Math.min(100, Math.max(0, percent)));
  const quarter = Math.floor(whole / 25) * 25;
  return (
    <div>
      <div
        role="progressbar"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={whole}
        aria-valuetext={valueText}
      >
        <ThreadStrip
          sewn={percent / 100}
          needle={live && whole < 100}
          size={size}
          {...(marks ? { marks } : {})}
          durationMs={durationMs ?? null}
        />
      </div>
      {/* Present from the start, because screen readers announce only regions that were empty before. */}
      {live && <Announcement role="status">{quarter > 0 ? `${label}: ${quarter} %` : ''}</Announcement>}
    </div>
  );
}
