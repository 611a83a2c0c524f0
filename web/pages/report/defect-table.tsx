import styled from 'styled-components';
import type { Defect } from '#common/report.ts';
import { formatTimecode } from '#common/format.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { DataTable, TableScroll } from '../../components/data-table.tsx';
import { formatFigure } from '../../components/figure-text.ts';
import { reportTexts } from '../../texts/report.ts';
import { videoTexts } from '../../texts/videos.ts';
import { colour } from '../../theme.ts';

const { defects: texts } = reportTexts;

const TONES: Record<Defect['outcome'], Tone> = { repaired: 'ok', left_alone: 'defect', flagged: 'warn' };

const Table = styled(DataTable)`
  td:last-child {
    min-width: 28ch;
  }
  @media print {
    min-width: 0;
    font-size: 10px;
    tr {
      break-inside: avoid;
    }
  }
`;
const Small = styled.span`
  display: block;
  font-weight: 400;
  color: ${colour.inkFaint};
`;

/** Every defect with position, figure before and after, and what was done. */
export function DefectTable({ defects }: { readonly defects: readonly Defect[] }) {
  if (defects.length === 0) return <p>{texts.none}</p>;
  return (
    <TableScroll tabIndex={0} aria-label={texts.title}>
      <Table $minWidth={760}>
        <thead>
          <tr>
            <th scope="col">{texts.kind}</th>
            <th scope="col">{texts.where}</th>
            <th scope="col">{texts.measure}</th>
            <th scope="col">{texts.before}</th>
            <th scope="col">{texts.after}</th>
            <th scope="col">{texts.confidence}</th>
            <th scope="col">{texts.outcome}</th>
          </tr>
        </thead>
        <tbody>
          {defects.map((defect) => (
            <tr key={defect.id} id={defect.id} tabIndex={-1}>
              <th scope="row">
                {videoTexts.defects[defect.kind]}
                <Small>{texts.detector(defect.detector)}</Small>
              </th>
              <td className="number">
                {formatTimecode(defect.startMs)}
                <Small>
                  {defect.firstFrame !== null && defect.lastFrame !== null
                    ? texts.frames(defect.firstFrame, defect.lastFrame)
                    : formatTimecode(defect.endMs)}
                </Small>
              </td>
              <td>
                {defect.measure.name}
                {defect.measure.threshold !== null && (
                  <Small>
                    {texts.limit} {formatFigure(defect.measure.threshold, defect.measure.unit)}
                  </Small>
                )}
              </td>
              <td className="number">{formatFigure(defect.measure.before, defect.measure.unit)}</td>
              <td className="number">{formatFigure(defect.measure.after, defect.measure.unit)}</td>
              <td className="number">{Math.round(defect.confidence * 100)} %</td>
              <td>
                <Badge tone={TONES[defect.outcome]}>{reportTexts.legend[defect.outcome]}</Badge>
                <Small>{defect.explanation}</Small>
              </td>
            </tr>
          ))}
        </tbody>
      </Table>
    </TableScroll>
  );
}
