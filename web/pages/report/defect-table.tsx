import styled from 'styled-components';
import type { Defect } from '#common/report.ts';
import { formatTimecode } from '#common/format.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { DataTable, TableScroll } from '../../components/data-table.tsx';
import { formatFigure } from '../../components/figure-text.ts';
import { reportTexts } from '../../texts/report.ts';
import { videoTexts } from '../../texts/videos.ts';
import { colour, font, space, text, visuallyHidden } from '../../theme.ts';

const { defects: texts } = reportTexts;

const TONES: Record<Defect['outcome'], Tone> = { repaired: 'ok', left_alone: 'defect', flagged: 'warn' };

const Table = styled(DataTable)`
  td:last-child {
    min-width: 28ch;
  }
  /* On a phone each defect is a sheet of named figures: nothing lies out of sight. */
  @media screen and (max-width: 759.98px) {
    min-width: 0;
    &,
    tbody {
      display: block;
    }
    thead {
      ${visuallyHidden}
    }
    tr {
      display: grid;
      grid-template-columns: repeat(2, minmax(0, 1fr));
      padding: ${space(1)} 0;
      border-bottom: 1px solid ${colour.line};
    }
    tr:last-child {
      border-bottom: 0;
    }
    tr > * {
      padding: ${space(0.75, 1.5)};
      border-bottom: 0;
      overflow-wrap: anywhere;
    }
    th,
    td:last-child {
      grid-column: 1 / -1;
      min-width: 0;
    }
    td::before {
      display: block;
      color: ${colour.inkFaint};
      font-family: ${font.text};
      font-size: ${text.xs};
      content: attr(data-name);
    }
    .number {
      white-space: normal;
    }
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
              <td className="number" data-name={texts.where}>
                {formatTimecode(defect.startMs)}
                <Small>
                  {defect.firstFrame !== null && defect.lastFrame !== null
                    ? texts.frames(defect.firstFrame, defect.lastFrame)
                    : formatTimecode(defect.endMs)}
                </Small>
              </td>
              <td data-name={texts.measure}>
                {defect.measure.name}
                {defect.measure.threshold !== null && (
                  <Small>
                    {texts.limit} {formatFigure(defect.measure.threshold, defect.measure.unit)}
                  </Small>
                )}
              </td>
              <td className="number" data-name={texts.before}>
                {formatFigure(defect.measure.before, defect.measure.unit)}
              </td>
              <td className="number" data-name={texts.after}>
                {defect.outcome === 'repaired' && defect.measure.after === null
                  ? texts.gone
                  : formatFigure(defect.measure.after, defect.measure.unit)}
              </td>
              <td className="number" data-name={texts.confidence}>
                {Math.round(defect.confidence * 100)} %
              </td>
              <td data-name={texts.outcome}>
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
