import styled from 'styled-components';
import type { Defect, Measure } from '#common/report.ts';
import { formatTimecode } from '#common/format.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { reportTexts } from '../../texts/report.ts';
import { videoTexts } from '../../texts/videos.ts';
import { colour, figures, radius, space, text } from '../../theme.ts';

const { defects: texts } = reportTexts;

const TONES: Record<Defect['outcome'], Tone> = { repaired: 'ok', left_alone: 'defect', flagged: 'warn' };

const Scroll = styled.section`
  position: relative;
  min-width: 0;
  max-width: 100%;
  overflow-x: auto;
  border: 1px solid ${colour.line};
  border-radius: ${radius.m};
`;
const Table = styled.table`
  width: 100%;
  min-width: 760px;
  border-collapse: collapse;
  font-size: ${text.s};
  th,
  td {
    padding: ${space(1.25, 1.5)};
    border-bottom: 1px solid ${colour.line};
    text-align: left;
    vertical-align: top;
  }
  thead th {
    color: ${colour.inkFaint};
    font-weight: 600;
  }
  tbody tr:last-child > * {
    border-bottom: 0;
  }
  .number {
    ${figures}
    white-space: nowrap;
  }
`;
const Small = styled.span`
  display: block;
  color: ${colour.inkFaint};
`;

/** A figure with a sensible number of digits and its unit. */
export function formatFigure(value: number | null, unit: Measure['unit']): string {
  if (value === null) return '–';
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${unit}`.trim();
}

/** Every defect with position, figure before and after, and what was done. */
export function DefectTable({ defects }: { readonly defects: readonly Defect[] }) {
  if (defects.length === 0) return <p>{texts.none}</p>;
  return (
    <Scroll tabIndex={0} aria-label={texts.title}>
      <Table>
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
            <tr key={defect.id} id={defect.id}>
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
    </Scroll>
  );
}
