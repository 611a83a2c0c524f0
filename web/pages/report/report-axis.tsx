import { flushSync } from 'react-dom';
import styled from 'styled-components';
import type { RepairReport } from '#common/report.ts';
import { MarkJumps } from '../../components/player/mark-jumps.tsx';
import { marksOf } from '../../components/defect-marks.ts';
import { type ThreadMark, ThreadStrip } from '../../components/thread-strip.tsx';
import { formatMark } from '../../components/time-text.ts';
import { reportTexts as texts } from '../../texts/report.ts';
import { colour, figures, text } from '../../theme.ts';

const Axis = styled.figure`
  --strip-ground: ${colour.cloth};
  figcaption {
    ${figures}
    display: flex;
    justify-content: space-between;
    font-size: ${text.s};
    color: ${colour.inkFaint};
  }
`;

interface ReportAxisProps {
  readonly report: RepairReport;
  /** Shows the hidden rows. */
  readonly onUnfold: () => void;
}

/** The clip's timeline with every defect; each mark jumps to its row in the table. */
export function ReportAxis({ report, onUnfold }: ReportAxisProps) {
  const { durationMs } = report.original.media;
  const marks = marksOf(report.defects);
  const toRow = ({ id }: ThreadMark): void => {
    const row = document.getElementById(id);
    if (row?.dataset['folded'] !== undefined) flushSync(onUnfold);
    row?.scrollIntoView({ block: 'center' });
    row?.focus({ preventScroll: true });
  };
  return (
    <Axis aria-label={texts.axis}>
      <figcaption>
        <span>{formatMark(0)}</span>
        <span>{formatMark(durationMs)}</span>
      </figcaption>
      <ThreadStrip marks={marks} durationMs={durationMs} size="l" />
      <MarkJumps marks={marks} durationMs={durationMs} onJump={toRow} />
    </Axis>
  );
}
