import { type ReactNode, useState } from 'react';
import styled from 'styled-components';
import type { Defect, RepairReport } from '#common/report.ts';
import { Button } from '../../components/button.tsx';
import { reportTexts as texts } from '../../texts/report.ts';
import { CurveCharts } from './curve-chart.tsx';
import { DefectTable } from './defect-table.tsx';
import { expertFigures } from './expert.ts';
import { KindSummary } from './kind-summary.tsx';
import { ReportAxis } from './report-axis.tsx';
import { ReportFacts } from './report-facts.tsx';
import { Row } from './report-parts.ts';
import { summarise } from './report-summary.ts';

/* Only carries the attribute: its parts are laid out by the page. */
const Figures = styled.div`
  display: contents;
  ${expertFigures}
`;

interface ReportBodyProps {
  readonly report: RepairReport;
  /** What the page says of the report before its figures. */
  readonly before?: ReactNode;
  /** What the page shows between the timeline and the table. */
  readonly compared?: ReactNode;
  /** What the page shows behind curves. */
  readonly pictures?: ReactNode;
  /** What leads on from a defect in the table. */
  readonly onward?: ((defect: Defect) => ReactNode) | undefined;
}

/** All that a report itself says: every claim with its figures, what was kept, the checks and the files. */
export function ReportBody({ report, before, compared, pictures, onward }: ReportBodyProps) {
  const [figures, setFigures] = useState(false);
  const [whole, setWhole] = useState(false);
  return (
    <Figures data-figures={figures ? 'on' : 'off'}>
      <p>
        <strong>{summarise(report)}</strong>
      </p>
      <KindSummary defects={report.defects} />
      {before}
      <ReportAxis report={report} onUnfold={() => setWhole(true)} />
      {compared}
      <Row>
        <h2>{texts.defects.title}</h2>
        <Button
          size="s"
          look="secondary"
          aria-expanded={figures}
          onClick={() => setFigures((shown) => !shown)}
        >
          {figures ? texts.figures.hide : texts.figures.show}
        </Button>
      </Row>
      <DefectTable defects={report.defects} whole={whole} onWhole={setWhole} onward={onward} />
      <CurveCharts defects={report.defects} durationMs={report.original.media.durationMs} />
      {pictures}
      <ReportFacts report={report} />
      {report.notes.length > 0 && (
        <div>
          <h2>{texts.notes}</h2>
          <ul>
            {report.notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </div>
      )}
    </Figures>
  );
}
