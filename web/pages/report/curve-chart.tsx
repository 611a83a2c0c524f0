import { useId } from 'react';
import styled from 'styled-components';
import type { Defect, DefectCurve } from '#common/report.ts';
import { formatTimecode } from '#common/format.ts';
import { Card } from '../../components/card.tsx';
import { DataTable, TableScroll } from '../../components/data-table.tsx';
import { formatFigure } from '../../components/figure-text.ts';
import { formatMark } from '../../components/time-text.ts';
import { reportTexts } from '../../texts/report.ts';
import { colour, figures, radius, screen, space, text } from '../../theme.ts';
import { polylines, valueAxis } from './curve-scale.ts';

const { curves: texts } = reportTexts;

const Face = styled(Card)`
  display: grid;
  grid-template-columns: minmax(0, 1fr);
  align-content: start;
  gap: ${space(1.5)};
  padding: ${space(2)};
  ${screen.tablet} {
    padding: ${space(3)};
  }
  break-inside: avoid;
  h3 {
    font-size: ${text.l};
  }
  & > p {
    font-size: ${text.s};
    color: ${colour.inkSoft};
  }
`;
const Legend = styled.ul`
  display: flex;
  flex-wrap: wrap;
  gap: ${space(0.5, 3)};
  font-size: ${text.s};
  li {
    display: inline-flex;
    align-items: center;
    gap: ${space(1)};
  }
  svg {
    overflow: visible;
  }
`;
const Plot = styled.div`
  display: grid;
  grid-template-columns: auto minmax(0, 1fr);
  gap: ${space(0.5, 1)};
`;
const Ticks = styled.div`
  ${figures}
  position: relative;
  height: 190px;
  min-width: 7ch;
  font-size: ${text.xs};
  color: ${colour.inkFaint};
  span {
    position: absolute;
    right: 0;
    transform: translateY(-50%);
    white-space: nowrap;
  }
`;
const Field = styled.svg`
  width: 100%;
  height: 190px;
  overflow: visible;
  polyline,
  line {
    fill: none;
    vector-effect: non-scaling-stroke;
  }
`;
const Times = styled.div`
  ${figures}
  grid-column: 2;
  display: flex;
  justify-content: space-between;
  font-size: ${text.xs};
  color: ${colour.inkFaint};
`;
const Figures = styled.details`
  font-size: ${text.s};
  summary {
    min-height: 32px;
    padding: ${space(0.5, 0)};
    color: ${colour.inkSoft};
    font-weight: 600;
    cursor: pointer;
  }
  ${TableScroll} {
    max-height: 320px;
    margin-top: ${space(1)};
    overflow: auto;
    border-radius: ${radius.s};
  }
  @media print {
    display: none;
  }
`;

const BEFORE = {
  stroke: colour.defect,
  strokeWidth: 2,
  strokeDasharray: '2 5',
  strokeLinecap: 'round',
} as const;
const AFTER = {
  stroke: colour.liveThread,
  strokeWidth: 3,
  strokeDasharray: '11 5',
  strokeLinecap: 'round',
} as const;

interface CurveChartProps {
  readonly defect: Defect;
  readonly curve: DefectCurve;
  /** Length of the original, the time axis of the curve, ms. */
  readonly durationMs: number;
}

/**
 * A defect's figure over the clip, before and after: a chart, a sentence that describes it, and a table of all values.
 */
function CurveChart({ defect, curve, durationMs }: CurveChartProps) {
  const id = useId();
  const { points, quantity, unit } = curve;
  const axis = valueAxis(curve);
  const share = (value: number) => `${(1 - (value - axis.low) / (axis.high - axis.low)) * 100}%`;
  const lines = (side: 'before' | 'after') =>
    polylines(
      points.map((point) => ({ atMs: point.atMs, value: point[side] })),
      durationMs,
      axis,
    );
  const mended = points.some(({ after }) => after !== null);
  return (
    <Face aria-labelledby={id}>
      <h3 id={id}>{texts.titles[quantity]}</h3>
      <p>{texts.leads[quantity]}</p>
      <Legend aria-hidden="true">
        <li>
          <Sample line={BEFORE} />
          {texts.before}
        </li>
        {mended && (
          <li>
            <Sample line={AFTER} />
            {texts.after}
          </li>
        )}
      </Legend>
      <Plot role="img" aria-label={describe(curve)}>
        <Ticks aria-hidden="true">
          {axis.ticks.map((tick) => (
            <span key={tick} style={{ top: share(tick) }}>
              {tick} {unit}
            </span>
          ))}
        </Ticks>
        <Field viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
          {axis.ticks.map((tick) => {
            const y = (1 - (tick - axis.low) / (axis.high - axis.low)) * 100;
            const zero = quantity === 'sync_offset' && tick === 0;
            return (
              <line
                key={tick}
                x1={0}
                x2={100}
                y1={y}
                y2={y}
                stroke={zero ? colour.lineStrong : colour.line}
              />
            );
          })}
          {lines('before').map((line) => (
            <polyline key={line} points={line} {...BEFORE} />
          ))}
          {lines('after').map((line) => (
            <polyline key={line} points={line} {...AFTER} />
          ))}
        </Field>
        <Times aria-hidden="true">
          <span>{formatMark(0)}</span>
          <span>{formatMark(durationMs)}</span>
        </Times>
      </Plot>
      <Figures>
        <summary>{texts.table}</summary>
        <TableScroll tabIndex={0} aria-label={`${texts.titles[quantity]}, ${formatMark(defect.startMs)}`}>
          <DataTable $kind="numbers">
            <thead>
              <tr>
                <th scope="col">{texts.at}</th>
                <th scope="col">{texts.before}</th>
                <th scope="col">{texts.after}</th>
              </tr>
            </thead>
            <tbody>
              {points.map(({ atMs, before, after }) => (
                <tr key={atMs}>
                  <th scope="row">{formatTimecode(atMs)}</th>
                  <td>{formatFigure(before, unit)}</td>
                  <td>{formatFigure(after, unit)}</td>
                </tr>
              ))}
            </tbody>
          </DataTable>
        </TableScroll>
      </Figures>
    </Face>
  );
}

function Sample({ line }: { readonly line: typeof BEFORE | typeof AFTER }) {
  return (
    <svg width={34} height={6} aria-hidden="true">
      <line x1={1} x2={33} y1={3} y2={3} {...line} />
    </svg>
  );
}

/** Describes the chart in a sentence: the range of both curves. */
function describe({ points, quantity, unit }: DefectCurve): string {
  const range = (values: readonly number[]) =>
    texts.range(formatFigure(Math.min(...values), unit), formatFigure(Math.max(...values), unit));
  const after = points.map((point) => point.after).filter((value) => value !== null);
  const before = range(points.map((point) => point.before));
  return texts.sentence(texts.titles[quantity], before, after.length > 0 ? range(after) : null);
}

const Grid = styled.div`
  display: grid;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr));
  gap: ${space(2)};
  @media print {
    grid-template-columns: repeat(auto-fit, minmax(300px, 1fr));
  }
`;

/** The curves of a report's defects; nothing if none was measured. */
export function CurveCharts({
  defects,
  durationMs,
}: {
  readonly defects: readonly Defect[];
  readonly durationMs: number;
}) {
  const charts = defects.flatMap((defect) =>
    defect.curve && defect.curve.points.length > 0
      ? [<CurveChart key={defect.id} defect={defect} curve={defect.curve} durationMs={durationMs} />]
      : [],
  );
  if (charts.length === 0) return null;
  return (
    <>
      <h2>{texts.title}</h2>
      <Grid>{charts}</Grid>
    </>
  );
}
